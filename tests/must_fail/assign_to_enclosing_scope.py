# SPDX-License-Identifier: Apache-2.0
# error: TypeError: 'x' belongs to an enclosing scope: assigning to a part of it here would bind a new value; pass it as an argument and return it |   at LINE


def program(x, n, image):
    def change():
        x[0] = n
    change()
    return x
