# SPDX-License-Identifier: Apache-2.0
# error: ValueError: the outputs are of different samples: one is of those that filter gave (LINE), another of those that filter gave (LINE); give both to one call of fn.filter, fn.expand or fn.flatten_batch, or say Pipeline(mixed_outputs=True)
from penstock import fn


def program(x, n, image):
    return fn.filter(x, n > 2), fn.filter(n, n < 5)
