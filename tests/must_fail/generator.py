# SPDX-License-Identifier: Apache-2.0
# error: TypeError: a value of the pipeline has no truth while the pipeline is defined: 'doubled' is a generator, whose control flow cannot be converted: return a list |   at LINE


def doubled(n):
    if n > 2:
        yield n * 2
    yield n


def program(x, n, image):
    return [v for v in doubled(n)][0]
