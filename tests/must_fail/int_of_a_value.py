# SPDX-License-Identifier: Apache-2.0
# error: TypeError: list indices must be integers or slices, not DataNode


def program(x, n, image):
    return [0, 1, 2][n]
