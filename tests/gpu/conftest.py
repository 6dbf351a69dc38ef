# SPDX-License-Identifier: Apache-2.0
"""Tests of the GPU: over the emulated one that the build makes; PENSTOCK_TEST_GPU=real leaves the machine's own."""
import os
from pathlib import Path

if os.environ.get("PENSTOCK_TEST_GPU") != "real" and "PENSTOCK_GPU_LIBRARY" not in os.environ:
    for library in sorted(Path(__file__).parents[2].glob("build*/libpenstock_emulated_gpu.so")):
        os.environ["PENSTOCK_GPU_LIBRARY"] = str(library)
        break
