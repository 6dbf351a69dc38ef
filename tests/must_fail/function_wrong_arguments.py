# SPDX-License-Identifier: Apache-2.0
# error: FunctionError: [python_function] 'two' raised TypeError: two() missing 1 required positional argument: 'y', for sample 0 of the batch (position 0 of epoch 0) |   at LINE
from penstock import fn


def two(x, y):
    return x + y


def program(x, n, image):
    return fn.python_function(x, function=two)
