# SPDX-License-Identifier: Apache-2.0
# error: UnboundLocalError: the variable 'last' has no value here: it is first set inside the loop at LINE, which may run no trip; set it before |   at LINE


def program(x, n, image):
    while n > 0:
        n = n - 1
        last = n
    return last
