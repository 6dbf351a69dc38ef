# SPDX-License-Identifier: Apache-2.0
"""sobel and canny have the bytes of OpenCV."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from penstock import fn

BORDERS = {
    "reflect_101": cv2.BORDER_REFLECT_101,
    "reflect_1001": cv2.BORDER_REFLECT,
    "clamp": cv2.BORDER_REPLICATE,
    "constant": cv2.BORDER_CONSTANT,
}


def pictures(draw, channels):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = [draw(st.sampled_from([1, 2, 3, 5, 16, 31, 64, 150])) for _ in range(2)]
    x = rng.integers(0, 256, (*shape, channels), np.uint8)
    return cv2.GaussianBlur(x, (5, 5), 2).reshape(x.shape) if draw(st.booleans()) else x


@given(st.data())
def test_sobel_is_that_of_opencv(data):
    x = pictures(data.draw, data.draw(st.sampled_from([1, 3])))
    size = data.draw(st.sampled_from([1, 3, 5, 7]))
    dx = data.draw(st.integers(0, min(size, 3) - (size > 1)))
    dx = min(dx, 2)
    dy = data.draw(st.integers(0 if dx else 1, 2 if size > 1 else 1))
    border = data.draw(st.sampled_from(list(BORDERS)))
    scale = data.draw(st.sampled_from([1.0, 0.5, 0.125, 2.0]))
    for dtype, depth in (("int16", cv2.CV_16S), ("float32", cv2.CV_32F)):
        got = fn.sobel(x, dx=dx, dy=dy, window_size=size, border=border, scale=scale, dtype=dtype)
        wanted = cv2.Sobel(x, depth, dx, dy, ksize=size, scale=scale, borderType=BORDERS[border]).reshape(x.shape)
        np.testing.assert_array_equal(got, wanted)


@given(st.data())
def test_canny_is_that_of_opencv(data):
    x = pictures(data.draw, data.draw(st.sampled_from([1, 3])))
    low, high = (data.draw(st.floats(0, 600, width=32)) for _ in range(2))
    how = {"window_size": data.draw(st.sampled_from([3, 5, 7])), "squared_sizes": data.draw(st.booleans())}
    if how["window_size"] > 3:
        low, high = low * 8, high * 8
    low, high = float(np.float32(low)), float(np.float32(high))
    got = fn.canny(x, low=low, high=high, **how)
    wanted = cv2.Canny(x, low, high, apertureSize=how["window_size"], L2gradient=how["squared_sizes"])
    np.testing.assert_array_equal(got[..., 0], wanted)


def test_views_with_strides():
    x = np.random.default_rng(0).integers(0, 256, (70, 90, 4), np.uint8)
    for view in (x[::2, 5:71, :3], x[::-1, ::-1, :1]):
        np.testing.assert_array_equal(fn.sobel(view, dx=1, dy=1), fn.sobel(view.copy(), dx=1, dy=1))
        np.testing.assert_array_equal(fn.canny(view), fn.canny(view.copy()))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: fn.sobel(x, dx=0, dy=0), ValueError, "one of them more than 0"),
        (lambda x: fn.sobel(x, window_size=4), ValueError, "window_size must be 1, 3, 5 or 7, got 4"),
        (lambda x: fn.sobel(x, dx=3), ValueError, "from 0 to 2 with a window_size of 3"),
        (lambda x: fn.sobel(x.astype(np.int16), dtype="int16"), TypeError, "dtype int16 is for uint8, got int16"),
        (lambda x: fn.sobel(x.astype(np.float64)), TypeError, "got float64"),
        (lambda x: fn.canny(x.astype(np.float32)), TypeError, "expected uint8, got float32"),
        (lambda x: fn.canny(x, window_size=9), ValueError, "window_size must be 3, 5 or 7, got 9"),
        (lambda x: fn.canny(penstock.tensor(x, layout="CHW")), TypeError, "HW, HWC, FHW or FHWC, got 'CHW'"),
    ],
)
def test_wrong_calls(call, error, message):
    with pytest.raises(error, match=message):
        call(np.zeros((5, 6, 3), np.uint8))
