# SPDX-License-Identifier: Apache-2.0
# error: FunctionError: [python_function] 'find' raised KeyError: 7, for sample 2 of the batch (position 2 of epoch 0) |   File LINE, in find |     return {}[int(x)] |   at LINE
from penstock import fn


def find(x):
    return {}[int(x)]


def program(x, n, image):
    y = n
    if n > 5:
        y = fn.python_function(n, function=find)
    return y
