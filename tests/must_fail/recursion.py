# SPDX-License-Identifier: Apache-2.0
# error: RecursionError: 'factorial' calls itself under a condition or in a loop on a value of the pipeline, whose values are not known while the pipeline is defined: only a number of Python's own ends such a recursion; write it as a loop |   at LINE


def factorial(n):
    if n <= 1:
        return n
    return n * factorial(n - 1)


def program(x, n, image):
    return factorial(n)
