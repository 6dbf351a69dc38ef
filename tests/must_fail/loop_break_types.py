# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [if] the variable 'y' is float32 with 0 dimensions where the condition is true and int32 with 0 dimensions where it is false; both must have one type, number of dimensions and layout; fn.cast(x, dtype='int32') converts |   at LINE


def program(x, n, image):
    y = n
    for k in range(5):
        if k > n:
            y = y * 0.5
            break
    return y
