# SPDX-License-Identifier: Apache-2.0
# error: TypeError: an index is a number, a slice, a value of the pipeline, newaxis or '...', not float


def program(x, n, image):
    return x[0.5]
