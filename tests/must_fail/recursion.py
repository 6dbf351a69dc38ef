# SPDX-License-Identifier: Apache-2.0
# error: RecursionError: 'factorial' calls itself under a condition or in a loop on a value of the pipeline: such a recursion has no end while the pipeline is defined; write it as a loop |   at LINE


def factorial(n):
    if n <= 1:
        return n
    return n * factorial(n - 1)


def program(x, n, image):
    return factorial(n)
