# SPDX-License-Identifier: Apache-2.0
"""Images that are resampled to one size, each from its own window: for all but the first, a GPU stage writes only what
differs from the first. Batches in which one differs in more, and kernels that need more, give the same bytes."""

import numpy as np
import pytest

from penstock import Pipeline, _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

SIZES = {
    "photographs": [(37, 51), (64, 40), (45, 45), (90, 33)],
    "one too narrow for its taps": [(37, 51), (64, 1), (45, 45), (1, 33)],
    "one far larger": [(37, 51), (40, 900), (45, 45), (800, 33)],
    "all the same": [(37, 51)] * 4,
    "many": [(30 + k % 23, 25 + k % 19) for k in range(70)],
}


def batches(name):
    random = np.random.default_rng(5)
    return [[random.integers(0, 256, (h + k, w + 2 * k, 3), np.uint8) for h, w in SIZES[name]] for k in range(4)]


def outputs(device, data, body):
    given = iter(data)
    with Pipeline(batch_size=len(data[0]), num_threads=2, device_id=0, seed=11) as pipe:
        images = fn.external_source(lambda: next(given), layout="HWC", device=device)
        pipe.set_outputs(body(images))
    results = []
    for _ in data:
        (out,) = pipe.run()
        results.append([np.array(out[i].cpu() if device == "gpu" else out[i]) for i in range(len(data[0]))])
    return results


def training(images, **filters):
    images = fn.random_resized_crop(images, size=[12, 9], **filters)
    return fn.crop_mirror_normalize(
        images,
        mirror=fn.random.coin_flip(),
        mean=[120.0, 110.0, 100.0],
        std=[60.0, 50.0, 40.0],
        dtype=types.FLOAT16,
        output_layout="CHW",
    )


def region(images):
    return fn.resize(
        images,
        size=[14, 11],
        antialias=False,
        roi_start=fn.random.uniform(range=(0.6, 0.9), shape=[2]),
        roi_end=fn.random.uniform(range=(0.0, 0.4), shape=[2]),
        roi_relative=True,
    )


BODIES = {
    "linear": lambda x: training(x, antialias=False),
    "nearest": lambda x: training(x, interp_type=types.INTERP_NN),
    "antialiased": training,
    "cubic": lambda x: training(x, antialias=False, interp_type=types.INTERP_CUBIC),
    "mirrored first": lambda x: training(fn.flip(x, horizontal=fn.random.coin_flip()), antialias=False),
    "fewer pixels": lambda x: training(x, antialias=False, mag_filter=types.INTERP_NN),
    "cut": lambda x: fn.crop(
        fn.random_resized_crop(x, size=[12, 9], antialias=False),
        crop=(8, 8),
        crop_pos_x=fn.random.uniform(range=(0.0, 1.0)),
    ),
    "filled": lambda x: fn.crop(
        fn.random_resized_crop(x, size=[12, 9], antialias=False),
        crop=(14, 8),
        fill_values=7.0,
        crop_pos_x=fn.random.uniform(range=(0.0, 1.0)),
        out_of_bounds_policy="pad",
    ),
    "region": region,
    "gray": lambda x: training(x, antialias=False)[0:1],
}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("body", BODIES)
def test_as_on_the_cpu(body, sizes):
    data = batches(sizes)
    for here, there in zip(outputs("cpu", data, BODIES[body]), outputs("gpu", data, BODIES[body])):
        for a, b in zip(here, there):
            assert a.dtype == b.dtype and a.shape == b.shape
            assert a.tobytes() == b.tobytes()
