# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the returned value is a value of the pipeline where the condition is true and None (NoneType) where it is false; only values of the pipeline and numbers may differ |   at LINE


def program(x, n, image):
    if n > 2:
        return n
    n = n + 1
