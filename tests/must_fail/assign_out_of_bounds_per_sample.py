# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_assign] index 4 is out of bounds for dimension 0 with 4 elements (sample 1 of epoch 0) |   at LINE


def program(x, n, image):
    x[n] = 1
    return x
