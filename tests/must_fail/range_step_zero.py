# SPDX-License-Identifier: Apache-2.0
# error: ValueError: range() arg 3 must not be zero


def program(x, n, image):
    total = 0
    for k in range(0, n, 0):
        total = total + k
    return total
