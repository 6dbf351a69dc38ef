# SPDX-License-Identifier: Apache-2.0
# error: RecursionError: 'even' calls itself under a condition or in a loop on a value of the pipeline, whose values are not known while the pipeline is defined: only a number of Python's own ends such a recursion; write it as a loop |   at LINE


def even(n):
    return 1 if n == 0 else odd(n - 1)


def odd(n):
    return 0 if n == 0 else even(n - 1)


def program(x, n, image):
    return even(n)
