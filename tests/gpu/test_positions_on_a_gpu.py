# SPDX-License-Identifier: Apache-2.0
"""Positions as sums of two floats have the CPU's bits on a GPU, far from the corner and where a denominator is 0."""

import numpy as np
import pytest

import penstock
from penstock import _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

CALLS = {
    "warp_perspective": [
        {"matrix": [0.9, 0.1, 20.0, -0.05, 1.1, -10.0, 1e-4, -0.01, 1.0], "interp_type": 1},
        {"matrix": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.0, -8.25], "interp_type": 2, "border_mode": "wrap"},
    ],
    "sphere": [{"interp_type": 1, "fill_value": 3.5}, {"interp_type": 0, "fill_value": 3.0}],
    "water": [
        {"interp_type": 1, "freq_x": 3.7, "phase_y": -90.0, "ampl_x": 17.3},
        {"interp_type": 0, "freq_x": 3.7, "phase_y": -90.0, "ampl_x": 17.3},
        {"interp_type": 0, "ampl_x": 1e30, "ampl_y": 3.0},
    ],
    "jitter": [{"nDegree": 9, "seed": 3}, {"nDegree": 16, "seed": 3}],
}


@pytest.mark.parametrize("name", CALLS)
def test_positions(name):
    random = np.random.default_rng(3)
    for i, arguments in enumerate(CALLS[name]):
        for dtype in ("uint8", "float32"):
            x = penstock.batch([(random.random((37, 1999, 1 + i)) * 255).astype(dtype)], layout="HWC")
            want, got = getattr(fn, name)(x, **arguments), getattr(fn, name)(x.gpu(), **arguments).cpu()
            np.testing.assert_array_equal(want[0].numpy(), got[0].numpy(), err_msg=str(arguments))
