# SPDX-License-Identifier: Apache-2.0
"""A python_function that takes 5 ms for each sample."""

import time

from penstock import fn, pipeline_def, types

VERDICT, BATCHES = "function", 12


def look_up(x):
    time.sleep(0.005)
    return x + 1


@pipeline_def(batch_size=8)
def numbers():
    x = fn.random.uniform(range=[0.0, 1.0], shape=[16], dtype=types.FLOAT)
    return fn.python_function(x, function=look_up)


def pipeline(folder):
    return numbers()
