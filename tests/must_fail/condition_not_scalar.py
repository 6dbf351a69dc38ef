# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [if] a condition must be one number, got one of shape (4,) |   at LINE


def program(x, n, image):
    y = n
    if x > 2:
        y = n + 1
    return y
