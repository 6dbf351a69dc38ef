# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_add] DataNode('__random_uniform_0', output 0) belongs to another pipeline |   at LINE
from penstock import Pipeline, fn, types


def program(x, n, image):
    other = Pipeline(batch_size=3)
    with other:
        m = fn.random.uniform(range=[0, 5], dtype=types.INT32)
    if n > 2:
        n = n + m
    return n
