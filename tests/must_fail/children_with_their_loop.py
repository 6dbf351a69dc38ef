# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_add] works on values of different samples: one has the samples around the body (LINE), another has the samples that expand returned (LINE); pass both to one call of fn.filter, fn.expand or fn.flatten_batch |   at LINE
from penstock import fn


def program(x, n, image):
    for _ in range(n):
        some = fn.expand(x, 2)
        x = x + some
    return x
