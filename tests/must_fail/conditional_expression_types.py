# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [if] the conditional expression is int32 with 0 dimensions where the condition is true and float32 with 0 dimensions where it is false; both must have one type, number of dimensions and layout; fn.cast(x, dtype='float32') converts |   at LINE


def program(x, n, image):
    return n if n > 2 else n * 0.5
