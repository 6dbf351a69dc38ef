# SPDX-License-Identifier: Apache-2.0
"""Two ranks that meet after each batch; rank 1 has slower storage."""

import time

import numpy as np
from penstock import fn, pipeline_def

VERDICT, BATCHES = "source", 12
RANK = 1


@pipeline_def(batch_size=4)
def images(rank):
    def load(info):
        time.sleep(0.01 if rank else 0.0005)
        return np.zeros((8, 8, 3), np.uint8)

    return fn.external_source(load, batch=False)


def pipeline(folder):
    return images(RANK)
