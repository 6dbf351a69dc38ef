# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [python_function] 'show' returned NoneType for output 0 of sample 0: expected an array |   at LINE
from penstock import fn


def show(x):
    x.sum()


def program(x, n, image):
    return fn.python_function(x, function=show)
