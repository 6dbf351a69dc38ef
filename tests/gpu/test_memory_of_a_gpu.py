# SPDX-License-Identifier: Apache-2.0
"""The emulated GPU's memory is its own: a host that reads it ends, as where the GPU is real."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, numpy as np
from penstock import fn
there = fn.brightness(np.ones((3, 3, 3), np.uint8), device="gpu")
assert np.asarray(there.cpu()).sum() == 27
ctypes.string_at(there.__cuda_array_interface__["data"][0] + {offset}, 1)
"""


@pytest.mark.parametrize("offset", [0, 26, 32])
def test_the_host_cannot_read_it(real, offset):
    if real:
        pytest.skip("machine: a real GPU")
    ended = subprocess.run([sys.executable, "-c", PROGRAM.format(offset=offset)], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGSEGV, ended.stderr
