# SPDX-License-Identifier: Apache-2.0
# error: FunctionError: [python_function] '<lambda>' raised IndexError: list index out of range |   File LINE, in <lambda> |     return fn.python_function(x, n, function=lambda xs, ns: [a + b for a, b in zip(xs, ns[5])], batch_processing=True) |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.python_function(x, n, function=lambda xs, ns: [a + b for a, b in zip(xs, ns[5])], batch_processing=True)
