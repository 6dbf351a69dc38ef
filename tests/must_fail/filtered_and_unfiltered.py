# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_add] works on values of different samples: one has the samples that filter returned (LINE), another has the samples that the pipeline started with (LINE); pass both to one call of fn.filter, fn.expand or fn.flatten_batch |   at LINE
from penstock import fn


def program(x, n, image):
    kept = fn.filter(x, n > 2)
    more = n * 2
    return kept + more
