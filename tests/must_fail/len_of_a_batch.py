# SPDX-License-Identifier: Apache-2.0
# error: TypeError: a value of the pipeline has no length while the pipeline is defined; see .shape() |   at LINE


def program(x, n, image):
    for k in range(len(x)):
        n = n + k
    return n
