# SPDX-License-Identifier: Apache-2.0
"""Operators that only move elements: quarter turns, mirrors, orders of channels, borders of colors."""

import numpy as np
import penstock
import pytest
from penstock import fn, types

SHAPES = [(1, 1, 3), (5, 7, 3), (40, 33, 3), (64, 129, 3), (31, 66, 1), (20, 50, 4), (9, 40, 5)]


def image(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, 120, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_quarter_turns_move_pixels(shape, dtype):
    x = image(shape, dtype)
    for quarters in range(-1, 4):
        for kind in (types.INTERP_NN, types.INTERP_LINEAR):
            got = fn.rotate(penstock.tensor(x, layout="HWC"), angle=90 * quarters, interp_type=kind, fill_value=77)
            np.testing.assert_array_equal(np.asarray(got), np.rot90(x, quarters))


def test_quarter_turns_of_other_layouts():
    x = image((3, 20, 31), np.uint8)
    got = fn.rotate(penstock.tensor(x, layout="CHW"), angle=90)
    np.testing.assert_array_equal(np.asarray(got), np.rot90(x, axes=(1, 2)))
    frames = image((2, 20, 31, 3), np.uint8)
    got = fn.rotate(penstock.tensor(frames, layout="FHWC"), angle=270)
    np.testing.assert_array_equal(np.asarray(got), np.rot90(frames, 3, axes=(1, 2)))
    volume = image((4, 20, 31, 1), np.uint8)
    got = fn.rotate(penstock.tensor(volume, layout="DHWC"), angle=180, axis=[0, 0, 1], keep_size=True)
    np.testing.assert_array_equal(np.asarray(got), volume[:, ::-1, ::-1])


def test_a_canvas_that_cuts_a_quarter_turn():
    x = image((20, 30, 3), np.uint8)
    got = np.asarray(fn.rotate(penstock.tensor(x, layout="HWC"), angle=90, size=[34, 26], fill_value=9))
    want = np.full((34, 26, 3), 9, np.uint8)
    want[2:32, 3:23] = np.rot90(x)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.float32])
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[2] == 3])
def test_the_order_of_channels(shape, dtype):
    x = image(shape, dtype)
    convert = lambda a, layout: np.asarray(
        fn.color_space_conversion(penstock.tensor(a, layout=layout), image_type=types.RGB, output_type=types.BGR)
    )
    np.testing.assert_array_equal(convert(x, "HWC"), x[..., ::-1])
    planes = np.ascontiguousarray(x.transpose(2, 0, 1))
    np.testing.assert_array_equal(convert(planes, "CHW"), planes[::-1])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_mirrors_and_borders(shape, dtype):
    x = image(shape, dtype)
    t = penstock.tensor(x, layout="HWC")
    for h in (0, 1):
        for v in (0, 1):
            want = x[:: -1 if v else 1, :: -1 if h else 1]
            np.testing.assert_array_equal(np.asarray(fn.flip(t, horizontal=h, vertical=v)), want)
    color = list(range(1, shape[2] + 1))
    want = np.broadcast_to(np.array(color, dtype), (shape[0] * 2, shape[1] * 2, shape[2])).copy()
    y, want_x = shape[0] // 2, shape[1] // 2
    want[y : y + shape[0], want_x : want_x + shape[1]] = x
    np.testing.assert_array_equal(np.asarray(fn.paste(t, ratio=2.0, fill_value=color)), want)
    padded = np.full((shape[0] + 3, shape[1] + 5, shape[2]), 7, dtype)
    padded[: shape[0], : shape[1]] = x
    got = fn.pad(t, axes=[0, 1], shape=list(padded.shape[:2]), fill_value=7)
    np.testing.assert_array_equal(np.asarray(got), padded)
