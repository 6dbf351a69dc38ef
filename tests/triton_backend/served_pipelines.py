# SPDX-License-Identifier: Apache-2.0
"""Pipelines that the tests serve, and their files."""

import functools

import numpy as np
from image_files import saved
from penstock import fn, pipeline_def, types


@functools.cache
def photograph(i, height=None, width=None):
    """JPEG bytes of a picture; pictures of unlike i differ in size and content."""
    height, width = height or 40 + 3 * (i % 17), width or 50 + 5 * (i % 13)
    y, x = np.mgrid[:height, :width]
    pixels = np.stack([(x * (3 + i) + i * 7) % 256, (y * 2 + i) % 256, (x + y) % 256], -1).astype(np.uint8)
    return saved(pixels, "JPEG", quality=90)


def photographs(count, first=0):
    return [photograph(first + i) for i in range(count)]


@pipeline_def(batch_size=64, num_threads=2)
def classification(size=32):
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))
    images = fn.resize(images, size=[size, size])
    return fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4]
    )


@pipeline_def(batch_size=16, num_threads=2)
def decoded():
    """The picture itself, of any size, and its shape."""
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))
    return images, fn.shapes(images)


def of_pipeline(pipeline, **batches):
    """What the pipeline gives in this process: a list of arrays for each output."""
    for name, batch in batches.items():
        batch = [np.frombuffer(b, np.uint8) if isinstance(b, bytes) else b for b in batch]
        pipeline.feed_input(name, batch)
    return [[np.array(t) for t in output.as_cpu()] for output in pipeline.run()]
