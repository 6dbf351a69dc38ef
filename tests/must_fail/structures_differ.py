# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the variable 'y' is a tuple of 2 where the condition is true and a tuple of 3 where it is false; both must have one structure |   at LINE


def program(x, n, image):
    if n > 2:
        y = (n, n)
    else:
        y = (n, n, n)
    return y[0]
