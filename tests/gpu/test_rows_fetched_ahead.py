# SPDX-License-Identifier: Apache-2.0
"""Linear and nearest resizes of float32 on a GPU, whose rows come to shared memory ahead: the CPU's bytes.

With antialiasing an output reads more samples, by the kernels of any number of taps.
"""

import numpy as np
import penstock
import pytest
from penstock import fn, types

# Height and width of the source, then of the result: rows of the source whole and only their taps, rows that begin at no
# vector's address, results of less than a tile and of several, one row, one column, enlarged images.
SIZES = [
    ((37, 150), (19, 67)),
    ((50, 131), (33, 40)),
    ((90, 1201), (9, 70)),
    ((40, 700), (70, 129)),
    ((21, 33), (64, 100)),
    ((1, 45), (5, 20)),
    ((30, 1), (7, 3)),
    ((5, 6), (1, 1)),
]


def batch(images, device):
    made = penstock.batch(images, layout="HWC")
    return made.gpu() if device == "gpu" else made


@pytest.mark.parametrize("interpolation", ["INTERP_LINEAR", "INTERP_NN"])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_as_on_the_cpu(interpolation, channels, antialias):
    numbers = np.random.default_rng(channels)
    for source, size in SIZES:
        images = [numbers.random((*source, channels), np.float32) for _ in range(2)]
        images[0][source[0] // 2, source[1] // 2] = np.nan

        def call(device):
            resized = fn.resize(
                batch(images, device), size=size, interp_type=getattr(types, interpolation), antialias=antialias
            )
            return [np.asarray(sample) for sample in resized.as_cpu()]

        for made, expected in zip(call("gpu"), call("cpu"), strict=True):
            np.testing.assert_array_equal(made, expected)


def test_flipped_and_planar():
    images = [np.random.default_rng(3).random((61, 97, 3), np.float32)]

    def call(device):
        resized = fn.resize(batch(images, device), size=(40, 66), antialias=False)
        flipped = fn.flip(batch(images, device))
        small = fn.resize(flipped, size=(30, 31), antialias=False)
        planar = fn.crop_mirror_normalize(resized, output_layout="CHW", mirror=1)
        return [np.asarray(batch.as_cpu()[0]) for batch in (small, planar)]

    for made, expected in zip(call("gpu"), call("cpu"), strict=True):
        np.testing.assert_array_equal(made, expected)
