# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [filter] 1 of 3 samples remain, fewer than min_batch=2 |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.filter(x, keep=n > 4, min_batch=2, too_few="error")
