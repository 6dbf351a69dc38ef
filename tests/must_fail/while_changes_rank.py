# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [loop] the variable 'y' is float32 with 1 dimension before the loop and float32 with 0 dimensions after a trip; it must keep its type, number of dimensions and layout |   at LINE


def program(x, n, image):
    y = x
    while n > 0:
        y = y[0]
        n = n - 1
    return y
