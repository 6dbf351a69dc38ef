# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the variable 'values' is a list of 1 before the loop and a list of 2 after a trip; it must keep its structure |   at LINE


def program(x, n, image):
    values = [n]
    for k in range(n):
        values = values + [k]
    return values[0]
