# SPDX-License-Identifier: Apache-2.0
# error: TypeError: [python_function] 'some' returned FLOAT64 with 1 dimension for output 0 of sample 2 and FLOAT with 1 dimension for sample 0: the samples of a batch have one type and one number of dimensions |   at LINE
import numpy as np
from penstock import fn


def some(x):
    return x if x[0] < 2 else x.astype(np.float64)


def program(x, n, image):
    return fn.python_function(x, function=some)
