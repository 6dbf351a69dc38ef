# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [python_function] 'first' returned 1 samples for output 0, the batch has 3 |   at LINE
from penstock import fn


def first(xs):
    return xs[:1]


def program(x, n, image):
    return fn.python_function(x, function=first, batch_processing=True)
