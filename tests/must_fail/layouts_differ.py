# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [if] the variable 'y' is uint8 with 3 dimensions CHW where the condition is true and uint8 with 3 dimensions HWC where it is false; both must have one type, number of dimensions and layout |   at LINE
from penstock import fn


def program(x, n, image):
    y = image
    if n > 2:
        y = fn.transpose(image, perm=[2, 0, 1])
    return y
