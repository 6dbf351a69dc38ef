# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [loop] the loop has made 100 trips and has not ended, for sample 0 of the batch (position 0 of epoch 0); Pipeline(max_trips=...) allows more |   at LINE


def program(x, n, image):
    while n >= 0:
        n = n + 1 - 1
    return n
