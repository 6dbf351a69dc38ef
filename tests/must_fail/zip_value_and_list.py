# SPDX-License-Identifier: Apache-2.0
# error: TypeError: zip() takes values of the pipeline or plain ones, not both: list |   at LINE


def program(x, n, image):
    total = 0
    for a, b in zip(x, [1, 2]):
        total = total + a * b
    return total
