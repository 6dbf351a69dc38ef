# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [filter] left too few samples in 1000 consecutive iterations |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.filter(x, keep=n > 100)
