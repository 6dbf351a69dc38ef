# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [filter] keep must be one number, got one of shape (8, 8, 3) |   at LINE
from penstock import fn


def program(x, n, image):
    return fn.filter(x, keep=image > 3)
