# SPDX-License-Identifier: Apache-2.0
"""One thread where the process may use more cores."""

import numpy as np
from penstock import fn, pipeline_def

VERDICT, BATCHES = "threads", 10
FRAME = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)


@pipeline_def(batch_size=8, num_threads=1)
def images():
    return fn.gaussian_blur(fn.external_source(lambda number: [FRAME] * 8), window_size=15)


def pipeline(folder):
    return images()
