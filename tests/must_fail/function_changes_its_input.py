# SPDX-License-Identifier: Apache-2.0
# error: FunctionError: [python_function] 'clear' raised ValueError: assignment destination is read-only, for sample 0 of the batch (position 0 of epoch 0) |   File LINE, in clear |     image[:] = 0 |   at LINE
from penstock import fn


def clear(image):
    image[:] = 0
    return image


def program(x, n, image):
    return fn.python_function(image, function=clear)
