# SPDX-License-Identifier: Apache-2.0
# error: IndexError: an index can only have one ellipsis ('...')


def program(x, n, image):
    x[..., ...] = n
    return x
