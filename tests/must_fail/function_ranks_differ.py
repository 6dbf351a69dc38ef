# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [python_function] '<lambda>' returned FLOAT with 2 dimensions for output 0 of sample 1 and FLOAT with 1 dimension for sample 0: the samples of a batch have one type and one number of dimensions |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.python_function(x, function=lambda v: v[None] if v[0] > 0 else v)
