# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [loop] the variable 'x' has the samples that expand returned (LINE) after a trip, but a loop keeps the samples that it started with: use the value in the trip, or change the samples after the loop |   at LINE
from penstock import fn


def program(x, n, image):
    for _ in range(n):
        x = fn.expand(x, 2)
    return x
