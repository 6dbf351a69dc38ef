# SPDX-License-Identifier: Apache-2.0
"""Programs on a GPU end with the status they chose, while their kernels are being compiled: with a compiler that, as
NVIDIA's, an exit takes apart before any handler of ours could run (tests/standin_nvrtc)."""
import os
import pathlib
import subprocess
import sys
import time

import pytest

from conftest import REAL

ROOT = pathlib.Path(__file__).parents[2]
LIBRARY = pathlib.Path(os.environ.get("PENSTOCK_GPU_LIBRARY", ".")).resolve()
COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "0"))  # of moments of an exit
pytestmark = pytest.mark.skipif(REAL, reason="machine: the compiler is a stand-in; benchmarks/gpu/short_programs.py is for GPUs")

BEGIN = """
import os, sys, time
import numpy as np
import penstock
from penstock import fn

@penstock.pipeline_def(batch_size=2, num_threads=1)
def pipe():
    x = fn.external_source(lambda: np.ones((2, 8, 8, 3), np.uint8))
    return fn.contrast(fn.brightness(x.gpu(), brightness=1.25), contrast=1.5)

p = pipe()
p.run()
time.sleep(float(sys.argv[1]))
"""
ENDS = {
    "runs to its end": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise KeyError('mine')", 1),
    "close and del": ("p.close(); del p", 0),
    "os._exit": ("os._exit(4)", 4),
    "an immediate call": ("del p; fn.brightness(penstock.batch(np.ones((1, 9, 3), np.uint8)).gpu(), brightness=1.5)", 0),
}


def environment(tmp_path, milliseconds):
    own = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    return own | {"PENSTOCK_GPU_LIBRARY": str(LIBRARY), "PENSTOCK_NVRTC": str(LIBRARY.parent / "libstandin_nvrtc.so"),
                  "PENSTOCK_EMULATED_COMPILER": "nvrtc", "PENSTOCK_STANDIN_COMPILE_MS": str(milliseconds),
                  "PENSTOCK_STANDIN_LOG": str(tmp_path / "compilations"), "PENSTOCK_CACHE": str(tmp_path / "cache"),
                  "PYTHONPATH": str(ROOT / "python")}


def compilations(tmp_path):
    path = tmp_path / "compilations"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def python(tmp_path, end, sleep, milliseconds, expected):
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", BEGIN + end, str(sleep)], env=environment(tmp_path, milliseconds),
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == expected, done.stderr
    return time.monotonic() - begin


@pytest.mark.parametrize("how", ENDS)
def test_a_python_program_ends_in_the_midst_of_a_compilation(tmp_path, how):
    end, expected = ENDS[how]
    took = python(tmp_path, end, 0.05, 30_000, expected)
    lines = compilations(tmp_path)
    assert lines and not any(line.startswith("end") for line in lines), "a compilation was at work"
    assert took < 25, "nobody waited for it"


def test_it_ends_at_every_moment_of_a_compilation(tmp_path):
    count = COUNT or 5
    for k in range(count):  # 40 ms of compiling: before it, in it, after it
        python(tmp_path / str(k) if (tmp_path / str(k)).mkdir() is None else None, "", 0.06 * k / count, 40, 0)


def test_the_compiling_process_ends_with_the_program_and_is_none_of_its_children(tmp_path):
    end = """
assert not os.path.exists(f"/proc/self/task/{os.getpid()}/children") or not open(f"/proc/self/task/{os.getpid()}/children").read()
try:
    os.wait()
except ChildProcessError:
    sys.exit(5)
"""
    python(tmp_path, end, 0.3, 30_000, 5)
    pids = {int(line.split()[1]) for line in compilations(tmp_path)}
    assert pids
    until = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
              for pid in pids):
        assert time.monotonic() < until, "the compiling process outlives its program"
        time.sleep(0.02)


def test_the_kernel_is_taken_when_it_is_compiled_and_kept(tmp_path):
    end = """
until = time.monotonic() + 30
while "end" not in open(os.environ["PENSTOCK_STANDIN_LOG"]).read() and time.monotonic() < until:
    p.run()
"""
    python(tmp_path, end, 0, 10, 0)
    assert list((tmp_path / "cache" / "kernels").glob("*.kernel"))
    before = compilations(tmp_path)
    python(tmp_path, "", 0.2, 30_000, 0)
    assert compilations(tmp_path) == before, "the second program finds it"


PROGRAM = r"""
#include <penstock/penstock.hpp>
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <vector>
namespace ps = penstock;
static ps::Pipeline* kept;
int main(int, char** argv) {
  ps::Graph g;
  const ps::Value x = g.add("external_source", {}, {{"name", "x"}});
  (void)x;
  return 0;
}
"""
