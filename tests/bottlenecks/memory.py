# SPDX-License-Identifier: Apache-2.0
"""Frames of 3840 x 2160 that become float32."""

import numpy as np
from penstock import fn, pipeline_def, types

VERDICT, BATCHES = "memory", 5
FRAME = np.random.default_rng(0).integers(0, 256, (2160, 3840, 3), np.uint8)


@pipeline_def(batch_size=2)
def frames():
    pixels = fn.external_source(lambda number: [FRAME] * 2)
    return fn.cast(pixels, dtype=types.FLOAT)


def pipeline(folder):
    return frames()
