# SPDX-License-Identifier: Apache-2.0
"""Sums of bytes with whole weights are in integers of 16 bits where these hold them: the same values as in float64."""

import numpy as np
import pytest

import penstock
from penstock import fn


@pytest.mark.parametrize("total", [128, 129, 4000])  # 128 * 255 is the most that fits
@pytest.mark.parametrize("sign", [1, -1])
def test_at_the_ends_of_the_range(total, sign):
    image = np.random.default_rng(total).choice([0, 1, 254, 255], (9, 1100, 3)).astype(np.uint8)
    image[:4] = 255
    weights = np.zeros((3, 5), np.float32)
    weights[1, 1:4], weights[0, 0], weights[2, 4] = [total - 3, 0, 1], 1, -1
    weights *= sign
    padded = np.pad(image.astype(np.float64), ((1, 1), (2, 2), (0, 0)), mode="reflect")
    expected = sum(weights[j, i] * padded[j : j + 9, i : i + 1100] for j in range(3) for i in range(5))
    for dtype in ("uint8", "float32"):
        got = fn.correlate(penstock.tensor(image, "HWC"), weights, border="reflect_101", dtype=dtype).numpy()
        np.testing.assert_array_equal(got, np.clip(expected, 0, 255) if dtype == "uint8" else expected)
