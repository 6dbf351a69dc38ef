# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [flatten_batch] sample 0 has 4 entries in the first axis of one value and 8 in another |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.flatten_batch(x, image)
