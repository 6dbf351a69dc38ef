# SPDX-License-Identifier: Apache-2.0
"""Means of rectangles beside OpenCV's and NumPy's."""

import cv2
import numpy as np
import pytest

from penstock import fn

BORDERS = {
    "reflect_101": cv2.BORDER_REFLECT_101,
    "reflect": cv2.BORDER_REFLECT,
    "replicate": cv2.BORDER_REPLICATE,
    "constant": cv2.BORDER_CONSTANT,
}


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32"])
def test_as_opencv(dtype, border):
    """OpenCV rounds means of even windows of bytes in a way of its own, and large sums of uint16 in float32."""
    random = np.random.default_rng(3)
    for shape in [(97, 403, 3), (64, 70, 1), (90, 80, 4)]:
        image = (random.random(shape) * 255).astype(dtype)
        for size in [(3, 3), (5, 5), (7, 3), (9, 9), (15, 15), (31, 31), (33, 1), (1, 9)]:
            expected = cv2.blur(image, size, borderType=BORDERS[border]).reshape(shape)
            got = np.asarray(fn.box_blur(image, window_size=size, border_mode=border))
            if dtype == "float32":
                np.testing.assert_allclose(got, expected, rtol=0, atol=255 * 2e-7)
            else:
                np.testing.assert_array_equal(got, expected)


def test_even_windows_round_to_even():
    image = np.uint8([[0, 1, 2, 3, 200, 201]])
    got = np.asarray(fn.box_blur(image, window_size=[2, 1], border_mode="replicate"))
    assert got.tolist() == [[0, 0, 2, 2, 102, 200]]  # of 0, 0.5, 1.5, 2.5, 101.5, 200.5
    assert np.asarray(fn.box_blur(image.astype(np.int8), window_size=[2, 1])).dtype == np.int8


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_large_windows_are_exact(dtype):
    info = np.iinfo(dtype)
    image = np.random.default_rng(1).integers(info.min, info.max, (40, 50), dtype, endpoint=True)
    for width, height in [(16, 16), (17, 16), (257, 3), (258, 20), (190, 190), (2047, 5)]:
        padded = np.pad(image.astype(np.int64), ((0, 0), (width // 2, (width - 1) // 2)), "symmetric")
        rows = np.cumsum(np.pad(padded, ((0, 0), (1, 0))), 1)
        padded = np.pad(rows[:, width:] - rows[:, :-width], ((height // 2, (height - 1) // 2), (0, 0)), "symmetric")
        columns = np.cumsum(np.pad(padded, ((1, 0), (0, 0))), 0)
        expected = np.rint((columns[height:] - columns[:-height]) / (width * height)).astype(dtype)
        got = np.asarray(fn.box_blur(image, window_size=[width, height], border_mode="reflect"))
        np.testing.assert_array_equal(got, expected)


def test_a_moved_image_has_a_moved_mean():
    image = np.random.default_rng(2).normal(0, 100, (60, 80)).astype(np.float32)
    whole = np.asarray(fn.box_blur(image, window_size=[13, 11]))
    part = np.asarray(fn.box_blur(np.ascontiguousarray(image[7:, 5:]), window_size=[13, 11]))
    np.testing.assert_array_equal(part[5:-5, 6:-6], whole[12:-5, 11:-6])
