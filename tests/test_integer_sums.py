# SPDX-License-Identifier: Apache-2.0
"""Stages that filter bytes with weights of 16 bits and round halves up compute with integers: the bytes are those of float32."""

import os
import random

import numpy as np
import pytest

from penstock import fn, math, pipeline_def, types

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", 40))
ONE_AXIS = {"mode": "stretch", "outside": "cut", "weights": "int16", "dtype": types.FLOAT}


def pictures(shape, kind, seed):
    generator = np.random.default_rng(seed)
    if kind == "noise":
        return generator.integers(0, 256, shape, np.uint8)
    if kind == "edges":  # filters overshoot
        return generator.choice(np.uint8([0, 255]), shape)
    return np.clip(generator.normal(250, 4, shape), 0, 255).astype(np.uint8)


def rounded(filtered):
    return np.clip(np.floor(filtered + np.float32(0.5)), 0, 255).astype(np.uint8)


def in_a_stage(picture, layout, resize, window, normalize):
    """What one stage makes of it: floats that are rounded and, with `normalize`, become a plane for each channel."""

    @pipeline_def(batch_size=1, num_threads=1, prefetch_queue_depth=1, enable_conditionals=False)
    def prepare():
        images = fn.external_source(source=lambda: [picture], dtype=types.UINT8, layout=layout)
        images = fn.resize(images, **resize, **ONE_AXIS)
        images = fn.crop(images, crop_h=window[0], crop_w=window[1], rounding="truncate")
        images = fn.cast(math.floor(images + 0.5), dtype=types.UINT8)
        if normalize:
            images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, mean=[5.0], std=[3.0], output_layout="CHW")
        return images

    pipe = prepare()
    pipe.build()
    assert sum(line.startswith("stage") for line in str(pipe.plan()).splitlines()) == 1
    (made,) = pipe.run()
    return np.asarray(made[0])


def middle(picture, layout, window):
    height, width = (picture.shape[layout.index(letter)] for letter in "HW")
    top, left = (height - window[0]) // 2, (width - window[1]) // 2
    rows, columns = slice(top, top + window[0]), slice(left, left + window[1])
    return picture[rows, columns] if layout == "HWC" else picture[:, rows, columns]


@pytest.mark.parametrize("seed", range(COUNT))
def test_bytes_are_those_of_float32(seed):
    pick = random.Random(seed)
    height, width = (pick.choice([1, 2, 7, pick.randint(1, 60), pick.randint(1, 700)]) for _ in range(2))
    layout, channels = pick.choice(["HWC", "HWC", "CHW"]), pick.choice([1, 2, 3, 3, 3, 4])
    shape = (height, width, channels) if layout == "HWC" else (channels, height, width)
    picture = pictures(shape, pick.choice(["noise", "edges", "bright"]), seed)
    axis, extent = pick.choice("xy"), pick.choice([1, 224, pick.randint(1, 40), pick.randint(1, 300)])
    resize = {f"resize_{axis}": extent, "interp_type": pick.choice([types.INTERP_CUBIC, types.INTERP_LANCZOS3])}
    full = (height, extent) if axis == "x" else (extent, width)
    window = tuple(side if pick.random() < 0.5 else pick.randint(1, side) for side in full)
    whole = picture if layout == "HWC" else np.ascontiguousarray(picture.transpose(1, 2, 0))
    expected = np.asarray(fn.resize(whole, **resize, **ONE_AXIS))  # float32, without a stage
    expected = middle(rounded(expected), "HWC", window)
    normalize = channels in (1, 3) and pick.random() < 0.3
    made = in_a_stage(picture, layout, resize, window, normalize)
    if normalize:
        expected = ((expected.astype(np.float64) - 5) / 3).transpose(2, 0, 1)
        np.testing.assert_allclose(made, expected, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(made, expected if layout == "HWC" else expected.transpose(2, 0, 1))


@pytest.mark.parametrize("added", [0.25, 0.5, 1.5])
def test_another_number_than_a_half_is_added_in_float32(added):
    picture = pictures((50, 60, 3), "noise", 1)

    @pipeline_def(batch_size=1, num_threads=1, enable_conditionals=False)
    def prepare():
        images = fn.external_source(source=lambda: [picture], dtype=types.UINT8, layout="HWC")
        images = fn.resize(images, resize_x=31, interp_type=types.INTERP_CUBIC, **ONE_AXIS)
        return fn.cast(math.floor(images + added), dtype=types.UINT8)

    filtered = np.asarray(fn.resize(picture, resize_x=31, interp_type=types.INTERP_CUBIC, **ONE_AXIS))
    expected = np.clip(np.floor(filtered + np.float32(added)), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(np.asarray(prepare().run()[0][0]), expected)


def test_an_axis_that_keeps_its_extent_keeps_its_samples():
    """A weight of 1 and zeros: the sample itself, but NaN where a zero meets infinity."""
    for dtype in (np.uint8, np.int16):
        picture = pictures((20, 31, 3), "noise", 2).astype(dtype)
        made = np.asarray(fn.resize(picture, resize_x=31, resize_y=20, interp_type=types.INTERP_CUBIC, mode="stretch"))
        np.testing.assert_array_equal(made, picture)
        made = np.asarray(fn.resize(picture, resize_x=17, interp_type=types.INTERP_CUBIC, mode="stretch"))
        assert made.shape == (20, 17, 3)
    endless = np.zeros((5, 5, 1), np.float32)
    endless[2, 2] = np.inf
    made = np.asarray(fn.resize(endless, resize_x=3, interp_type=types.INTERP_CUBIC, mode="stretch"))
    assert not np.isfinite(made[2]).all()
