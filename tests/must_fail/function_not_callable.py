# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [python_function] function must be callable, got int |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.python_function(x, function=3)
