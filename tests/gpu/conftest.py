# SPDX-License-Identifier: Apache-2.0
"""Tests of the GPU part, in a process of their own: the library is loaded once.

They run on an emulated GPU, which shows what is computed and in which order it is enqueued, or on a real one with
PENSTOCK_TEST_GPU=real (and torch with CUDA).
"""

import atexit
import gc
import os
import pathlib
import tempfile

import pytest
from threads_at_rest import wait_for_rest

REAL = os.environ.get("PENSTOCK_TEST_GPU") == "real"
LOG = None
if not REAL:
    if "PENSTOCK_GPU_LIBRARY" not in os.environ:
        for library in sorted(pathlib.Path(__file__).parents[2].glob("build*/libpenstock_emulated_gpu.so")):
            os.environ["PENSTOCK_GPU_LIBRARY"] = str(library)
            break
    # A libnvcuvid that FFmpeg decodes for (tests/emulated_gpu/nvcuvid).
    stand_in = pathlib.Path(os.environ.get("PENSTOCK_GPU_LIBRARY", ".")).parent / "emulated_gpu"
    os.environ["PENSTOCK_NVIDIA_LIBS"] = os.pathsep.join(
        filter(None, [str(stand_in), os.environ.get("PENSTOCK_NVIDIA_LIBS")])
    )
    os.environ.setdefault("PENSTOCK_EMULATED_PROTECT", "1")  # the host that touches a GPU's memory dies of it
    LOG = pathlib.Path(tempfile.mkstemp(prefix="penstock_gpu_", suffix=".log")[1])
    os.environ["PENSTOCK_EMULATED_LOG"] = str(LOG)  # read when the library is loaded, at the first need of a GPU
    atexit.register(LOG.unlink, missing_ok=True)


@pytest.fixture
def real():
    return REAL


@pytest.fixture
def order():
    """What has been enqueued since the test began, as lines; only for an emulated GPU.

    Whatever still runs ends first: pipelines of earlier tests, an executor that runs ahead, destructors.
    """
    if REAL:
        pytest.skip("machine: a real GPU keeps no log of what is enqueued")

    def lines():
        wait_for_rest()
        return LOG.read_text().splitlines()

    gc.collect()
    lines()
    os.truncate(LOG, 0)
    return lines
