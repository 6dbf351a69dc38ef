# SPDX-License-Identifier: Apache-2.0
"""Limits and NaN, as tests/test_limits.py states them for the CPU."""

import math

import numpy as np
import pytest

import penstock
from penstock import Pipeline, _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

IMAGE = np.random.default_rng(0).integers(0, 256, (500, 500, 3), np.uint8)


def run(make, count=1, **options):
    pipe = Pipeline(**{"batch_size": count, "num_threads": 2, "prefetch_queue_depth": 1, "device_id": 0, **options})
    with pipe:
        images = fn.external_source(lambda: [IMAGE] * count, batch=True, layout="HWC", device="gpu")
        pipe.set_outputs(make(images))
    return pipe.run()[0]


# --- memory_limit -------------------------------------------------------------------------------------------------------

LARGE = {
    "stage": lambda x: fn.resize(x, size=[1024, 1024]),
    "two operators": lambda x: fn.cast(fn.resize(x, size=[600, 600]), dtype=types.FLOAT),
    "each its size": lambda x: fn.resize(x, resize_shorter=fn.random.uniform(range=(1000.0, 1024.0))),
    "whole": lambda x: fn.cat(x, x, x, x, axis=0),
    "back": lambda x: fn.resize(x, size=[1024, 1024]).cpu(),
    "in a body": lambda x: fn.filter(fn.resize(x, size=[1024, 1024]), fn.random.coin_flip(probability=1.0)),
    "drawn": lambda x: fn.random.uniform(shape=[1000000], device="gpu"),
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("count", [1, 3])
def test_memory_limit_is_asked_before_memory_of_the_gpu_is_taken(make, count, request):
    limit = 3 * 2**20 * count
    if "emulated" in _core.gpu_name(0):
        order = request.getfixturevalue("order")
    with pytest.raises(MemoryError, match=rf"\[.*memory_limit of {limit - 2**19}") as told:
        run(make, count, memory_limit=limit - 2**19)
    assert "test_limits_on_a_gpu.py" in str(told.value)
    if "emulated" in _core.gpu_name(0):
        taken = [int(line.split("allocate ")[1].split()[0]) for line in order() if "allocate" in line]
        assert all(size < limit - 2**19 for size in taken), taken
    run(make, count, memory_limit=8 * limit)


def test_memory_limit_of_pictures_that_a_gpu_decodes(tmp_path):
    from PIL import Image

    for k in range(3):
        Image.fromarray(np.full((700, 800, 3), 9 * k, np.uint8)).save(tmp_path / f"{k}.jpg")

    def decoded(limit):
        pipe = Pipeline(batch_size=3, num_threads=2, prefetch_queue_depth=1, device_id=0, memory_limit=limit)
        with pipe:
            files = fn.readers.file(files=[str(tmp_path / f"{k}.jpg") for k in range(3)])[0]
            pipe.set_outputs(fn.decoders.image(files, device="mixed"))
        return pipe.run()[0]

    bytes_of_batch = 3 * 700 * 800 * 3
    with pytest.raises(MemoryError, match=r"\[decoders.image\].*memory_limit"):
        decoded(bytes_of_batch - 1000)
    assert len(decoded(4 * bytes_of_batch)) == 3


# --- NaN in arguments --------------------------------------------------------------------------------------------------

# Arguments whose values may lie on the GPU (Schema::gpu_arguments); fill_value is data.
THERE = [
    ("brightness", "brightness"),
    ("brightness", "brightness_shift"),
    ("contrast", "contrast"),
    ("contrast", "contrast_center"),
    ("brightness_contrast", "brightness"),
    ("brightness_contrast", "brightness_shift"),
    ("brightness_contrast", "contrast"),
    ("brightness_contrast", "contrast_center"),
    ("hue", "hue"),
    ("saturation", "saturation"),
    ("hsv", "hue"),
    ("hsv", "saturation"),
    ("hsv", "value"),
    ("color_twist", "brightness"),
    ("color_twist", "contrast"),
    ("color_twist", "hue"),
    ("color_twist", "saturation"),
    ("normalize", "mean"),
    ("normalize", "stddev"),
]


def numbers(bad):
    values = [np.float32(1), np.float32(0.5), np.float32(2)]
    if bad is not None:
        values[bad] = np.float32(math.nan)
    return values


def called_and_piped(name, argument, device):
    """The operator with these numbers, in a call and in a pipeline."""
    operator, shape = getattr(fn, name), (1, 1, 1) if name == "normalize" else ()

    def called(bad, **more):
        values = penstock.batch([np.full(shape, v, np.float32) for v in numbers(bad)])
        images = penstock.batch([IMAGE[:8, :9]] * 3, layout="HWC").gpu()
        return operator(images, **{argument: values.gpu() if device == "gpu" else values}, **more)

    def piped(bad, **more):
        def make(images):
            values = fn.external_source(
                lambda: [np.full(shape, v, np.float32) for v in numbers(bad)], batch=True, device=device
            )
            return operator(images[:8, :9], **{argument: values}, **more)

        return run(make, 3)

    return called, piped


@pytest.mark.parametrize("name, argument", THERE)
def test_nan_for_a_sample_is_refused(name, argument):
    for form in called_and_piped(name, argument, "cpu"):
        form(None)
        for bad in (0, 2):
            with pytest.raises(
                ValueError, match=f"{argument} must be (a number|at least .*|greater than .*), got nan for sample {bad}"
            ):
                form(bad)


@pytest.mark.parametrize("name, argument", THERE)
def test_nan_on_the_gpu_gives_nan_in_the_result(name, argument):
    """Nothing waits to check it: the sample is NaN, and 0 as an integer; the others are as they are without it."""
    for form in called_and_piped(name, argument, "gpu"):
        for dtype in (types.FLOAT, types.UINT8):
            want, got = ([np.array(x) for x in form(bad, dtype=dtype).cpu()] for bad in (None, 1))
            assert np.isnan(got[1]).all() if dtype == types.FLOAT else not got[1].any()
            np.testing.assert_array_equal(got[0], want[0])
            np.testing.assert_array_equal(got[2], want[2])
