# SPDX-License-Identifier: Apache-2.0
# error: ValueError: [gaussian_blur] sigma must be from 0 to 1e6, got -1 (sample 1 of epoch 0) |   at LINE
from penstock import fn


def program(x, n, image):
    if n > 2:
        image = fn.gaussian_blur(image, sigma=-1.0)
    return image
