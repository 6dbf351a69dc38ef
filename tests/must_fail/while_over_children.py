# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [loop] the loop's condition has the samples that expand returned (LINE), but it must have the samples in the loop |   at LINE
from penstock import fn


def program(x, n, image):
    while fn.expand(n, 2) > 3:
        n = n - 1
    return x
