# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [if] the variable 'y' is float32 with 1 dimension where the condition is true and float32 with 0 dimensions where it is false; both must have one type, number of dimensions and layout |   at LINE


def program(x, n, image):
    if n > 2:
        y = x
    else:
        y = x[0]
    return y
