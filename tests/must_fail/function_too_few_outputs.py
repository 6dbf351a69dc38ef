# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [python_function] 'pair' returned 2 values for sample 0 of the batch where num_outputs is 3 |   at LINE
from penstock import fn


def pair(x):
    return x, x


def program(x, n, image):
    a, b, c = fn.python_function(x, function=pair, num_outputs=3)
    return a
