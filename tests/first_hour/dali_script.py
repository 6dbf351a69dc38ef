# SPDX-License-Identifier: Apache-2.0
"""The first hour of a user of DALI: the lines of public scripts that are most often seen, run by penstock.dali."""

import sys

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy
from nvidia.dali.plugin.triton import autoserialize

folder = sys.argv[1]


@pipeline_def(batch_size=4, num_threads=2, device_id=0, enable_conditionals=True)
def training():
    files, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader")
    images = fn.decoders.image_random_crop(files, device="mixed", output_type=types.RGB)
    images = fn.resize(images.gpu(), resize_x=32, resize_y=32, interp_type=types.INTERP_TRIANGULAR)
    if fn.random.coin_flip():
        images = 255 - images
    else:
        images = fn.cast(images, dtype=types.INT32)
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout=types.NCHW, crop=(28, 28), mean=[128.0] * 3, std=[64.0] * 3
    )
    return images, labels.gpu()


@autoserialize
@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def served():
    return fn.cast(types.Constant(np.float32([[1, 2]])), dtype=types.INT32) + types.Constant(3).uint8()


batches = list(DALIClassificationIterator(training(), reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL))
print("batches", len(batches), tuple(batches[0][0]["data"].shape), tuple(batches[0][0]["label"].shape))
text = served().serialize()
again = Pipeline(batch_size=2, num_threads=1, device_id=None)
again.deserialize_and_build(text)
print("served", np.array(again.run()[0].at(0)).tolist())
