# SPDX-License-Identifier: Apache-2.0
# error: TypeError: range takes 1 to 3 arguments, got 4


def program(x, n, image):
    for k in range(n, 1, 1, 1):
        n = n + k
    return n
