# SPDX-License-Identifier: Apache-2.0
"""A call of every random operator of the registry, for the tests of what they draw."""

import io

import numpy as np

import penstock
from penstock import _core

SIZE = 16
RANDOM = [n for n in _core.operators(True) if _core.operator_schema(n)["random"]]


def _jpeg():
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(_image()).save(file, "JPEG", quality=95)
    return np.frombuffer(file.getvalue(), np.uint8)


def _image():
    y, x = np.mgrid[0:40, 0:56]
    return np.stack([y * 6, x * 4, (x * y) % 251], -1).astype(np.uint8)


def _objects():
    labels = np.zeros((20, 30), np.int32)
    for k in range(12):
        labels[5 * (k // 4) : 5 * (k // 4) + 3, 7 * (k % 4) : 7 * (k % 4) + 4] = k + 1
    return labels


_BOXES = np.array([[0.1, 0.1, 0.6, 0.7], [0.4, 0.3, 0.9, 0.8]], np.float32)

# (the inputs of one sample, the arguments). An operator that is not here fails its tests.
CALLS = {
    "batch_permutation": ([], {}),
    "decoders.image_random_crop": ([_jpeg()], {}),
    "elastic_transform": ([_image()], {}),
    "jitter": ([_image()], {}),
    "noise.gaussian": ([_image()], {"stddev": 20.0}),
    "noise.salt_and_pepper": ([_image()], {"prob": 0.3}),
    "noise.shot": ([_image()], {"factor": 10.0}),
    "noise.speckle": ([_image()], {"stddev": 0.3}),
    "random.beta": ([np.zeros((5,), np.float32)], {}),
    "random.choice": ([np.arange(1000, dtype=np.int32), np.zeros((5,), np.float32)], {}),
    "random.coin_flip": ([np.zeros((64,), np.float32)], {}),
    "random.normal": ([np.zeros((5,), np.float32)], {}),
    "random.uniform": ([np.zeros((5,), np.float32)], {}),
    "random_bbox_crop": ([_BOXES], {"scaling": [0.3, 1.0], "thresholds": [0.0]}),
    "random_crop_generator": ([np.array([400, 600, 3], np.int64)], {}),
    "random_resized_crop": ([_image()], {"size": [13, 17]}),
    "roi_random_crop": ([_image()], {"crop_shape": [4, 5], "roi_start": [0, 0], "roi_shape": [40, 56]}),
    "segmentation.random_mask_pixel": ([np.ones((40, 56), np.uint8)], {}),
    "segmentation.random_object_bbox": ([_objects()], {}),
    "spec_augment": ([np.ones((40, 60), np.float32)], {}),
    "griffin_lim": ([np.ones((9, 7), np.float32)], {"n_iter": 2}),
    "time_warp": ([np.outer(np.arange(3.0), np.arange(60.0)).astype(np.float32)], {"max_shift": 20}),
    "ssd_random_crop": ([_image(), _BOXES, np.array([1, 2], np.int32)], {}),
}


def layouts(name):
    return ["HWC" if x.ndim == 3 else "" for x in CALLS[name][0]]


def batches(name):
    return [penstock.batch([x] * SIZE, layout=layout) for x, layout in zip(CALLS[name][0], layouts(name))]


def call(name, inputs, **more):
    """The results, in a list."""
    if not inputs and more.pop("immediate", False):
        more["batch_size"] = SIZE
    more.pop("immediate", None)
    out = _core.operator_function(name)(*inputs, **CALLS[name][1], **more)
    return list(out) if isinstance(out, (tuple, list)) else [out]


def bytes_of(outputs):
    """What the samples of several batches hold, comparable."""
    return [(t.shape(), t.numpy().tobytes()) for b in outputs for t in b.cpu()]
