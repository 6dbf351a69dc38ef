# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_subscript] index 4 is out of bounds for dimension 0 with 4 elements (sample 0 of epoch 0) |   at LINE


def program(x, n, image):
    return x[n + 3]
