# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [filter] changes which samples there are, and cannot stand inside of a condition or loop: call it before or behind |   at LINE
from penstock import fn


def program(x, n, image):
    if n > 2:
        x = fn.filter(x, n > 3)
    return x
