# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the bounds of range() are integers, not FLOAT |   at LINE


def program(x, n, image):
    total = 0
    for k in range(n * 0.5):
        total = total + k
    return total
