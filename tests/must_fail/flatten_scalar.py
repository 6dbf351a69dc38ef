# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [flatten_batch] value 0 has no first axis whose entries could become samples |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.flatten_batch(n)
