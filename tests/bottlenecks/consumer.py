# SPDX-License-Identifier: Apache-2.0
"""The step of the loop takes 30 ms."""

import time

from penstock import fn, pipeline_def

VERDICT, BATCHES = "none", 20


@pipeline_def(batch_size=8)
def numbers():
    return fn.random.uniform(range=[0.0, 1.0], shape=[16])


def pipeline(folder):
    return numbers()


def step(batch):
    time.sleep(0.03)
