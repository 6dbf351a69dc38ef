# SPDX-License-Identifier: Apache-2.0
# error: UnboundLocalError: the variable 'y' has no value here: it is read before it is set |   at LINE


def program(x, n, image):
    y = n
    del y
    return y
