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
sys.path.insert(0, str(ROOT / "tools"))
import count_additions  # noqa: E402

PAGES = sorted(p.relative_to(ROOT).as_posix() for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
HOW_TO, READER = "docs/how_to/add_an_operator.md", "docs/how_to/add_a_reader.md"
HOW_TO_FORMAT = "docs/how_to/add_an_image_format.md"
HOW_TO_WINDOW = "docs/how_to/add_a_window_operator.md"
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-variable", f"-I{ROOT / 'include'}"]

# The code around the blocks of a page, for each in turn.
AROUND = {
    "docs/how_to/call_from_cpp.md": [
        (
            "",
            "void f(const uint8_t* pixels, const float* values, int64_t n, int64_t height, int64_t width) {{ {} (void)p; }}",
        ),
        ("", "void f(const cv::Mat& frame, cv::Mat& canvas, void* luma, void* chroma) {{ CallOptions options; {} }}"),
        ("void train(const Batch&, const Batch&);", "void f() {{ {} }}"),
        ("", "void f() {{ {} }}"),
        ("void train(const void*, void*);", "void f(const Batch& images, void* stream) {{ {} }}"),
    ],
    "docs/how_to/call_a_function.md": [
        (
            "void report(const std::string&);",
            "void f(std::vector<uint8_t>& bytes, std::vector<uint8_t>& other, float* tensor) {{ {} }}",
        )
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
    assert {p for p in PAGES if blocks(p, "cpp")} == {*AROUND, HOW_TO, READER, HOW_TO_FORMAT, HOW_TO_WINDOW}


@pytest.mark.parametrize("page", AROUND)
def test_cpp_blocks_compile(page, tmp_path):
    found = blocks(page, "cpp")
    assert len(found) == len(AROUND[page])
    spaces = []
    for i, (block, (before, around)) in enumerate(zip(found, AROUND[page])):
        lines = [line for line in block.splitlines() if not line.startswith(("#include", "using namespace"))]
        body = around.format("\n".join([*lines, ""]))
        spaces.append(f"namespace block{i} {{\nusing namespace penstock;\n{before}\n{body}\n}}\n")
    headers = "".join(f"{line}\n" for line in sorted({*re.findall("^#include .*$", "".join(found), re.MULTILINE)}))
    opencv = ["-isystem", "/usr/include/opencv4"] * ("opencv.hpp" in headers)
    done = compiled(
        "#include <penstock/fn.h>\n" + headers + "".join(spaces), tmp_path, *STRICT, *opencv, "-fsyntax-only"
    )
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


# Runs pytest in a process where a typed library is registered and typed test files are found beside those of the tree.
TYPED = """
import ctypes, sys
library, tests, folder, package, *arguments = sys.argv[1:]
ctypes.CDLL(library, ctypes.RTLD_GLOBAL)  # registers what was typed, before Python asks for all
sys.path.insert(0, tests)
__import__(package).__path__.append(folder + "/tests/" + package)
import pytest
sys.exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *arguments]))
"""


def typed_files(page, folder):
    """Writes the files that a page names before its blocks of code into a folder; returns their paths."""
    paths = []
    for path, code in count_additions.typed_files(ROOT / page):
        file = folder / path
        assert not (ROOT / path).exists() and not file.exists(), path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
        assert code.startswith(("// SPDX-License-Identifier: Apache-2.0", "# SPDX-License-Identifier: Apache-2.0"))
        paths.append(path)
    return paths


def built(page, folder, room="penstock_ops"):
    """Types a page and builds its C++ files, as files of the room, as a library that registers what they add."""
    library = next(Path(penstock.__file__).parent.glob("libpenstock.so*"), None) or ROOT / "build" / "libpenstock.so"
    paths = typed_files(page, folder)
    command = next(
        c["command"] for c in json.loads((ROOT / "build" / "compile_commands.json").read_text()) if room in c["command"]
    )
    flags = [f for f in shlex.split(command) if f.startswith(("-I", "-D", "-f", "-std", "-O"))]
    sources = [str(folder / p) for p in paths if p.endswith(".cpp")]
    made = folder / "libtyped.so"
    done = subprocess.run(
        [
            os.environ.get("CXX", "c++"),
            *sources,
            *flags,
            f"-I{folder / 'src'}",
            "-Wall",
            "-Wextra",
            "-shared",
            "-o",
            made,
            library,
            f"-Wl,-rpath,{library.parent}",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return made, paths


def run_typed(made, folder, package, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", TYPED, made, ROOT / "tests", folder, package, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    return done, int(passed[1]) if passed else 0


def test_what_an_addition_touches():
    """New source files and tests, and files edited by hand, as tools/count_additions.py prints them."""
    counted = {addition: (len(new), edited) for addition, new, edited, _ in count_additions.rows()}
    assert all(counted[f"{kind} operator"] == (2, []) for kind in ("pixel", "warp", "window"))
    assert counted["stencil operator"] == (2, [])
    assert counted["reader"] == (3, [])


def test_the_page_that_adds_an_operator(tmp_path):
    made, paths = built(HOW_TO, tmp_path)
    assert paths == ["src/ops/binarize.cpp", "tests/operators/binarize.py"]
    done, passed = run_typed(made, tmp_path, "operators", "tests/test_every_op.py", "-k", "binarize")
    assert done.returncode == 0 and passed >= 5, done.stdout + done.stderr
    (tmp_path / paths[1]).unlink()  # the generic tests require it
    done, _ = run_typed(made, tmp_path, "operators", "tests/test_every_op.py", "-k", "binarize")
    assert done.returncode == 1 and "no file in tests/operators draws calls of binarize" in done.stdout, (
        done.stdout + done.stderr
    )


def test_the_page_that_adds_a_window_operator(tmp_path):
    made, paths = built(HOW_TO_WINDOW, tmp_path)
    assert paths == ["src/ops/ruggedness.cpp", "tests/operators/ruggedness.py"]
    done, passed = run_typed(made, tmp_path, "operators", "tests/test_every_op.py", "-k", "ruggedness")
    assert done.returncode == 0 and passed >= 5, done.stdout + done.stderr
    done, passed = run_typed(made, tmp_path, "operators", "tests/gpu/test_every_op_on_a_gpu.py", "-k", "ruggedness")
    assert done.returncode == 0 and passed >= 1, done.stdout + done.stderr


def test_the_page_that_adds_a_reader(tmp_path):
    made, paths = built(READER, tmp_path)
    assert paths == ["src/data/pack.cpp", "src/readers/pack.cpp", "tests/readers/pack.py"]
    done, passed = run_typed(
        made,
        tmp_path,
        "readers",
        "tests/test_containers.py",
        "tests/test_every_op.py",
        "-k",
        "(test_containers and pack) or (test_every_op and readers.pack)",
    )
    assert done.returncode == 0 and passed >= 12, done.stdout + done.stderr
    (tmp_path / paths[2]).unlink()  # a test requires it
    done, _ = run_typed(made, tmp_path, "readers", "tests/test_every_op.py", "-k", "readers.pack")
    assert done.returncode == 1 and "no file in tests/readers writes and reads files of readers.pack" in done.stdout, (
        done.stdout
    )


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
    made, paths = built(HOW_TO_FORMAT, tmp_path, room="penstock_codecs")
    assert paths == ["src/codecs/farbfeld_decoder.cpp", "tests/image_files_farbfeld.py"]
    done = subprocess.run(
        [sys.executable, "-c", TYPED_FORMAT, made, ROOT / "tests", tmp_path / "tests", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and done.stdout.startswith("ran"), done.stdout + done.stderr


def test_the_page_of_augmentations(tmp_path):
    """Its programs run, and its table names torchvision's classes and calls that work."""
    import cv2
    import numpy as np
    import torchvision_oracle

    from penstock import augment, fn

    page = "docs/how_to/augment_images.md"
    files = [str(tmp_path / f"{k}.jpg") for k in range(8)]
    for k, file in enumerate(files):
        assert cv2.imwrite(file, np.full((40 + k, 60, 3), 30 * k, np.uint8))
    (tmp_path / "page.py").write_text("\n".join(["import numpy as np", "import penstock", *blocks(page, "python")]))
    names = {}
    exec(compile((tmp_path / "page.py").read_text(), tmp_path / "page.py", "exec"), names)
    images, labels = names["train"](files).run()
    assert len(images) == len(labels) == 8 and images.as_array().shape == (8, 3, 224, 224)
    images, labels = names["mixes"](files).run()
    assert images.as_array().shape == (8, 64, 64, 3) and labels.as_array().shape == (8, 10)
    assert len(names["many"]) == 2
    rows = re.findall(r"^\| `(\w+\(.*\))` \| `(.*)` \|$", (ROOT / page).read_text(), re.MULTILINE)
    assert len(rows) == 24
    x = penstock.batch([np.full((40, 60, 3), 30 * k, np.uint8) for k in range(4)], layout="HWC")
    same = {"augment": augment, "fn": fn, "x": x, "y": penstock.batch([0, 1, 2, 3]), "f": fn.flip, "g": fn.invert}
    for theirs, ours in [*rows, ("", "several(x)")]:
        eval(theirs or "None", {**vars(torchvision_oracle.v2), "f": torchvision_oracle.v2.Identity(), "g": None})
        assert eval(ours, {**same, "several": names["several"]}) is not None


def test_the_page_of_numbers_of_batches(capsys):
    """Its programs hold what they assert, and print what a comment says."""
    page = "\n".join(blocks("docs/how_to/go_to_a_batch.md", "python"))
    exec(compile(page, "page.py", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["INT64 0  ()", "FLOAT 0  ()"]


def test_the_page_of_batches_from_other_machines(capsys, tmp_path):
    """Its programs run with a worker that its command starts, and print what a comment says."""
    page = "docs/how_to/make_batches_on_other_machines.md"
    script, *programs = blocks(page, "python")
    (tmp_path / "train.py").write_text(script)
    command = [*blocks(page, "sh")[0].split()[1:-1], "0"]
    worker = subprocess.Popen(
        [sys.executable, "-m", "penstock", *command], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    port = worker.stdout.readline().rpartition(":")[2].strip()
    page = "\n".join([script, *programs]).replace(":9000", f":{port}")
    try:
        exec(compile(page, str(tmp_path / "train.py"), "exec"), {})
    finally:
        worker.terminate()
        worker.wait(60)
        worker.stdout.close()
    *epoch, facts, at_trainer = capsys.readouterr().out.splitlines()
    assert sorted(sum(map(json.loads, epoch), [])) == list(range(40)) and (facts, at_trainer) == ("0 0 True", "[]")


def test_the_page_of_programs_for_cvcuda():
    """Its programs hold what they assert."""
    import penstock.cvcuda

    try:
        for block in blocks("docs/how_to/run_cvcuda_programs.md", "python"):
            exec(compile(block, "page.py", "exec"), {})
    finally:
        penstock.cvcuda.uninstall()


def test_the_page_of_batches_by_length(tmp_path):
    """Its programs run, on recordings and pictures of many lengths and shapes."""
    import audio_files
    import cv2
    import numpy as np

    lines, files = [], []
    for k in range(12):
        lines.append({"audio_filepath": str(tmp_path / f"{k}.wav"), "duration": (k + 1) / 10})
        Path(lines[-1]["audio_filepath"]).write_bytes(
            audio_files.recorded(np.zeros((1600 * (k + 1), 1), np.float32), "WAV", "PCM_16")
        )
        files.append(str(tmp_path / f"{k}.jpg"))
        assert cv2.imwrite(files[-1], np.zeros((40 + 10 * k, 100, 3), np.uint8))
    (tmp_path / "speech.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    texts = [{"file": f"{k}.wav", "tokens": list(range(1, k + 2))} for k in range(12)]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in texts))
    page = "\n".join(blocks("docs/how_to/batch_by_length.md", "python"))
    seen = []
    names = {"train": lambda samples, lengths: seen.extend(lengths.tolist())}
    for file in ("speech.json", "train.jsonl"):
        page = page.replace(file, str(tmp_path / file))
    exec(compile(page, "page.py", "exec"), names)
    assert len(list(names["loader"])) == 1 and sorted(seen) == [1600 * (k + 1) for k in range(12)]
    assert names["tokens"].shape == names["segments"].shape and names["same_sample"].shape[1:] == (256, 256)
    images, _ = names["photos"](files).run()
    assert images.is_uniform()


def test_the_page_of_slow_samples(tmp_path):
    """Its program runs."""
    import cv2
    import numpy as np

    (tmp_path / "a").mkdir()
    for k in range(5):
        assert cv2.imwrite(str(tmp_path / "a" / f"{k}.jpg"), np.full((40 + k, 60, 3), 30 * k, np.uint8))
    names = {"folder": str(tmp_path)}
    exec(compile("\n".join(blocks("docs/how_to/do_not_wait_for_slow_samples.md", "python")), "page.py", "exec"), names)
    assert names["images"].shape()[0] == (224, 224, 3) and len(names["labels"]) == 4


def test_the_page_of_functions(tmp_path, monkeypatch):
    """Its programs run, one after the other."""
    import cv2
    import numpy as np

    monkeypatch.chdir(tmp_path)
    names = {"files": [str(tmp_path / f"{k}.jpg") for k in range(3)]}
    for k, file in enumerate(names["files"]):
        assert cv2.imwrite(file, np.full((40 + k, 60, 3), 30 * k, np.uint8))
    (tmp_path / "page.py").write_text("\n".join(blocks("docs/how_to/call_a_function.md", "python")))
    exec(compile((tmp_path / "page.py").read_text(), tmp_path / "page.py", "exec"), names)
    assert (names["tensors"].as_array() == names["room"]).all() and names["room"].any()
    assert [e is None for e in names["errors"]] == [True, False]
    assert (names["again"](names["jpegs"])[0].as_array() == names["tensors"].as_array()).all()


def test_the_page_of_transformers(tmp_path):
    """Its programs run, its text is what the processor prints, and its table names all classes."""
    import cv2
    import numpy as np

    from penstock.plugin.transformers.configuration import DEFAULTS

    page = "docs/how_to/prepare_for_transformers.md"
    files = [str(tmp_path / f"{k}.jpg") for k in range(8)]
    for k, file in enumerate(files):
        assert cv2.imwrite(file, np.full((40 + k, 60, 3), 30 * k, np.uint8))
    names = {"files": files, "np": np}
    (tmp_path / "page.py").write_text("\n".join(blocks(page, "python")))
    exec(compile((tmp_path / "page.py").read_text(), tmp_path / "page.py", "exec"), names)
    assert tuple(names["pixel_values"].shape) == (8, 3, 224, 224)
    images, labels = names["train"](files).run()
    assert len(images) == len(labels) == 8 and images.as_array().shape == (8, 3, 224, 224)
    assert names["grid"].numpy().tolist() == [[5, 6, 12]]
    (program,) = blocks(page, "text")
    assert str(names["clip"]).startswith(program.removesuffix("    ...\n"))
    rows = re.findall(r"^\| (`.*(?:Image|Video)Processor`.*?) \|", (ROOT / page).read_text(), re.MULTILINE)
    assert {n for row in rows for n in re.findall(r"`(\w+Processor)`", row)} == set(DEFAULTS)
