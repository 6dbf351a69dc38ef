# SPDX-License-Identifier: Apache-2.0
# error: TypeError: a part of a value of the pipeline cannot be set to 'a' |   at LINE


def program(x, n, image):
    x[0] = "a"
    return x
