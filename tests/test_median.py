# SPDX-License-Identifier: Apache-2.0
"""Medians beside OpenCV's and NumPy's, by networks, by counts and by the slow rule."""

import cv2
import numpy as np
import pytest

import penstock
from penstock import fn


@pytest.mark.parametrize(
    "dtype, size",
    [("uint8", 3), ("uint8", 5), ("uint8", 7), ("uint8", 31), ("uint16", 5), ("float32", 3), ("float32", 5)],
)
def test_as_opencv(dtype, size):
    random = np.random.default_rng(size)
    for shape in [(97, 403, 3), (1, 300, 1), (64, 5, 4), (200, 1, 3)]:
        image = (random.random(shape) * 255).astype(dtype)
        expected = cv2.medianBlur(image, size).reshape(shape)
        np.testing.assert_array_equal(np.asarray(fn.median_blur(image, window_size=size)), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "float32"])
def test_rectangles(dtype):
    image = np.random.default_rng(1).integers(-100, 100, (40, 61)).astype(dtype)
    for width, height in [(1, 1), (3, 1), (1, 5), (9, 5), (63, 3)]:
        padded = np.pad(image, ((height // 2, height // 2), (width // 2, width // 2)), mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width)).reshape(*image.shape, -1)
        expected = np.sort(windows, axis=-1)[..., width * height // 2]
        np.testing.assert_array_equal(np.asarray(fn.median_blur(image, window_size=[width, height])), expected)


@pytest.mark.parametrize("size", [3, 5, 7])
def test_volumes_are_images_one_after_another(size):
    volume = np.random.default_rng(2).integers(0, 256, (4, 11, 13, 2), np.uint8)
    together = fn.median_blur(penstock.tensor(volume, "DHWC"), window_size=size).numpy()
    np.testing.assert_array_equal(together, [np.asarray(fn.median_blur(image, window_size=size)) for image in volume])
