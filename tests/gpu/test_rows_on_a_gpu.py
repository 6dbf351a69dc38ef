# SPDX-License-Identifier: Apache-2.0
"""Kernels that read rows by words or as vectors: rows at any address, edges of tiles and large windows give the CPU's bytes."""

import numpy as np
import pytest

import penstock
from penstock import _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

SHAPES = [(1, 1, 3), (5, 4, 3), (37, 171, 3), (64, 64, 3), (130, 260, 3)]


def images(dtype, shapes=SHAPES):
    random = np.random.default_rng(8)
    made = [(random.random(shape) * 200 - (100 if dtype[0] != "u" else 0)).astype(dtype) for shape in shapes]
    if dtype[0] == "f":
        for x in made:
            x[random.random(x.shape) < 0.1] *= -0.0
    return penstock.batch(made, layout="HWC")


def compare(call, *batches):
    for a, b in zip(call(*batches), call(*(x.gpu() for x in batches)).cpu(), strict=True):
        assert a.numpy().shape == b.numpy().shape
        assert a.numpy().tobytes() == b.numpy().tobytes()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 3, 9, (5, 31), 70])
def test_folds(dtype, size):
    compare(lambda x: fn.dilate(x, mask_size=size), images(dtype))
    compare(lambda x: fn.erode(x, mask_size=size), images(dtype))


def test_a_fold_keeps_a_nan_that_is_seen_first():
    x = [a.numpy().copy() for a in images("float32")]
    for a in x:
        a[np.random.default_rng(2).random(a.shape) < 0.02] = np.nan
    x = penstock.batch(x, layout="HWC")
    for size in (3, 5):
        compare(lambda x, size=size: fn.dilate(x, mask_size=size), x)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16", "float32"])
def test_small_windows(dtype):
    compare(lambda x: fn.laplacian(x, window_size=3), images(dtype))
    compare(lambda x: fn.laplacian(x, window_size=3, dtype="float32"), images(dtype))
    compare(lambda x: fn.median_blur(x, window_size=3), images(dtype))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_transposes_and_joins(dtype):
    x, y = images(dtype), images(dtype, [(*s[:2], 2) for s in SHAPES])
    for perm in ([1, 0, 2], [2, 1, 0], [2, 0, 1], [1, 2, 0], [0, 2, 1]):
        compare(lambda x, perm=perm: fn.transpose(x, perm=perm), x)
    compare(lambda x, y: fn.cat(x, y, axis=2), x, y)
    compare(lambda x, y: fn.cat(x, y, x, axis=1), x, x)
    for axis in (2, 3):
        compare(lambda x, axis=axis: fn.stack(x, x, x, axis=axis), x)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_grids(dtype):
    for angle in (0.0, 0.2, np.pi / 4):
        compare(lambda x, angle=angle: fn.grid_mask(x, tile=7, ratio=0.4, angle=angle, shift_x=0.5), images(dtype))


def test_counts_and_blocks_of_bytes():
    x = images("uint8")
    compare(lambda x: fn.histogram(x), x)
    compare(lambda x: fn.histogram(x, num_bins=17, range=(20, 200)), x)
    compare(lambda x: fn.equalize(x), x)
    compare(lambda x: fn.jpeg_compression_distortion(x, quality=30), x)
    compare(lambda x: fn.flip(x, horizontal=0, vertical=1), x)
