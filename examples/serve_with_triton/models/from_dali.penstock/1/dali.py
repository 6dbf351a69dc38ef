# SPDX-License-Identifier: Apache-2.0
"""A model as DALI's backend has it, unchanged: Penstock stands in for DALI where the server loads it."""

import nvidia.dali as dali
import nvidia.dali.types as types
from nvidia.dali.plugin.triton import autoserialize


@autoserialize
@dali.pipeline_def(batch_size=16, num_threads=2, device_id=None)
def from_dali():
    files = dali.fn.external_source(device="cpu", name="files", dtype=types.UINT8, ndim=1)
    images = dali.fn.decoders.image(files, device="cpu", output_type=types.RGB)
    return dali.fn.resize(images, size=[128, 128])
