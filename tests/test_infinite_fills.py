# SPDX-License-Identifier: Apache-2.0
"""Fills that are infinite or NaN: they are the result wherever the border has a share of it, and change nothing else.
Where it has a share is read from two finite fills: there their results differ."""

import numpy as np
import pytest

import penstock
from penstock import fn, types

TURN = [0.9, 0.2, -1.3, -0.25, 1.1, 2.2]
TILT = [1.05, 0.1, -2.0, 0.05, 0.9, 1.5, 0.001, 0.002, 1.0]
LEANING = [1.1, 0, 0.2, -1.0, 0, 0.9, 0.1, 0.6, 0.1, 0, 1.2, -0.7]
NUMBERS = np.random.default_rng(4)
Y, X = (m.astype(np.float32) for m in np.mgrid[-3:9:0.5, -3:15:0.5])
MOVED_Y, MOVED_X = (m + NUMBERS.normal(0, 0.3, m.shape).astype(np.float32) for m in (Y, X))


def picture(dtype, channels):
    x = np.random.default_rng(channels).normal(0, 9, (9, 37, channels)).astype(dtype)
    return penstock.tensor(x, layout="HWC")


def remapped(x, fill, interp, maps=(MOVED_X, MOVED_Y)):
    return fn.remap(x, *maps, fill_value=fill, interp=interp, pixel_origin="center")


# Each gives the result for a fill, of a picture and for an interpolation.
CALLS = {
    "warp_affine": lambda x, fill, interp: fn.warp_affine(x, matrix=TURN, fill_value=fill, interp_type=interp),
    "of all that is there": lambda x, fill, interp: fn.warp_affine(
        x, matrix=[1, 0, 0, 0, 1, 0], fill_value=fill, interp_type=interp
    ),
    "far away": lambda x, fill, interp: fn.warp_affine(
        x, matrix=[1, 0, 1000, 0, 1, 0], fill_value=fill, interp_type=interp
    ),
    "rotate": lambda x, fill, interp: fn.rotate(x, angle=33.0, fill_value=fill, interp_type=interp),
    "warp_perspective": lambda x, fill, interp: fn.warp_perspective(
        x, matrix=TILT, fill_value=fill, interp_type=interp
    ),
    "each channel's": lambda x, fill, interp: fn.warp_perspective(
        x, matrix=TILT, fill_value=[fill] * x.shape()[2], interp_type=interp
    ),
    "remap": remapped,
    "whole positions": lambda x, fill, interp: remapped(x, fill, interp, (np.floor(X), np.floor(Y))),
}
INTERPOLATIONS = {"linear": types.INTERP_LINEAR, "cubic": types.INTERP_CUBIC}


def expected(call, fill):
    few, many = (np.asarray(call(v)) for v in (0.0, 2.0**100))
    assert np.isfinite(few).all()
    return np.where(few != many, few.dtype.type(fill), few)


@pytest.mark.parametrize("fill", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("interp", INTERPOLATIONS)
@pytest.mark.parametrize("name", CALLS)
def test_a_fill_is_the_result_where_it_has_a_share(name, interp, fill):
    for dtype in (np.float32, np.float64):
        for channels in (1, 3, 4, 5):
            x = picture(dtype, channels)

            def call(value, x=x):
                return CALLS[name](x, value, INTERPOLATIONS[interp])

            np.testing.assert_array_equal(np.asarray(call(fill)), expected(call, fill), err_msg=f"{dtype} {channels}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_volumes(dtype):
    x = penstock.tensor(NUMBERS.normal(0, 9, (5, 6, 7, 2)).astype(dtype), layout="DHWC")

    def call(value):
        return fn.warp_affine(x, matrix=LEANING, fill_value=value)

    want = expected(call, np.inf)
    assert np.isinf(want).any() and np.isfinite(want).any()
    np.testing.assert_array_equal(np.asarray(call(np.inf)), want)


@pytest.mark.parametrize("name", ["warp_perspective", "remap"])
def test_integers_have_the_end_of_their_range(name):
    x = penstock.tensor(NUMBERS.integers(0, 200, (9, 37, 3), dtype=np.uint8), layout="HWC")
    few, many = (np.asarray(CALLS[name](x, v, types.INTERP_LINEAR)) for v in (0.0, 2.0**100))
    got = np.asarray(CALLS[name](x, np.inf, types.INTERP_LINEAR))
    np.testing.assert_array_equal(got, np.where(few != many, np.uint8(255), few))
