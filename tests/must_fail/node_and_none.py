# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the variable 'y' is a value of the pipeline where the condition is true and None (NoneType) where it is false; only values of the pipeline and numbers may differ |   at LINE


def program(x, n, image):
    y = None
    if n > 2:
        y = n
    return y
