# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_assign] a value of shape (4,) does not fit a part of shape (2,) (sample 0 of epoch 0) |   at LINE


def program(x, n, image):
    x[0:2] = x
    return x
