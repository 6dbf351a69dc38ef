# SPDX-License-Identifier: Apache-2.0
# error: TypeError: only one mask or list of indices is allowed in the brackets, and not after a slice |   at LINE


def program(x, n, image):
    return image[1:3, image[0, :, 0] > 3]
