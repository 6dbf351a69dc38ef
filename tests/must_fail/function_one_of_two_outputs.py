# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [python_function] 'one' returned ndarray for sample 0 of the batch where num_outputs=2 asks for a tuple |   at LINE
from penstock import fn


def one(x):
    return x


def program(x, n, image):
    return fn.python_function(x, function=one, num_outputs=2)[0]
