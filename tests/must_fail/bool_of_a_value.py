# SPDX-License-Identifier: Apache-2.0
# error: TypeError: a value of the pipeline has no truth while the pipeline is defined; `if`, `while`, `and`, `or` and `not` on it work inside functions that pipeline_def converts, &, | and ~ everywhere |   at LINE


def program(x, n, image):
    return n if bool(n > 2) else n + 1
