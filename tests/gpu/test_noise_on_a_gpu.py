# SPDX-License-Identifier: Apache-2.0
"""Noise of one seed is the same on CPU and GPU, bit for bit."""

import numpy as np
import pytest

import penstock
from penstock import _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("gaussian", {"stddev": 9.0}),
        ("shot", {"factor": 3.0}),
        ("shot", {"factor": 30.0}),
        ("salt_and_pepper", {"prob": 0.4}),
        ("salt_and_pepper", {"prob": 0.4, "per_channel": True}),
        ("speckle", {"mean": 0.1, "stddev": 0.3}),
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float16", "float32", "float64"])
def test_noise(name, arguments, dtype):
    rng = np.random.default_rng(3)
    x = penstock.batch([rng.integers(0, 255, (31, 17 + i, 3)).astype(dtype) for i in range(3)], layout="HWC")
    function = getattr(fn.noise, name)
    for a, b in zip(function(x, seed=4, **arguments), function(x.gpu(), seed=4, **arguments).cpu()):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
