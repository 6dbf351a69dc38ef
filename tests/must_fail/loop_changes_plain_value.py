# SPDX-License-Identifier: Apache-2.0
# error: TypeError: the variable 'name' is 'a' (str) before the loop and 'aa' (str) after a trip; only values of the pipeline and numbers may change in it |   at LINE


def program(x, n, image):
    name = "a"
    for k in range(n):
        name = name + "a"
    return n, len(name)
