# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_add] works on values of different samples: one has the samples that filter returned (LINE), another has the samples that the pipeline started with (LINE); pass both to one call of fn.filter, fn.expand or fn.flatten_batch |   at LINE
from penstock import fn


def program(x, n, image):
    r = fn.random.uniform(range=[0.0, 1.0])
    y = x + r
    return fn.filter(y, n > 2) + r
