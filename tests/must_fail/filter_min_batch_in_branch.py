# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [filter] inside a condition or loop there is only a part of the batch, so min_batch must be 0 or 1 there, and too_few must be "skip": to require more samples, filter after the body |   at LINE
from penstock import fn


def program(x, n, image):
    if n > 2:
        x = fn.filter(x, n > 3, min_batch=2)
    return x
