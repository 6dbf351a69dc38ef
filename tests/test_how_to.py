# SPDX-License-Identifier: Apache-2.0
"""The pages say what compiles: each C++ block of the documentation, and the page that adds an operator, typed in."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import penstock
import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(p.relative_to(ROOT).as_posix() for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
HOW_TO = "docs/how_to/add_an_operator.md"
HOW_TO_FORMAT = "docs/how_to/add_an_image_format.md"
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-variable", f"-I{ROOT / 'include'}"]

# What stands around the blocks of a page, for each in turn.
AROUND = {
    "docs/how_to/call_from_cpp.md": [
        (
            "",
            "void f(const uint8_t* pixels, const float* values, int64_t n, int64_t height, int64_t width) {{ {} (void)p; }}",
        ),
        ("void train(const Batch&, const Batch&);", "void f() {{ {} }}"),
        ("void train(const void*, void*);", "void f(const Batch& images, void* stream) {{ {} }}"),
    ],
    "docs/examples/resnet50.md": [
        (
            "std::vector<float> network(const float*, int, int);",
            "void f(std::vector<Batch>& outputs, std::vector<float>& scores) {{ {} }}",
        ),
        (
            "",
            "void f(const std::vector<const uint8_t*>& pointers, const std::vector<Shape>& shapes, float* engine_input, int64_t n,"
            " CallOptions options, std::vector<double> mean, std::vector<double> deviation) {{ {} }}",
        ),
    ],
}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


def compiled(source, tmp_path, *flags):
    file = tmp_path / "block.cpp"
    file.write_text(source)
    return subprocess.run([os.environ.get("CXX", "c++"), file, *flags], capture_output=True, text=True, timeout=300)


def test_every_page_with_cpp_is_known():
    assert {p for p in PAGES if blocks(p, "cpp")} == {*AROUND, HOW_TO, HOW_TO_FORMAT}


@pytest.mark.parametrize("page", AROUND)
def test_cpp_blocks_compile(page, tmp_path):
    found = blocks(page, "cpp")
    assert len(found) == len(AROUND[page])
    spaces = []
    for i, (block, (before, around)) in enumerate(zip(found, AROUND[page])):
        lines = [line for line in block.splitlines() if not line.startswith(("#include", "using namespace"))]
        body = around.format("\n".join([*lines, ""]))
        spaces.append(f"namespace block{i} {{\nusing namespace penstock;\n{before}\n{body}\n}}\n")
    done = compiled("#include <penstock/fn.h>\n" + "".join(spaces), tmp_path, *STRICT, "-fsyntax-only")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "statement, message",
    [
        ("const float* p = fn::cast(images, {.dtype = DType::float32})[0].as<float>(); (void)p;", "deleted"),
        ("Tensor t = fn::cast(images, {.dtype = DType::float32})[0]; const float* p = t.as<float>(); (void)p;", ""),
        ("for (const Tensor& t : images) (void)t.size();", ""),
    ],
)
def test_a_pointer_into_a_batch_that_ends_does_not_compile(statement, message, tmp_path):
    source = f"#include <penstock/fn.h>\nusing namespace penstock;\nvoid f(const Batch& images) {{ {statement} }}\n"
    done = compiled(source, tmp_path, *STRICT, "-fsyntax-only")
    assert (done.returncode != 0 and message in done.stderr) if message else done.returncode == 0, done.stderr


TYPED = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)  # registers the operator, before Python asks for all
sys.path.insert(0, sys.argv[2])
import picture_reference
exec(open(sys.argv[3]).read(), vars(picture_reference))
import picture_strategies
exec(open(sys.argv[4]).read(), vars(picture_strategies))
exec("CASES.update({" + open(sys.argv[5]).read() + "})", vars(picture_strategies))
import penstock, test_every_op
import numpy
assert penstock.fn.posterize(numpy.uint8([200]), bits=1)[0] == 128
names = [n for n in vars(test_every_op) if n.startswith("test_")]
ran = 0
for name in names:
    test = getattr(test_every_op, name)
    mark = next((m for m in getattr(test, "pytestmark", []) if m.name == "parametrize" and m.args[0] == "name"), None)
    if mark and "posterize" in mark.args[1] and test.__code__.co_argcount == 1:
        test("posterize")
        ran += 1
print("ran", ran)
"""


def library_of(source, room, tmp_path):
    """The source as a library beside Penstock's: compiled as the files of the room are."""
    library = next(Path(penstock.__file__).parent.glob("libpenstock.so*"), None) or ROOT / "build" / "libpenstock.so"
    assert source.startswith("// SPDX-License-Identifier: Apache-2.0")
    command = next(
        c["command"] for c in json.loads((ROOT / "build" / "compile_commands.json").read_text()) if room in c["command"]
    )
    flags = [f for f in shlex.split(command) if f.startswith(("-I", "-D", "-f", "-std", "-O"))]
    made = tmp_path / "libtyped.so"
    done = compiled(
        source,
        tmp_path,
        *flags,
        "-Wall",
        "-Wextra",
        "-shared",
        "-o",
        str(made),
        str(library),
        f"-Wl,-rpath,{library.parent}",
    )
    assert done.returncode == 0, done.stderr
    return made


def test_the_page_that_adds_an_operator(tmp_path):
    (source,) = blocks(HOW_TO, "cpp")
    reference, draws, entry = blocks(HOW_TO, "python")
    made = library_of(source, "penstock_ops", tmp_path)
    files = []
    for name, text in (("reference", reference), ("draws", draws), ("entry", entry)):
        files.append(tmp_path / f"{name}.py")
        files[-1].write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", TYPED, made, ROOT / "tests", *files], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) >= 5, done.stdout


TYPED_FORMAT = """
import ctypes, pathlib, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)  # registers the format
sys.path[:0] = [sys.argv[2], sys.argv[3]]
import image_files, image_files_farbfeld
every = image_files.all_files
image_files.all_files = lambda: {**every(), **image_files_farbfeld.files()}
import numpy, penstock, test_file_formats, test_image_formats
from penstock import fn, types
names = list(image_files_farbfeld.files())
assert names and test_file_formats.FORMATS["farbfeld"][2] == [".ff"]
for name in names:
    file = numpy.frombuffer(image_files_farbfeld.files()[name], numpy.uint8)
    numpy.testing.assert_array_equal(test_image_formats.decode(file, types.ANY_DATA), image_files.ramp())
    wide = test_image_formats.decode(file, types.ANY_DATA, dtype=types.UINT16)
    numpy.testing.assert_array_equal(wide, image_files.ramp() * numpy.uint16(257))
    test_file_formats.test_verdicts(pathlib.Path(sys.argv[4]), "farbfeld", name)
    test_image_formats.test_windows_are_those_of_the_whole_picture(name)
    test_image_formats.test_damage_ends_in_a_typed_error_or_in_pixels(name)
try:
    fn.decoders.image(numpy.zeros(9, numpy.uint8))
except penstock.DataError as error:
    assert "BMP, PNM, GIF and farbfeld)" in str(error), error
print("ran", len(names))
"""


def test_the_page_that_adds_an_image_format(tmp_path):
    (source,) = blocks(HOW_TO_FORMAT, "cpp")
    (files,) = blocks(HOW_TO_FORMAT, "python")
    made = library_of(source, "penstock_codecs", tmp_path)
    (tmp_path / "image_files_farbfeld.py").write_text(files)
    done = subprocess.run(
        [sys.executable, "-c", TYPED_FORMAT, made, ROOT / "tests", tmp_path, tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and done.stdout.startswith("ran"), done.stdout + done.stderr
