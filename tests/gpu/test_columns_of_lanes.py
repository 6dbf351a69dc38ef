# SPDX-License-Identifier: Apache-2.0
"""Resizes on a GPU whose lanes have neighboring columns and exchange bytes to store words: the CPU's bytes."""

import numpy as np
import pytest

import penstock
from penstock import fn, types

# Results of several tiles, of less than a warp's columns, whose rows begin at words or do not.
SIZES = [((90, 211), (70, 100)), ((41, 67), (33, 129)), ((30, 50), (9, 7)), ((5, 301), (65, 32)), ((2, 2), (3, 66))]
NORMALIZED = {"mean": [120.0, 110.0, 100.0], "std": [60.0, 50.0, 40.0]}
AFTER = {
    "nothing": lambda x: x,
    "planes": lambda x: fn.crop_mirror_normalize(x, dtype=types.FLOAT16, output_layout="CHW", mirror=1, **NORMALIZED),
}


def outputs(device, images, size, kind, after):
    with penstock.Pipeline(batch_size=2, num_threads=1, device_id=0) as pipe:
        x = fn.external_source(lambda: images, layout="HWC", device=device)
        resized, flipped = (
            fn.resize(y, size=size, interp_type=kind, antialias=False) for y in (x, fn.flip(x, vertical=1))
        )
        pipe.set_outputs(after(resized), after(flipped))
    return [np.array(y.as_cpu()[i]) for y in pipe.run() for i in range(2)]


@pytest.mark.parametrize(
    "dtype, kind, after",
    [(d, k, a) for d, k in (("uint8", "nearest"), ("uint8", "linear")) for a in AFTER]
    + [("float32", "nearest", "nothing")],
)
def test_as_on_the_cpu(dtype, kind, after):
    random = np.random.default_rng(5)
    for source, size in SIZES:
        images = [random.integers(0, 256, (*source, 3)).astype(dtype) for _ in range(2)]
        made, expected = (outputs(device, images, size, kind, AFTER[after]) for device in ("gpu", "cpu"))
        for a, b in zip(made, expected, strict=True):
            np.testing.assert_array_equal(a, b, f"{source} to {size}")
