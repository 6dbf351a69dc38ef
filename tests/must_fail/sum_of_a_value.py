# SPDX-License-Identifier: Apache-2.0
# error: TypeError: a value of the pipeline cannot be iterated while the pipeline is defined; `for x in value` works inside functions that pipeline_def converts |   at LINE


def program(x, n, image):
    return sum(x) + n
