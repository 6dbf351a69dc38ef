# SPDX-License-Identifier: Apache-2.0
"""Copies of any strides on a GPU: those of one rank and type have several kernels, and each copy takes its own."""

import numpy as np
import pytest

import penstock
from penstock import fn

WINDOWS = [
    (slice(None), slice(None, None, -1)),
    (slice(None), slice(None, None, 2)),
    (slice(None, None, -1), slice(None)),
    (slice(None, None, 2), slice(1, 9, 3)),
    (slice(1, None), slice(1, -1)),
    (slice(None, None, -2), slice(None, None, -3), slice(None, None, -1)),
]


@pytest.mark.parametrize("first", range(len(WINDOWS)))
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_windows_of_images_are_numpys_whichever_comes_first(dtype, first):
    rng = np.random.default_rng(first)
    images = [rng.integers(0, 256, (h, w, 3)).astype(dtype) for h, w in [(6, 37), (9, 300), (5, 515)]]
    windows = WINDOWS[first:] + WINDOWS[:first]

    @penstock.pipeline_def(batch_size=len(images), num_threads=1, device_id=0)
    def cut():
        given = fn.external_source(source=lambda: images, batch=True, layout="HWC").gpu()
        return tuple(given[window] for window in windows)

    for window, found in zip(windows, cut().run(), strict=True):
        for image, sample in zip(images, found.cpu(), strict=True):
            np.testing.assert_array_equal(np.asarray(sample), image[window])


@pytest.mark.parametrize("shift", range(5))
def test_rows_of_bytes_begin_and_end_anywhere(shift):
    rng = np.random.default_rng(shift)
    images = [rng.integers(0, 256, (h, w, 3), dtype=np.uint8) for h, w in [(3, 44), (4, 343), (2, 800), (5, 1025)]]
    batch = penstock.batch(images, layout="HWC").gpu()
    turned = fn.flip(batch, horizontal=0, vertical=1)
    for image, sample in zip(images, turned.cpu(), strict=True):
        np.testing.assert_array_equal(np.asarray(sample), image[::-1])
    for width in (43 - shift, 40):
        cut = fn.slice(batch, start=[1, shift], shape=[1, width - shift], axes=[0, 1])
        for image, sample in zip(images, cut.cpu(), strict=True):
            np.testing.assert_array_equal(np.asarray(sample), image[1:2, shift:width])


def test_numbers_that_an_operator_reads_on_the_host_may_have_gaps():
    """Beside a picture on the GPU: labels in each second place were read as if they had no gaps, and past the end."""
    labels = np.full(12, 99, np.int32)[::-2]
    labels[...] = np.arange(6)
    boxes = np.tile(np.float32([0.1, 0.1, 0.6, 0.7]), (6, 1))
    picture = penstock.batch([np.zeros((16, 33, 3), np.uint8)] * 5, layout="HWC")
    given = penstock.batch([boxes] * 5), penstock.batch([labels] * 5)
    on_cpu = fn.ssd_random_crop(picture, *given, seed=5)[2]
    on_gpu = fn.ssd_random_crop(picture.gpu(), *given, seed=5)[2].cpu()
    for a, b in zip(on_cpu, on_gpu, strict=True):
        np.testing.assert_array_equal(b.numpy(), a.numpy())
    assert max(len(t.numpy()) for t in on_cpu) > 1
