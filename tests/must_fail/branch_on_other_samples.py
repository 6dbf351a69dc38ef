# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [if] works on values of different samples: one has the samples that the pipeline started with (LINE), another has the samples that expand returned (LINE); pass both to one call of fn.filter, fn.expand or fn.flatten_batch |   at LINE
from penstock import fn


def program(x, n, image):
    y = fn.expand(x, 2)
    if n > 2:
        y = y + 1.0
    return y
