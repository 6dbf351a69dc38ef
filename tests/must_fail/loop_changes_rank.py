# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [loop] the variable 'y' is int32 with 0 dimensions before the loop and int32 with 1 dimension after a trip; it must keep its type, number of dimensions and layout |   at LINE
from penstock import fn


def program(x, n, image):
    y = n
    for k in range(n):
        y = fn.stack(y, y)
    return y
