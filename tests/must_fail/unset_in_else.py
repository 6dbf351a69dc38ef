# SPDX-License-Identifier: Apache-2.0
# error: UnboundLocalError: the variable 'y' has no value here: it is set only where the condition at LINE is true; set it in both branches or before |   at LINE


def program(x, n, image):
    if n > 2:
        y = n + 1
    return y
