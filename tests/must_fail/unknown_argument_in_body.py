# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [flip] there is no argument 'horizontl', did you mean 'horizontal'? |   at LINE
from penstock import fn


def program(x, n, image):
    if n > 2:
        image = fn.flip(image, horizontl=1)
    return image
