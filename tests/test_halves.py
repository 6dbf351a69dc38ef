# SPDX-License-Identifier: Apache-2.0
"""float64 becomes float16 by one rounding, as in NumPy. Through float32 there would be two, and a value close to the
middle of two halves would go to the even one."""

import numpy as np
import pytest

import penstock
from penstock import fn, types


def beside_the_middles():
    """For every two neighboring halves of a few exponents: just below their middle, the middle, just above it."""
    bits = np.concatenate([np.arange(first, first + 40) for first in (1, 0x3BF0, 0x54A0, 0x7BD0)]).astype(np.uint16)
    halves = bits.view(np.float16)
    middles = halves.astype(np.float64) + np.spacing(halves).astype(np.float64) / 2
    values = np.concatenate([np.nextafter(middles, 0), middles, np.nextafter(middles, np.inf)])
    return np.concatenate([values, -values])


VALUES = beside_the_middles()
WANT = VALUES.astype(np.float16)


def test_two_roundings_would_differ():
    assert np.count_nonzero(VALUES.astype(np.float32).astype(np.float16) != WANT) > 100


@pytest.mark.parametrize(
    "cast",
    [
        lambda x: fn.cast(x, dtype=types.FLOAT16),
        lambda x: fn.cast_like(x, penstock.batch([np.zeros(1, np.float16)])),
        lambda x: fn.cast(x * 1.0, dtype=types.FLOAT16),
    ],
    ids=["cast", "cast_like", "behind an operator"],
)
def test_one_rounding(cast):
    np.testing.assert_array_equal(np.array(cast(penstock.batch([VALUES]))[0]), WANT)


@pytest.mark.parametrize("k", range(0, len(VALUES), 7))
def test_constants(k):
    held = np.array(fn.constant(fdata=[float(VALUES[k])], dtype=types.FLOAT16, batch_size=1)[0])
    assert held.dtype == np.float16 and (held == WANT[k]).all()
