# SPDX-License-Identifier: Apache-2.0
# error: TypeError: a value without dimensions cannot be iterated |   at LINE


def program(x, n, image):
    total = 0
    for v in n:
        total = total + v
    return total
