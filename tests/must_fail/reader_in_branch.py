# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [external_source] a source of samples cannot be inside a condition or loop: create it before |   at LINE
from penstock import fn


def program(x, n, image):
    if n > 2:
        n = fn.external_source(lambda: [1, 2, 3])
    return n
