# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [_add] the result of rebatch (LINE) can only be an output of the pipeline: put operators before it |   at LINE
from penstock import fn


def program(x, n, image):
    x = fn.rebatch(x, batch_size=2)
    return x + 1.0
