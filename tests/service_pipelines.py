# SPDX-License-Identifier: Apache-2.0
"""Pipelines of the tests of penstock.service, which `penstock serve` loads by the name of this file."""

import zlib

import numpy as np
from penstock import fn, pipeline_def, types


def checksum(batches):
    """Sums the bytes, shapes, types, layouts and names of the outputs of a batch."""
    value = 0
    for batch in batches.values() if isinstance(batches, dict) else batches:
        facts = f"{batch.shape()} {batch.dtype.name} {batch.layout()} {batch.sources()} {batch.ndim()}".encode()
        value = zlib.crc32(facts, value)
        for k in range(len(batch)):
            value = zlib.crc32(np.ascontiguousarray(batch.at(k)), value)
    return value


def checksums(source, count):
    return [checksum(source.run()) for _ in range(count)]


@pipeline_def(batch_size=4, num_threads=1, seed=7)
def numbers(size=30, scale=1.0):
    """Shapes that are alike, unlike, of no dimension and with nothing in them."""
    index = fn.readers.indices(size=size, random_shuffle=True, name="reader")
    draws = fn.random.uniform(range=[0.0, 1.0], shape=[3, 5]) * scale
    unlike = fn.slice(
        draws,
        start=[0, 0],
        shape=fn.cast(fn.random.uniform(range=[0.0, 3.4], shape=[2]), dtype=types.INT32),
        axes=[0, 1],
    )
    return index, draws, unlike


@pipeline_def(batch_size=4, num_threads=1, seed=5)
def photos(root):
    encoded, label = fn.readers.file(file_root=root, random_shuffle=True, name="reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=[32, 24])
    return {"images": images, "labels": label, "whole": fn.decoders.image(encoded)}


@pipeline_def(batch_size=3, num_threads=1, seed=1)
def every_type():
    index = fn.readers.indices(size=12, name="reader")
    kinds = [types.UINT8, types.UINT16, types.UINT32, types.UINT64, types.INT8, types.INT16, types.INT32, types.INT64]
    kinds += [types.FLOAT16, types.FLOAT, types.FLOAT64, types.BOOL]
    return tuple(fn.cast(index, dtype=kind) for kind in kinds)


@pipeline_def(batch_size=2, num_threads=1, seed=1)
def finite():
    def sample(info):
        if info.idx_in_epoch >= 6:
            raise StopIteration
        return np.int32([info.idx_in_epoch])

    return fn.external_source(sample, batch=False, name="numbers")
