# SPDX-License-Identifier: Apache-2.0
"""Each C++ block of the pages runs, in one program under the address sanitizer: a pointer into what has ended is an error."""

import os
import subprocess
from pathlib import Path

import cv2
import numpy as np
from penstock import fn, pipeline_def, types
from test_how_to import AROUND, ROOT, STRICT, blocks

BUILD = Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build"))

# For each block in turn: definitions of what AROUND declares, and statements that call f().
CALLS = {
    "docs/how_to/call_from_cpp.md": [
        (
            "",
            "std::vector<uint8_t> pixels(2 * 40 * 50 * 3, 7); const float values[] = {0.5f, 1.5f};"
            "f(pixels.data(), values, 2, 40, 50);",
        ),
        (
            "",
            "cv::Mat frame(300, 400, CV_8UC3, cv::Scalar(1, 2, 3)), canvas(224, 260, CV_8UC3, cv::Scalar(0, 0, 0));"
            "std::vector<uint8_t> luma(2048 * 1080), chroma(2048 * 540); f(frame, canvas, luma.data(), chroma.data());",
        ),
        (
            "void train(const Batch& images, const Batch& labels) { look(images); look(labels); end_after(3); }",
            "try { f(); } catch (int) {}",
        ),
        ("", "f();"),  # over the folder of pictures
        (
            "void train(const void* data, void*) { if (!data) std::abort(); }",
            "std::vector<uint8_t> pixels(2 * 40 * 50 * 3, 7);"
            'const uint8_t* read = pixels.data(); f(Batch::wrap(read, {2, 40, 50, 3}, "HWC"), nullptr);',
        ),
    ],
    "docs/how_to/call_a_function.md": [
        (
            "void report(const std::string& message) { if (message.empty()) std::abort(); }",
            'std::vector<uint8_t> bytes = bytes_of("a.jpg"); std::vector<uint8_t> other = bytes_of("broken.jpg");'
            "std::vector<float> tensor(3 * 224 * 224); f(bytes, other, tensor.data());",
        )
    ],
    "docs/examples/resnet50.md": [
        (
            "std::vector<float> network(const float* p, int h, int w)"
            " { look(p[0]); look(p[3 * h * w - 1]); end_after(5); return {1.0f}; }",
            "std::vector<Batch> outputs; std::vector<float> scores; try { f(outputs, scores); } catch (int) {}",
        ),
        (
            "",
            "std::vector<uint8_t> frame(30 * 40 * 3); std::vector<float> input(2 * 3 * 224 * 224);"
            "f({frame.data(), frame.data()}, {{30, 40, 3}, {20, 30, 3}}, input.data(), 2, {}, {100, 110, 120}, {50, 50, 50});"
            "look(input.back());",
        ),
    ],
}
PROGRAM = """
#include <penstock/fn.h>
#include <penstock/image.hpp>
#include <penstock/opencv.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
template <class T> void look(const T& v) {{ volatile T seen = v; (void)seen; }}
inline void look(const penstock::Batch& batch) {{
  for (const penstock::Tensor& t : batch) look(static_cast<const unsigned char*>(t.data)[t.size() > 0 ? t.size() - 1 : 0]);
}}
inline void end_after(int calls) {{  // a pipeline never ends
  static int number = 0;
  if (++number % calls == 0) throw 1;
}}
inline std::vector<uint8_t> bytes_of(const char* path) {{
  std::ifstream file(path, std::ios::binary);
  return {{std::istreambuf_iterator<char>(file), {{}}}};
}}
{blocks}
int main() {{
{calls}
}}
"""


def program():
    spaces, calls = [], []
    for page in AROUND:
        for block, (before, around), (definitions, call) in zip(
            blocks(page, "cpp"), AROUND[page], CALLS[page], strict=True
        ):
            lines = [line for line in block.splitlines() if not line.startswith(("#include", "using namespace"))]
            body = around.replace("(void)p;", "look(p[0]);").format("\n".join([*lines, ""]))
            name = f"block{len(spaces)}"
            spaces.append(f"namespace {name} {{\nusing namespace penstock;\n{before}\n{body}\n{definitions}\n")
            spaces[-1] += f"void all() {{ {call} }}\n}}\n"
            calls.append(f"  {name}::all();")
    return PROGRAM.format(blocks="\n".join(spaces), calls="\n".join(calls))


@pipeline_def(batch_size=2, num_threads=1)
def training(files):
    jpegs, labels = fn.readers.file(files=files, labels=list(range(len(files))), pad_last_batch=True)
    return fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(jpegs), size=[224, 224]), dtype=types.FLOAT, output_layout="CHW"
    ), labels


@pipeline_def(batch_size=1, num_threads=1)
def preprocessing():
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))
    return fn.crop_mirror_normalize(fn.resize(images, size=[224, 224]), dtype=types.FLOAT, output_layout="CHW")


def test_cpp_blocks_run_under_the_address_sanitizer(tmp_path):
    for name in ("a.jpg", "b.jpg"):
        assert cv2.imwrite(str(tmp_path / name), np.full((40, 60, 3), 90, np.uint8))
    (tmp_path / "broken.jpg").write_bytes((tmp_path / "a.jpg").read_bytes()[:-200])
    pipe = training([str(tmp_path / name) for name in ("a.jpg", "b.jpg")])
    (tmp_path / "exported").mkdir()
    (tmp_path / "pictures" / "cats").mkdir(parents=True)
    (tmp_path / "pictures" / "cats" / "a.jpg").hardlink_to(tmp_path / "a.jpg")
    for path in ("training.json", "exported/evaluation.json"):
        pipe.save(str(tmp_path / path))
    preprocessing().save(str(tmp_path / "preprocessing.json"))
    (tmp_path / "blocks.cpp").write_text(program())
    command = [
        os.environ.get("CXX", "c++"),
        "blocks.cpp",
        "-o",
        "blocks",
        *STRICT,
        "-g1",
        "-fsanitize=address,undefined",
        "-isystem",
        "/usr/include/opencv4",
    ]
    built = subprocess.run(
        [*command, BUILD / "libpenstock.so", "-lopencv_core", f"-Wl,-rpath,{BUILD}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    gpu = {"PENSTOCK_GPU_LIBRARY": str(BUILD / "libpenstock_emulated_gpu.so")}
    # What the library keeps until the process ends is not a leak in the pages.
    options = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1"}
    done = subprocess.run(
        [tmp_path / "blocks"],
        cwd=tmp_path,
        env={**os.environ, **gpu, **options},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
