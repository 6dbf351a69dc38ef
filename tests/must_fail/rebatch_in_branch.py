# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [rebatch] divides the pipeline's outputs into batches, which do not exist in a condition or loop: call it after the body |   at LINE
from penstock import fn


def program(x, n, image):
    if n > 2:
        x = fn.rebatch(x, batch_size=2)
    return x
