# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the body of a loop over 1 values returned 2 |   at LINE
from penstock import control


def program(x, n, image):
    n, = control.while_(lambda v: v < 3, lambda v: (v, v), (n,))
    return n
