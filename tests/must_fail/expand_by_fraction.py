# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [expand] k must be an integer, got float32 |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.expand(x, k=n / 2)
