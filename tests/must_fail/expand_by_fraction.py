# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [expand] k is a whole number, not float32 |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.expand(x, k=n / 2)
