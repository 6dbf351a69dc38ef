# SPDX-License-Identifier: Apache-2.0
"""What the random calls of the operators on pictures share."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import values

INTEGERS = ["uint8", "uint16", "uint32", "int8", "int16", "int32"]
NUMBERS = INTEGERS + ["float16", "float32", "float64"]
EXTENTS = [1, 2, 3, 5, 8, 13, 16, 17, 33]


def pictures(draw, layouts, dtypes=NUMBERS, channels=None, smallest=1, smooth=False):
    """(samples, layout, dtype): a ragged batch of one to three samples."""
    layout, dtype = draw(st.sampled_from(layouts)), draw(st.sampled_from(dtypes))
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    xs = []
    for i in range(n):
        shape = [
            max(smallest, draw(st.sampled_from(EXTENTS)))
            if k in "HW"
            else channels
            if k == "C" and channels
            else draw(st.integers(1, 4))
            for k in layout
        ]
        x = values(dtype, shape, seed + i)
        if smooth:
            ramp = sum(
                np.arange(n).reshape([-1 if a == b else 1 for b in range(len(shape))]) for a, n in enumerate(shape)
            )
            x = ((x.astype(np.int64) % 32 + ramp * 5) % 256).astype(dtype)
        xs.append(x)
    return xs, layout, dtype


def some(draw, **choices):
    """Each argument given or not."""
    return {k: draw(v) for k, v in choices.items() if draw(st.booleans())}


def per_sample(draw, n, name, value):
    """(constants, per-sample, argument of sample i)."""
    if draw(st.booleans()):
        v = draw(value)
        return {name: v}, {}, lambda i: {name: v}
    vs = [draw(value) for _ in range(n)]
    return {}, {name: vs}, lambda i: {name: vs[i]}


def of_axes(layout):
    return [i for i, k in enumerate(layout) if k in "DHW"]
