# SPDX-License-Identifier: Apache-2.0
# error: ValueError: the outputs have different samples: one has the samples that filter returned (LINE), another has the samples that filter returned (LINE); pass both to one call of fn.filter, fn.expand or fn.flatten_batch, or set Pipeline(mixed_outputs=True)
from penstock import fn


def program(x, n, image):
    return fn.filter(x, n > 2), fn.filter(n, n < 5)
