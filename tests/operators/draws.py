# SPDX-License-Identifier: Apache-2.0
"""What the random calls of several families share."""

import math

from hypothesis import strategies as st
from operator_calls import values

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]
NUMBERS = INTEGERS + FLOATS
DTYPES = ["bool"] + NUMBERS
EXTENTS = [1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 67]


def extent(draw):
    return draw(st.sampled_from(EXTENTS))


def image_shape(draw, layout, channels=None, empty=False):
    shape = [extent(draw) if letter in "HW" else draw(st.integers(1, 4)) for letter in layout]
    for i, letter in enumerate(layout):
        if letter == "C" and channels:
            shape[i] = channels
    spatial = [i for i, letter in enumerate(layout) if letter in "HW"]
    odd = draw(st.integers(0, 19))
    if odd == 0:
        shape[spatial[-1]] = 1031  # one that takes several tiles
    elif odd == 1 and empty:
        shape[spatial[0]] = 0
    return tuple(shape)


def images(draw, layouts, dtypes=DTYPES, channels=None, same_shape=False, empty=True, same_channels=False):
    """(samples, layout, dtype): a ragged batch of one to three samples."""
    layout, dtype = draw(st.sampled_from(layouts)), draw(st.sampled_from(dtypes))
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    if same_channels and not channels:
        channels = draw(st.integers(1, 4))
    shapes = [image_shape(draw, layout, channels, empty) for _ in range(n)]
    if same_shape:
        shapes = shapes[:1] * n
    return [values(dtype, s, seed + i) for i, s in enumerate(shapes)], layout, dtype


def arguments(draw, n, choices):
    """Draws each argument as not given, a constant, or one value per sample; returns (constants, per_sample)."""
    constants, per_sample = {}, {}
    for name, value in choices.items():
        how = draw(st.sampled_from(["default", "constant", "per sample"]))
        if how == "constant":
            constants[name] = draw(value)
        elif how == "per sample":
            per_sample[name] = [draw(value) for _ in range(n)]
    return constants, per_sample


def number(low, high):
    """Multiples of 1/64, which float32 holds, so that no conversion counts as a difference."""
    return st.integers(math.ceil(low * 64), math.floor(high * 64)).map(lambda v: v / 64)


def output_type(draw, dtype, constants, name="dtype"):
    """A result type: not given (the input's) or one of them."""
    if draw(st.booleans()):
        return dtype
    out = draw(st.sampled_from(NUMBERS))
    constants[name] = out
    return out


def of(case_arguments, i):
    constants, per_sample = case_arguments
    return {**constants, **{k: v[i] for k, v in per_sample.items()}}


IMAGE_LAYOUTS = ["HWC", "CHW", "HW", "FHWC", "FCHW", "DHWC", "CDHW", "FDHWC", "FCDHW"]
COLOR_LAYOUTS = ["HWC", "FHWC", "DHWC", "CHW"]
