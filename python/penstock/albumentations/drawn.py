# SPDX-License-Identifier: Apache-2.0
"""Arrays of drawn numbers and what is computed of them: values of a pipeline, or at once arrays of NumPy."""

import numpy as np

from .. import _core, control, fn
from .. import math as values_math
from ..augment import numbers
from .._base.element_types import DType

_MOST = 1 << 17  # entries, in a pipeline


def is_node(value):
    return hasattr(value, "node")


def _array(drawn):
    return drawn if is_node(drawn) else np.asarray(drawn)


def uniform(count):
    """`count` numbers from 0 to 1."""
    return _array(fn.random.uniform(range=[0.0, 1.0], shape=[count]))


def normal(count):
    """`count` numbers of mean 0 and deviation 1."""
    return _array(fn.random.normal(mean=0.0, stddev=1.0, shape=[count]))


def counted(count):
    """0, 1, 2 and so on, `count` of them, which a pipeline may know only when it runs."""
    if not is_node(count):
        return np.arange(int(count), dtype=np.float32)
    count = numbers.integer(numbers.least(count, float(_MOST)))
    return fn.slice(np.arange(_MOST, dtype=np.float32), start=[0], end=[count], axes=[0])


def uniform_as(like):
    """As many numbers from 0 to 1 as another array has."""
    drawn = fn.random.uniform(like, range=[0.0, 1.0]) if is_node(like) else uniform(len(like))
    return drawn


def within(part, low, high):
    """Whole numbers from low to high, of numbers from 0 to 1."""
    return clipped(floor(part * (high - low + 1.0)) + low, low, high)


def clipped(value, low, high):
    if any(is_node(v) for v in (value, low, high)):
        return values_math.max(values_math.min(value, high), low)
    return np.clip(value, low, high)


def floor(value):
    return values_math.floor(value) if is_node(value) else np.floor(value)


def root(value):
    return values_math.sqrt(value) if is_node(value) else np.sqrt(value)


def power(value, exponent):
    return values_math.pow(value, exponent) if is_node(value) else value**exponent


def as_float(value):
    return fn.cast(value, dtype=DType.FLOAT) if is_node(value) else np.float32(value)


def as_integer(value):
    return fn.cast(value, dtype=DType.INT64) if is_node(value) else np.asarray(value).astype(np.int64)


def shaped(value, *shape):
    return fn.reshape(value, shape=list(shape)) if is_node(value) else np.reshape(value, shape)


def total(value, axis):
    return fn.reductions.sum(value, axes=[axis]) if is_node(value) else np.sum(value, axis)


def rows(*columns):
    """Arrays of one length as the columns of a table, flattened: the first entries of all, then the second ones."""
    if any(is_node(c) for c in columns):
        return fn.reshape(fn.stack(*columns, axis=1), shape=[-1])
    return np.stack(columns, 1).astype(np.float32).ravel()


def given(value):
    """An array as an argument of an operator."""
    return value if is_node(value) else np.asarray(value).ravel().tolist()


def ranks(value, count):
    """The place of each of `count` numbers among them, in order."""
    return total(as_float(shaped(value, 1, count) < shaped(value, count, 1)), 1)


def clipped_values(value, low, high):
    """Of tensors, too."""
    return values_math.clamp(value, low, high)


def with_channels(image):
    """With the layout HWC, which arithmetic may have lost."""
    if is_node(image):
        return fn.reshape(image, layout="HWC")
    return _core.tensor(np.ascontiguousarray(np.asarray(image)), layout="HWC")


def as_type_of(value, image):
    """A value in the type of an image. Where a pipeline knows it the cast joins the stage of what it gets."""
    dtype = image.dtype if is_node(image) else DType.NO_TYPE
    return fn.cast_like(value, image) if dtype == DType.NO_TYPE else fn.cast(value, dtype=dtype)


def replaced(image, part, *window):
    """The image with other pixels in a window."""
    layout = "HWC" if (image.ndim() if callable(image.ndim) else image.ndim) == 3 else "HW"
    if is_node(image):
        return fn.reshape(control.set_(image, window, part), layout=layout)
    made = np.array(image)
    made[window] = np.asarray(part)
    return _core.tensor(made, layout=layout)


def number(value):
    """A result without dimensions: a value of a pipeline, or a number of Python."""
    return value if is_node(value) else float(np.asarray(value).reshape(()))


def numbers_of(value):
    return value if is_node(value) else np.asarray(value).tolist()
