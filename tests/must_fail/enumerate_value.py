# SPDX-License-Identifier: Apache-2.0
# error: TypeError: zip() and enumerate() over values of the pipeline are for `for` loops of converted functions |   at LINE


def program(x, n, image):
    return [v * k for k, v in enumerate(x)]
