# SPDX-License-Identifier: Apache-2.0
"""A thumbnail of each picture, in a frame of one size, and the size of the picture."""

from penstock import fn, pipeline_def, types
from penstock.plugin.triton import autoserialize


@autoserialize
@pipeline_def(batch_size=32, num_threads=1)
def thumbnails():
    files = fn.external_source(name="files", dtype=types.UINT8, ndim=1)
    images = fn.decoders.image(files, output_type=types.RGB)
    small = fn.resize(images, size=[96, 96], mode="not_larger")
    return fn.paste(small, ratio=1, fill_value=255, min_canvas_size=96), fn.peek_image_shape(files)
