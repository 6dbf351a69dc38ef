# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the variable 'mode' is 'up' (str) where the condition is true and 'down' (str) where it is false; only values of the pipeline and numbers may differ |   at LINE
from penstock import fn, types


def program(x, n, image):
    if n > 2:
        mode = "up"
    else:
        mode = "down"
    return n, fn.cast(n, dtype=types.FLOAT) if mode == "up" else n
