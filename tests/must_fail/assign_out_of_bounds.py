# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_assign] index 7 is out of bounds for dimension 0 with 4 elements (sample 0 of epoch 0) |   at LINE


def program(x, n, image):
    x[7] = n
    return x
