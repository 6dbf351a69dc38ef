# SPDX-License-Identifier: Apache-2.0
# error: ValueError: a value that was made inside a condition or loop (LINE) is used outside it: assign it to a variable there, or return it from the body


def program(x, n, image):
    found = []
    if n > 2:
        found.append(n + 1)
    return found[0]
