# SPDX-License-Identifier: Apache-2.0
"""sobel, letterbox and roi_align in pipelines on a GPU, and encoders, whose pixels come to the host first."""

import numpy as np
import pytest

import penstock
from penstock import Pipeline, _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

RANDOM = np.random.default_rng(0)
PICTURES = [RANDOM.integers(0, 256, (h, w, 3), np.uint8) for h, w in ((37, 53), (1, 70), (130, 64))]


def outputs_of(program, **options):
    pipe = Pipeline(batch_size=3, num_threads=1, device_id=0, **options)
    with pipe:
        pipe.set_outputs(*program(fn.external_source(lambda: PICTURES, batch=True, layout="HWC").gpu()))
    return pipe, pipe.run()


def test_encoders_get_pixels_of_a_gpu():
    pipe, (jpeg, png) = outputs_of(lambda x: (fn.encoders.jpeg(fn.flip(x)), fn.encoders.png(x)))
    kinds = [line.split(":")[0] for line in pipe.plan().strip().splitlines()]
    assert kinds.count("transfer") >= 2, pipe.plan()  # to the GPU, and back for the encoders
    for i, x in enumerate(PICTURES):
        np.testing.assert_array_equal(np.asarray(jpeg.cpu()[i]), fn.encoders.jpeg(fn.flip(x)))
        np.testing.assert_array_equal(np.asarray(png.cpu()[i]), fn.encoders.png(x))
    on_gpu = penstock.batch(PICTURES, layout="HWC").gpu()
    np.testing.assert_array_equal(np.asarray(fn.encoders.jpeg(on_gpu).cpu()[0]), fn.encoders.jpeg(PICTURES[0]))


def test_letterboxes_and_derivatives_are_those_of_the_cpu():
    def program(x):
        boxed, extents = fn.letterbox(x, size=[64, 96], save_attrs=True)
        row = fn.letterbox_placement(extents, size=[64, 96])
        return boxed, row, fn.sobel(boxed, dx=1, dy=1, window_size=5), fn.sobel(x, scale=0.3, window_size=7)

    for k, out in enumerate(outputs_of(program)[1]):
        for i, x in enumerate(PICTURES):
            np.testing.assert_array_equal(np.asarray(out.cpu()[i]), np.asarray(program(x)[k]))


@pytest.mark.parametrize("dtype", ["float32", "int16"])
@pytest.mark.parametrize(
    "given", [{"window_size": 5, "dx": 1, "dy": 1, "border": "constant"}, {"window_size": 7, "scale": 0.3}]
)
def test_derivatives_along_one_axis_after_the_other(dtype, given):
    """A low image, whose sums are made at once, lies between two others."""
    batch = penstock.batch([x.astype(dtype) for x in PICTURES], layout="HWC")
    for cpu, gpu in zip(fn.sobel(batch, **given), fn.sobel(batch.gpu(), **given).cpu(), strict=True):
        np.testing.assert_array_equal(gpu.numpy(), cpu.numpy())
