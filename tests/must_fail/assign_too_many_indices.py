# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_assign] too many indices: dimension 1 of 1 dimensions |   at LINE


def program(x, n, image):
    x[0, 0] = n
    return x
