# SPDX-License-Identifier: Apache-2.0
"""Programs on a GPU end with the status they chose, while their kernels are being compiled: with a compiler that,
like NVIDIA's, is torn down by an exit before our handlers could run (tests/standin_nvrtc)."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

import penstock
from conftest import REAL

ROOT = pathlib.Path(__file__).parents[2]
LIBRARY = pathlib.Path(os.environ.get("PENSTOCK_GPU_LIBRARY", ".")).resolve()
MOMENTS = max(50, int(os.environ.get("PENSTOCK_TEST_COUNT", "0")))  # of C programs that end
LONG = 600_000  # ms of a compilation that no program waits for: more than any program here may take
pytestmark = pytest.mark.skipif(
    REAL, reason="machine: the compiler is a stand-in; benchmarks/gpu/short_programs.py is for GPUs"
)

PYTHON = """
import os, sys, time
import numpy as np
import penstock
from penstock import fn

@penstock.pipeline_def(batch_size=2, num_threads=1)
def pipe():
    x = fn.external_source(lambda: np.ones((2, 8, 8, 3), np.uint8))
    return fn.contrast(fn.brightness(x.gpu(), brightness=1.25), contrast=1.5)

def log():
    path = os.environ["PENSTOCK_STANDIN_LOG"]
    return open(path).read() if os.path.exists(path) else ""

def wait_for(what):
    until = time.monotonic() + 240
    while what not in log() and time.monotonic() < until:
        time.sleep(0.001)

p = pipe()
p.run()
"""
ENDS = {
    "runs to its end": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise KeyError('mine')", 1),
    "close and del": ("p.close(); del p", 0),
    "os._exit": ("os._exit(4)", 4),
    "an immediate call": (
        "del p; fn.brightness(penstock.batch(np.ones((1, 9, 3), np.uint8)).gpu(), brightness=1.5)",
        0,
    ),
}


def environment(tmp_path, milliseconds):
    own = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    return own | {
        "PENSTOCK_GPU_LIBRARY": str(LIBRARY),
        "PENSTOCK_NVRTC": str(LIBRARY.parent / "libstandin_nvrtc.so"),
        "PENSTOCK_EMULATED_COMPILER": "nvrtc",
        "PENSTOCK_STANDIN_COMPILE_MS": str(milliseconds),
        "PENSTOCK_STANDIN_LOG": str(tmp_path / "compilations"),
        "PENSTOCK_CACHE": str(tmp_path / "cache"),
    }


def compilations(tmp_path):
    path = tmp_path / "compilations"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def ends(command, env, expected):
    """The program ends as it should, before a long compilation does."""
    done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, timeout=LONG / 2000)
    assert done.returncode == expected, done.stderr


def python(tmp_path, end, milliseconds, expected, **more):
    ends([sys.executable, "-c", PYTHON + end], environment(tmp_path, milliseconds) | more, expected)


@pytest.mark.parametrize("how", ENDS)
def test_a_python_program_ends_in_the_midst_of_a_compilation(tmp_path, how):
    end, expected = ENDS[how]
    python(tmp_path, "wait_for('begin')\n" + end, LONG, expected)
    lines = compilations(tmp_path)
    assert lines and not any(line.startswith("end") for line in lines), "a compilation was at work"


def test_the_compiling_process_ends_with_the_program_and_is_none_of_its_children(tmp_path):
    end = """
wait_for("begin")
try:
    os.wait()
except ChildProcessError:
    sys.exit(5)
"""
    python(tmp_path, end, LONG, 5)
    pids = {int(line.split()[1]) for line in compilations(tmp_path)}
    assert pids
    until = time.monotonic() + 60
    while any(runs(pid) for pid in pids):
        assert time.monotonic() < until, "the compiling process outlives its program"
        time.sleep(0.02)


def runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_kernel_is_taken_when_it_is_compiled_and_kept(tmp_path):
    end = """
until = time.monotonic() + 240
kernels = os.path.join(os.environ["PENSTOCK_CACHE"], "kernels")
kept = lambda: os.path.isdir(kernels) and any(name.endswith(".kernel") for name in os.listdir(kernels))
while not kept():
    assert time.monotonic() < until
    p.run()
for _ in range(20):
    p.run()
"""
    python(tmp_path, end, 10, 0)
    before = compilations(tmp_path)
    assert len(before) == 2, "it began and ended"
    python(tmp_path, "", LONG, 0, PENSTOCK_KERNELS="compiled")  # which would wait
    assert compilations(tmp_path) == before, "the second program finds it"


# C, and C++ as well.
PROGRAM = r"""
#include <penstock/penstock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for(const char* word) { /* in the log of compilations */
  static char said[1 << 16];
  for (int tries = 0; tries < 100000 && !strstr(said, word); ++tries) {
    FILE* file = fopen(getenv("PENSTOCK_STANDIN_LOG"), "r");
    if (file) {
      said[fread(said, 1, sizeof said - 1, file)] = 0;
      fclose(file);
    }
    usleep(1000);
  }
}

static void check(penstock_status status) {
  if (!status) return;
  fprintf(stderr, "%s\n", penstock_last_error());
  _exit(99);
}

int main(int count, char** words) { /* how, microseconds, and a word to wait for */
  uint8_t pixels[8][8][3] = {{{1}}};
  void* const data[] = {pixels};
  const int64_t shapes[] = {8, 8, 3};
  penstock_batch_description d;
  penstock_batch *image = NULL, *there = NULL, *brighter = NULL;
  penstock_arguments* arguments = NULL;
  if (count < 3) return 98;
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d, d.dtype = PENSTOCK_UINT8, d.ndim = 3, d.layout = "HWC", d.num_samples = 1;
  d.shapes = shapes, d.data = data;
  check(penstock_batch_create(&d, &image));
  check(penstock_batch_copy_to(image, PENSTOCK_GPU, 0, NULL, &there));
  check(penstock_arguments_create(&arguments));
  check(penstock_set_float(arguments, "brightness", 1.5));
  check(penstock_call("brightness", (const penstock_batch* const*)&there, 1, arguments, NULL, &brighter, 1));
  usleep((useconds_t)atoi(words[2]));
  if (count == 4) wait_for(words[3]);
  if (!strcmp(words[1], "kept")) return 6;
  penstock_batch_destroy(brighter);
  penstock_arguments_destroy(arguments);
  penstock_batch_destroy(there);
  penstock_batch_destroy(image);
  if (!strcmp(words[1], "exit")) exit(7);
  return 6;
}
"""


@pytest.fixture(scope="module", params=["c", "c++"])
def program(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    source, made = folder / "text", folder / f"program.{request.param}"
    source.write_text(PROGRAM)
    compiler = ["gcc", "-std=gnu99"] if request.param == "c" else ["g++", "-std=gnu++17"]
    subprocess.run(
        [
            *compiler,
            "-x",
            request.param,
            source,
            "-o",
            made,
            f"-I{ROOT / 'include'}",
            "-x",
            "none",
            LIBRARY.parent / "libpenstock.so",
            f"-Wl,-rpath,{LIBRARY.parent}",
        ],
        check=True,
        timeout=120,
    )
    return made


def test_a_c_program_ends_at_every_moment_of_a_compilation(program, tmp_path):
    ways, moments = {"return": 6, "exit": 7, "kept": 6}, MOMENTS if program.suffix == ".c" else MOMENTS // 5
    for k in range(moments):  # of 20 ms of compiling: before it, in it, after it
        way = list(ways)[k % 3]
        (tmp_path / str(k)).mkdir()
        ends([program, way, 40_000 * k // moments], environment(tmp_path / str(k), 20), ways[way])


@pytest.mark.parametrize("word, milliseconds", [("begin", LONG), ("end", 20)])
def test_a_c_program_ends_in_a_compilation_and_after_it(program, tmp_path, word, milliseconds):
    for way, status in {"return": 6, "exit": 7, "kept": 6}.items():
        (tmp_path / way).mkdir()
        ends([program, way, 0, word], environment(tmp_path / way, milliseconds), status)
        said = "".join(compilations(tmp_path / way))
        assert "begin" in said and ("end" in said) == (word == "end"), said


def test_no_library_destroys_its_statics_at_an_exit():
    # A thread that compiles may be at any place: moments alone find such a place once in a thousand programs.
    extension = pathlib.Path(penstock._core.__file__)
    libraries = [LIBRARY, *(LIBRARY.parent / f"libpenstock{name}.so.0.1" for name in ("", "_cuda")), extension]
    for library in [path for path in libraries if path.exists()]:
        names = subprocess.run(
            ["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True
        ).stdout
        assert "__cxa_atexit" not in names, library


def test_a_long_compilation_is_shown_and_a_short_one_is_not(tmp_path):
    shown = """
from penstock import progress
made = []
class Bar:
    def __init__(self, desc, total, unit, leave):
        made.append([desc, total, unit, "open"])
    def update(self, n): pass
    def close(self): made[-1][-1] = "closed"
progress.show(Bar)
progress._QUIET = {quiet}
q = pipe()
q.run()
until = time.monotonic() + 240
def wait_until(said):
    while not said():
        assert time.monotonic() < until
        time.sleep(0.01)
if {quiet} < 1:
    wait_until(lambda: made)
    open(os.environ["PENSTOCK_STANDIN_COMPILE_UNTIL"], "w").close()
    wait_until(lambda: made[-1][-1] == "closed")
else:
    wait_for("end")
print(made)
assert bool(made) == ({quiet} < 1), made
assert all(m[0].startswith("compile the kernel ") and m[1:] == [None, "kernel", "closed"] for m in made), made
"""
    start = PYTHON.removesuffix("p = pipe()\np.run()\n")
    for quiet in (0.1, 600):
        folder = tmp_path / str(quiet)
        folder.mkdir()
        code = start + shown.replace("{quiet}", str(quiet))
        until = {"PENSTOCK_STANDIN_COMPILE_UNTIL": str(folder / "shown")} if quiet < 1 else {}
        ends([sys.executable, "-c", code], environment(folder, 500) | until, 0)
