# SPDX-License-Identifier: Apache-2.0
"""Regions whose values are on a GPU: the emulated one if it is built."""

import os
import pathlib
import subprocess
import sys

import pytest

LIBRARY = pathlib.Path(__file__).parents[1] / "build" / "libpenstock_emulated_gpu.so"
PROGRAM = """
import numpy as np
from penstock import fn, pipeline_def, types
images = [np.random.default_rng(i).integers(0, 255, (20 + i, 30, 3), np.uint8) for i in range(5)]
counts = [np.int32(i) for i in range(5)]

def run(device):
    @pipeline_def(batch_size=5, num_threads=2, seed=3, device_id=0)
    def pipe():
        x = fn.external_source(lambda: images, dtype=types.UINT8, layout="HWC")
        n = fn.external_source(lambda: counts, dtype=types.INT32, ndim=0)
        if device == "gpu":
            x = x.gpu()
        bright = fn.reductions.mean(fn.cast(x, dtype=types.FLOAT))
        if bright > 127.0:
            y = fn.brightness_contrast(x, brightness=1.5)
        else:
            y = fn.flip(x, horizontal=1)
        for k in range(n):
            y = fn.brightness_contrast(y, brightness=0.9)
            y[k:k + 2, 3] = 7
        label = n
        if n > 2:
            label = n * 2
        return y, label
    p = pipe()
    out = p.run()
    text = p.text(planned=True)
    return [[np.array(t.numpy()) for t in b.as_cpu()] for b in out], text
host, _ = run("cpu")
gpu, text = run("gpu")
assert "on the GPU" in text, text
for a, b in zip(host, gpu):
    for x, y in zip(a, b):
        np.testing.assert_array_equal(x, y)
print("equal")
"""


@pytest.mark.skipif(not LIBRARY.exists(), reason="the emulated GPU is not built")
def test_bodies_on_the_gpu_give_the_bytes_of_the_cpu(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PENSTOCK_GPU_LIBRARY": str(LIBRARY)},
    )
    assert done.stdout.strip() == "equal", done.stderr[-3000:]
