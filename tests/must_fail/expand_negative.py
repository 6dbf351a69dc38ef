# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [expand] k must not be negative, got -3 for sample 0 |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.expand(x, n - 4)
