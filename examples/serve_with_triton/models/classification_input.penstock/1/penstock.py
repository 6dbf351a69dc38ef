# SPDX-License-Identifier: Apache-2.0
"""Files of pictures become the input of a classifier. The model needs no config.pbtxt: the name of its folder ends with the
name of the backend, and types and shapes come from the pipeline."""

from penstock import fn, pipeline_def, types
from penstock.plugin.triton import autoserialize


@autoserialize
@pipeline_def(batch_size=64, num_threads=4)
def classification_input():
    images = fn.decoders.image(fn.external_source(name="files", dtype=types.UINT8, ndim=1), output_type=types.RGB)
    images = fn.resize(images, resize_shorter=256)
    return fn.crop_mirror_normalize(
        images,
        crop=(224, 224),
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[123.675, 116.28, 103.53],
        std=[58.395, 57.12, 57.375],
    )
