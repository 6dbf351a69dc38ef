# SPDX-License-Identifier: Apache-2.0
# error: TypeError: zip(strict=True) takes no values of the pipeline, whose lengths differ from sample to sample |   at LINE


def program(x, n, image):
    total = n
    for a, b in zip(x, x, strict=True):
        total = total + 1
    return total
