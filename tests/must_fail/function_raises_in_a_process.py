# SPDX-License-Identifier: Apache-2.0
# error: FunctionError: [python_function] 'find' raised KeyError: 1, for sample 1 of the batch (position 1 of epoch 0) |   File LINE, in find |     return {0: x}[int(x[0])] |   at LINE
from penstock import fn


def find(x):
    return {0: x}[int(x[0])]


def program(x, n, image):
    return fn.python_function(x, function=find, processes=True)
