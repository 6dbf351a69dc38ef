# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [loop] the variable 'total' is int32 with 0 dimensions before the loop and float32 with 0 dimensions after a trip; it must keep its type, number of dimensions and layout |   at LINE


def program(x, n, image):
    total = 0
    for k in range(n):
        total = total + k * 0.5
    return total
