# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_fdiv] Integer division by zero. (sample 1 of epoch 0) |   at LINE


def program(x, n, image):
    if n > 2:
        n = n // (n - n)
    return n
