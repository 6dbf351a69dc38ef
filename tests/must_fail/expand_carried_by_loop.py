# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [loop] the variable 'x' is of those that expand gave (LINE) after a trip; a loop keeps the samples that it began with: use it in the trip, or change the samples after the loop |   at LINE
from penstock import fn


def program(x, n, image):
    for _ in range(n):
        x = fn.expand(x, 2)
    return x
