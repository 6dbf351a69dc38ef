# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_assign] the step of dimension 0 must not be 0 (sample 0 of epoch 0) |   at LINE


def program(x, n, image):
    x[::0] = n
    return x
