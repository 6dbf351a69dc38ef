# SPDX-License-Identifier: Apache-2.0
"""Operators that read and write memory in one pass, without tiles: what they compute, at the edges of their loops."""

import numpy as np
import pytest

from penstock import fn

WIDTHS = (1, 2, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 1000)


def near(got, exact, most):
    """Equal to the exact value, rounded and limited; a value within float32's error of a half may round either way."""
    want = np.clip(np.rint(exact), 0, most)
    unsure = np.abs(exact - np.floor(exact) - 0.5) < 1e-6 * np.maximum(np.abs(exact), most)
    assert np.array_equal(got[~unsure], want[~unsure])
    assert np.abs(got - want).max() <= 1


@pytest.mark.parametrize("width", WIDTHS)
def test_words_through_multiply_adds(width):
    x = np.random.default_rng(width).integers(0, 65536, (3, width, 3)).astype(np.uint16)
    for brightness, contrast in ((1.2, 0.9), (3.0, 1.7), (-1.0, 1.0), (0.0, 1.0)):
        brightness, contrast = np.float32(brightness), np.float32(contrast)
        got = fn.brightness_contrast(x, brightness=brightness, contrast=contrast)
        exact = float(brightness) * (32768 + float(contrast) * (x.astype(np.float64) - 32768))
        assert got.dtype == np.uint16
        near(np.asarray(got).astype(np.float64), exact, 65535)


@pytest.mark.parametrize("width", WIDTHS)
def test_bytes_through_a_matrix(width):
    x = np.random.default_rng(width).integers(0, 256, (3, width, 3)).astype(np.uint8)
    for twist in (
        {"hue": 20.0},
        {"saturation": 1.7},
        {"hue": -75.0, "saturation": 0.4, "brightness": 1.5, "contrast": 2.0},
    ):
        got = np.asarray(fn.color_twist(x, **twist))
        of_floats = np.asarray(
            fn.color_twist(x.astype(np.float64), **{k: v for k, v in twist.items() if k != "contrast"})
        )
        if "contrast" in twist:  # about 128, where floating point turns about 0.5
            scale = float(np.float32(twist["contrast"]))
            of_floats = of_floats * scale + float(np.float32(twist["brightness"])) * (128 - 128 * scale)
        assert got.dtype == np.uint8
        near(got.astype(np.float64), of_floats, 255)


@pytest.mark.parametrize("name", ["hue", "saturation", "brightness_contrast"])
def test_views_give_the_bytes_of_copies(name):
    random = np.random.default_rng(3)
    for dtype, most in ((np.uint8, 256), (np.uint16, 65536), (np.float32, 256)):
        x = random.integers(0, most, (12, 50, 3)).astype(dtype)
        arguments = {name: 1.3} if name != "brightness_contrast" else {"brightness": 1.3, "contrast": 0.8}
        for view in (x[::2], x[:, 3:40], x[:, ::-1], x[::-1, 1::3], x[2:3, 5:6]):
            got = np.asarray(getattr(fn, name)(view, **arguments))
            assert np.array_equal(got, np.asarray(getattr(fn, name)(view.copy(), **arguments)))


def test_long_rows_of_floats():
    """Longer than the tile of a stage that needs no registers, by one, and shorter."""
    random = np.random.default_rng(4)
    for count in (1, 8191, 8192, 8193, 40000):
        x = random.standard_normal(count).astype(np.float32)
        got = np.asarray(fn.brightness_contrast(x, brightness=2.0, contrast=1.0))
        assert np.array_equal(got, x * np.float32(2))
