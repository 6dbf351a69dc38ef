# SPDX-License-Identifier: Apache-2.0
"""What tools/lint.py refuses of pages and settings, and that the map of the source tree names what is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import declared_types  # noqa: E402
import draw_rooms  # noqa: E402
import generate_settings  # noqa: E402
import headers_alone  # noqa: E402
import joined_files  # noqa: E402
import links  # noqa: E402
import lint  # noqa: E402
import python_imports  # noqa: E402
import repository  # noqa: E402
import rooms  # noqa: E402

CODE = (".cpp", ".h", ".hpp", ".py", ".cmake")
UNKNOWN = "PENSTOCK_" + "NO_SUCH_SETTING"


@pytest.mark.parametrize(
    "text, said",
    [
        ("[a](no_such_page.md)", "leads nowhere"),
        ("[a\nb](no_such_page.md)", "leads nowhere"),
        ("![a](demo.png)", "leads nowhere"),
        ("[a](README.md#no-such-part)", "no heading"),
        ("[a](#no-such-part)", "no heading"),
        ("see src/base/no_such_file.h", "there is no"),
        ("`no_such_file.cpp`", "no source file"),
        ("`cuda/shape.h`", "no source file"),
        ("`shape.h`, `base/shape.h`, `*.inc.h` and `emit*.cpp`", None),
        ("[a](../outside.md)", "leads nowhere"),
        ("[a](docs/tutorial/first_pipeline.md)", None),
        ("[a](https://example.com/x)", None),
        ("`src/cuda/stages/stage_launch` and src/ops/*.cpp", None),
    ],
)
def test_links_that_lead_nowhere(text, said):
    found = [what for _, what in links.check_links(ROOT / "README.md", text)]
    assert (len(found) == 1 and said in found[0]) if said else not found, found


def test_anchors_are_those_of_headings():
    assert links.anchors("# What is `this`?\n## A [b](c.md) d\n```\n# no\n```\n## One\n## One") == {
        "what-is-this",
        "a-b-d",
        "one",
        "one-1",
    }


@pytest.mark.parametrize(
    "file, line, said",
    [
        ("src/exec/pipeline.cpp", 'const char* v = std::getenv("HOME");', "src/base/settings.h"),
        ("python/penstock/_graph/building.py", 'os.environ.get("HOME")', "python/penstock/_settings.py"),
        ("python/penstock/_graph/building.py", 'os.getenv("HOME")', "python/penstock/_settings.py"),
        ("tests/test_pixel.py", f'os.environ["{UNKNOWN}"]', f"{UNKNOWN} is not in"),
        ("tools/check", f"echo ${{{UNKNOWN}:-1}}", f"{UNKNOWN} is not in"),
        ("src/base/settings.h", "return std::getenv(name_);", None),
        ("src/exec/pipeline.cpp", "// getenv() is not called here", None),
        ("tests/test_pixel.py", 'os.environ["PENSTOCK_CACHE"]', None),
    ],
)
def test_settings_that_are_read_past_the_table(file, line, said):
    found = [what for _, what in lint.check_settings(ROOT / file, [line], lint.PAGE_OF_SETTINGS.read_text())]
    assert (len(found) == 1 and said in found[0]) if said else not found, found


def test_each_setting_is_in_one_table():
    table = re.findall(r'\{"([A-Z0-9_]+)",', (ROOT / "src/base/settings.h").read_text()) + list(
        generate_settings.OF_TESTS
    )
    assert len(table) > 60 and len(set(table)) == len(table)
    page = lint.PAGE_OF_SETTINGS.read_text()
    assert all(f"| `{name}` |" in page for name in table)


def test_a_setting_that_nothing_reads_is_an_error():
    with pytest.raises(SystemExit, match=f"nothing reads the setting {UNKNOWN}"):
        generate_settings.row(UNKNOWN, "", "", [])


def test_a_setting_outside_of_the_table_does_not_compile(tmp_path):
    def compiles(name):
        file = tmp_path / "setting.cpp"
        file.write_text(
            f'#include "base/settings.h"\nconst char* value() {{ return penstock::Setting("{name}").value(); }}\n'
        )
        return subprocess.run(
            [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'src'}", file],
            capture_output=True,
            text=True,
        )

    assert compiles("PENSTOCK_CACHE").returncode == 0
    refused = compiles(UNKNOWN)
    assert refused.returncode != 0 and "add the setting to kSettings" in refused.stderr


def test_symbolic_links_are_refused(tmp_path):
    for name in ("link", "to_folder", "to_nothing"):
        (tmp_path / name).symlink_to({"link": __file__, "to_folder": tmp_path}.get(name, "/no_such_place"))
    (tmp_path / "file").touch()
    found = lint.check_symbolic_links(sorted(map(str, tmp_path.iterdir())))
    assert [path.name for path, _, _ in found] == ["link", "to_folder", "to_nothing"]


def test_git_is_asked_for_the_files_once(monkeypatch):
    asked, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda command, **how: asked.append(command) or run(command, **how))
    repository.listed.cache_clear()
    repository.tracked.cache_clear()
    links.source_files.cache_clear()
    assert "tools/lint.py" in repository.tracked() and "/tools/lint.py" in links.source_files()
    assert headers_alone.headers() and generate_settings.texts() and repository.listed()
    assert len(asked) == 1


def test_rooms_stand_on_floors():
    pairs = set(rooms.arrows())
    floor = rooms.floors(pairs)
    assert all(floor[a] > floor[b] for a, b in pairs) and floor["base"] == 0
    assert rooms.needed({("a", "b"), ("b", "c"), ("a", "c")}) == {("a", "b"), ("b", "c")}
    built = re.search(r"set\(PENSTOCK_ROOMS ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    headers_alone = {room for room in rooms.BELOW if not any((ROOT / "src" / room).rglob("*.cpp"))}
    libraries = {"cuda", "tensorflow", "triton"}  # of their own
    assert {*built.split()} | libraries | headers_alone == set(rooms.BELOW)
    with pytest.raises(SystemExit, match="rooms in a circle: .*exec"):
        rooms.floors(pairs | {("base", "exec")})


BATCH = [
    "namespace penstock {",
    "class Batch final : public A {",
    "};",
    "enum class Kind : int8_t { one };",
    "}  // namespace penstock",
]


@pytest.mark.parametrize(
    "room, space, line, refused",
    [
        ("base", "penstock", "class Batch;", True),
        ("base", "penstock", "struct Batch;  // a view", True),
        ("base", "penstock", "enum class Kind : int8_t;", True),
        ("base", "penstock", "void f(const class Batch& b);", True),
        ("base", "penstock", "std::function<void(class Batch*)> f;", True),
        ("base", "penstock", "  friend class Batch;", True),
        ("base", "penstock::jpeg", "void f(struct Batch b);", True),
        ("base", "penstock::jpeg", "struct Batch;", False),  # another type of this name
        ("base", "", "struct Batch;", False),
        ("base", "penstock", "template <class Batch> void f(const Batch& b);", False),
        ("base", "penstock", "  struct Batch;", False),  # of a class
        ("base", "penstock", "// class Batch;", False),
        ("base", "penstock", "class Batches;", False),
        ("batch", "penstock", "class Batch;", False),
    ],
)
def test_types_of_another_room_are_not_declared(room, space, line, refused):
    defined = declared_types.definitions([("batch", BATCH)])
    assert defined == {("penstock", "Batch"): {"batch"}, ("penstock", "Kind"): {"batch"}}
    lines = [f"namespace {space} {{".replace("  ", " "), line, f"}}  // namespace {space}"]
    found = list(declared_types.breaches(room, lines, defined))
    assert (len(found) == 1 and found[0][0] == 2 and "a type of batch" in found[0][1]) if refused else not found, found


@pytest.mark.parametrize(
    "room, header, refused",
    [
        ("readers", "exec/pipeline.h", True),
        ("readers", "graph/graph.h", True),
        ("readers", "data/npy.h", False),
        ("exec", "readers/source.h", False),
    ],
)
def test_readers_know_no_executor(room, header, refused):
    assert bool(list(lint.check_includes(room, [f'#include "{header}"']))) == refused


@pytest.mark.parametrize(
    "room, part, header, refused",
    [
        ("cuda", "runtime", "cuda/stages/emit.h", True),
        ("cuda", "jpeg", "cuda/video/convert.h", True),
        ("cuda", "stages", "cuda/jpeg/decode.h", False),
        ("cuda", "jpeg", "cuda/jpeg/decode.h", False),
        ("cuda", None, "cuda/stages/emit.h", False),  # what stands in the room itself
        ("ops", "machine", "ops/vision/any.h", False),  # a room that is not cut
    ],
)
def test_parts_of_a_room_know_those_below(room, part, header, refused):
    found = list(lint.check_includes(room, [f'#include "{header}"'], part))
    assert bool(found) == refused, found


def test_the_executor_stays_in_parts():
    """docs/decisions/0043: no large class, one place that knows all kinds of steps, steps that know no executor."""
    files = {path.relative_to(ROOT / "src/exec").as_posix(): path.read_text() for path in rooms.sources("exec")}
    large = {
        name
        for text in files.values()
        for name, _, members in draw_rooms.classes_of_cpp(text.splitlines())
        if members > draw_rooms.MOST_MEMBERS
    }
    assert large <= {"Pipeline"}, large  # which is an interface
    assert [name for name, text in files.items() if "case Step::Kind::" in text] == ["steps/make_steps.cpp"]
    above = re.compile(r'#include "exec/(?:executor|iteration_\w+|scheduler|job_\w+|output_queue|admission)\.h"')
    assert not [name for name, text in files.items() if name.startswith("steps/") and above.search(text)]
    assert not re.search(r"\b(?:Batch|Node|StepRunner|Iteration)\b", files["scheduler.cpp"])


def test_long_functions_and_large_classes_are_found():
    cpp = [
        "namespace a {",
        "struct Many {",
        *(f"  int m{k} = 0, n{k};" for k in range(8)),
        "  std::map<int, std::set<int>> f;  // a, b",
        "};",
        "",
        "template <class T>",
        "int longest(const std::vector<T>& a,",
        "    int b) {",
        *["  ++b;"] * 70,
        "}",
        "}  // namespace a",
    ]
    assert list(draw_rooms.classes_of_cpp(cpp)) == [("Many", 2, 17)]
    assert list(draw_rooms.functions_of_cpp(cpp)) == [("longest", 14, 74)]
    functions, classes = draw_rooms.of_python("class A:\n    def f(self):\n        self.x = self.y = 1\n")
    assert functions == [("f", 2, 2)] and classes == [("A", 1, 3)]
    documented = 'def f(x):\n    """Doc.\n\n    Args:\n        x: One.\n    """\n    return x\n'
    assert draw_rooms.of_python(documented)[0] == [("f", 1, 2)]


def test_the_explanations_name_what_is_there():
    """Every name in code letters is in the source tree, a method in a file that has its class's name too."""
    pages = {
        p.name: re.sub(r"```.*?```", "", p.read_text(), flags=re.S) for p in (ROOT / "docs/explanation").glob("*.md")
    }
    of_others = pages.pop("glossary.md").splitlines()  # the third column has names of other libraries
    text = "\n".join([*pages.values(), *("".join(x.split("|")[:3]) for x in of_others)])
    files = [
        p
        for folder in ("src", "python", "include", "docs", "tests", "benchmarks/results", "cmake")
        for p in (ROOT / folder).rglob("*.*")
    ]
    words = [set(re.findall(r"\w+", p.read_text())) for p in files if p.suffix in CODE]
    words.append({*(p.stem for p in files), "ncu"})  # targets are called as their sources; NVIDIA's profiler
    named = {p.name for p in files} | {"libpenstock_cuda.so", "libpenstock_tf.so"}  # with a version
    names = {n.removesuffix("()") for n in re.findall(r"`([A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*(?:\(\))?)`", text)}
    assert len(names) > 60
    for name in names:
        if re.search(r"\.(cpp|h|hpp|py|md|so|svg|txt)$", name):
            assert name in named, name
        else:
            parts = set(re.split(r"::|\.", name)) - {"penstock", "fn"}
            assert any(parts <= w for w in words), name


@pytest.fixture
def package(tmp_path):
    """Writes files of a package `house` and returns its folder."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / "house" / (name.replace("__", "/") + ".py" if name != "package" else "__init__.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "house"

    return write


@pytest.mark.parametrize(
    "files, circle",
    [
        ({"a": "from . import b", "b": "from .c import x", "c": "def f():\n    from . import a"}, ["a", "b", "c"]),
        ({"a": "import house.b", "b": "from house.a import x"}, ["a", "b"]),
        ({"a": "from .b import c", "b__c": "from .d import x", "b__d": "from ..a import y"}, ["a", "b.c", "b.d"]),
        ({"a": "from . import b", "b": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from . import a"}, None),
        ({"a": "from . import b", "b": "from . import _core, c", "c": "import os"}, None),
    ],
)
def test_modules_that_import_each_other(package, files, circle):
    folder = package(package="", **files)
    (folder / "_core.pyi").write_text("")
    found = python_imports.circles(python_imports.arrows(folder))
    assert found == ([[f"house.{name}" for name in circle]] if circle else [])


def test_a_room_that_is_entered_runs_its_init(package):
    folder = package(package="", a="from .room.low import x", room__low="")
    (folder / "room" / "__init__.py").write_text("from ..a import y\n")
    assert python_imports.circles(python_imports.arrows(folder)) == [["house.a", "house.room"]]


def test_rooms_of_the_package_stand_on_floors():
    rooms_of_python = python_imports.rooms(python_imports.arrows())
    assert python_imports.circles(rooms_of_python) == [] and rooms_of_python["_base"] == {"_core"}
    assert len(list(python_imports.table())) == len(rooms_of_python) + 1


def test_the_map_names_the_rooms_of_the_package():
    page = (ROOT / "docs/explanation/architecture.md").read_text()
    folders = {path.parent.relative_to(python_imports.FOLDER).parts[0] for path in python_imports.FOLDER.glob("*/*.py")}
    assert {f for f in folders if f"`{f}/`" not in page} == set()


def test_figures_of_the_first_page_are_in_the_results():
    text = (ROOT / "README.md").read_text()
    figures = re.findall(r"\d+,\d{3}", text[text.index("On one NVIDIA H200") :].split("\n\n")[0])
    rows = (ROOT / "benchmarks/results/gpu.md").read_text()
    assert len(figures) == 4 and all(f"| {figure.replace(',', '')} |" in rows for figure in figures)


def test_no_folder_of_ours_hides_a_package():
    """Folders of programs are on the path of modules: one called `triton` was what torch then imported."""
    ours = {path.stem for top in ("tests", "examples", "benchmarks") for path in (ROOT / top).iterdir()}
    packages = {"triton", "torch", "torchvision", "torchaudio", "tensorflow", "jax", "paddle", "mxnet", "numba", "ray"}
    assert not ours & packages


@pytest.mark.parametrize(
    "one, other, is_breach",
    [
        ("struct Case {\n  int bits;\n};", "struct Case {\n  float value;\n};", True),
        ("constexpr int kMost = 4;", "constexpr int kMost = 4;", True),
        ("constexpr int kMost = 4;", "constexpr int kLeast = 4;", False),
        ("int most(int a) { return a; }", "int most(int b) {\n  return b;\n}", True),
        ("int most(int a) { return a; }", "int most(float a) { return 1; }", False),
        (
            "int most(const std::vector<int>& a,\n         int b) {",
            "int most(const std::vector<int>& values, int k = 3) {",
            True,
        ),
        ("template <class T>\nT most(T a) {", "int most(int a) {", False),
        ("const char* most(int a) {", "struct most {", True),
        ("using Row = std::vector<int>;", "using Row = std::vector<int>;", False),
        ("using Row = std::vector<int>;", "using Row = std::vector<float>;", True),
        ("TEST(Rows, Most) {", "TEST(Rows, Most) {", False),
    ],
)
def test_names_of_files_that_are_compiled_as_one(one, other, is_breach):
    first, second = (
        joined_files.names_of(["namespace penstock {", "namespace {", "", *text.splitlines(), "", "}  // namespace"])
        for text in (one, other)
    )
    found = [a for *a, form in first for *b, its_form in second if a == b and joined_files.collide(form, its_form)]
    assert bool(found) == is_breach, (first, second)


def test_names_of_joined_files_leave_out_what_is_elsewhere():
    lines = [
        "namespace penstock {",
        "int seen(int a) {",
        "}",
        "static int own() {",
        "namespace {",
        "",
        "int hidden;",
        "}  // namespace",
    ]
    assert joined_files.names_of(lines) == {(("penstock",), "own", (False, ())): 4, (("penstock",), "hidden", None): 7}


def test_batches_of_joined_files_are_those_of_cmake():
    cmake = (ROOT / "cmake" / "batches.cmake").read_text()
    assert f"set(size {joined_files.NEAR})" in cmake and f'/ {joined_files.NEAR_IN_A_FOLDER}"' in cmake
    lists = (ROOT / "CMakeLists.txt").read_text()
    assert f'MATCHES "^({"|".join(joined_files.BY_ALPHABET[:-1])})$")  # many small files' in lists
    assert f'NOT room MATCHES "^({"|".join(joined_files.NEVER[:-1])})$")' in lists
