# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [if] the variable 'image' is uint8 with 3 dimensions HWC where the condition is true and float32 with 3 dimensions HWC where it is false; both must have one type, number of dimensions and layout; fn.cast(x, dtype='float32') converts |   at LINE
from penstock import fn, types


def program(x, n, image):
    if n > 2:
        image = fn.flip(image)
    else:
        image = fn.cast(image, dtype=types.FLOAT)
    return image
