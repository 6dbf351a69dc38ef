# SPDX-License-Identifier: Apache-2.0
# error: FunctionError: [python_function] 'refuse' raised ValueError: no 5, for sample 1 of the batch (position 1 of epoch 0) |   File LINE, in refuse |     raise ValueError(f"no {x[0] + 4:g}") |   at LINE
from penstock import fn


def refuse(x):
    if x[0] == 1:
        raise ValueError(f"no {x[0] + 4:g}")
    return x


def program(x, n, image):
    return fn.python_function(x, function=refuse)
