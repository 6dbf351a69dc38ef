# SPDX-License-Identifier: Apache-2.0
# error: TypeError: a mask or a list of indices may occur only once in the brackets, and not after a slice |   at LINE


def program(x, n, image):
    return image[1:3, image[0, :, 0] > 3]
