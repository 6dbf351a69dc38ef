# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: arithmetic of values, one pixel at a time."""

import numpy as np

from .. import fn
from .. import math as value_math
from .calls import Step, each, row
from .enumerations import Round
from .formats import Type, scalar_of
from .operands import type_of, values_of

_BOTH = ("T", "V")


def both(signature):
    """The forms for a Tensor and for images, of one signature."""
    return [f"{kind}: {signature}" for kind in _BOTH]


def rounded(call, x, dtype):
    """The last step: numbers as another type."""
    mode, dtype = Round(call.round), np.dtype(dtype)
    if dtype.kind == "f":
        return Step(fn.cast, x, dtype=str(dtype))
    if mode in (Round.TRUNCATE, Round.TRUNCATE_WRAP) and type_of(x).kind == "f":
        x = call.step(fn.where, x < 0.0, value_math.ceil(x), value_math.floor(x))
    if mode in (Round.NEAREST_WRAP, Round.TRUNCATE_WRAP):
        x = _wrapped(call, x, dtype)
    return Step(fn.cast, x, dtype=str(dtype))


def _wrapped(call, x, dtype):
    """Numbers modulo the range of a type; for types without a sign, what is below 0 is 0."""
    if dtype.itemsize > 4:
        call.refuse(f"{Round(call.round).name} is for types of up to 32 bits, not for {dtype}")
    whole, span = call.step(fn.cast, x, dtype="int64"), np.int64(1) << (8 * dtype.itemsize)
    if dtype.kind == "u":
        return call.step(fn.where, whole < 0, np.int64(0), whole) & (span - 1)
    return ((whole + span // 2) & (span - 1)) - span // 2


def own_type(call):
    """The type of the result: that of dst, or that of src."""
    return call.want.dtype if call.want is not None else type_of(call.x)


def largest(dtype):
    """The largest value of a type, 1 for floating point."""
    return float(np.iinfo(dtype).max) if dtype.kind in "ui" else 1.0


@row("T: src, dtype, scale=1.0, offset=0.0, *, round=Round.NEAREST", by_dst=("dtype",), over=("brightness_contrast",))
def convertto(call):
    """Multiplies values, adds an offset, and gives them another type."""
    dtype = call.want.dtype if call.want is not None else scalar_of(Type(call.dtype))[0]
    scale, offset, own = float(call.scale), float(call.offset), type_of(call.x)
    if scale == 1 and offset == 0:
        return rounded(call, call.x, dtype)
    if call.round == Round.NEAREST:
        shift = offset / largest(dtype)
        given = {"brightness": scale, "brightness_shift": shift, "contrast_center": 0.0}
        if np.float32(shift) * np.float32(largest(dtype)) == np.float32(offset):
            return Step(fn.brightness_contrast, call.x, dtype=str(dtype), **given)
    wide = "float64" if own.itemsize > (4 if own.kind == "f" else 2) else "float32"
    return rounded(call, call.step(fn.cast, call.x, dtype=wide) * scale + offset, dtype)


def _given(call, name, default):
    value = getattr(call, name)
    return default if value is None else each(np.asarray(values_of(value), np.float32), len(call.x))


_CONTRAST = (
    "brightness=None, contrast=None, brightness_shift=None, contrast_center=None, *, clamp=False, round=Round.NEAREST"
)


@row(*both(f"src, {_CONTRAST}"), over=("brightness_contrast",))
def brightness_contrast(call):
    """Scales intensities about a center, multiplies them by a factor and adds a shift."""
    dtype = own_type(call)
    full = np.float32(largest(dtype))
    given = {"brightness": _given(call, "brightness", 1.0), "contrast": _given(call, "contrast", 1.0)}
    if call.contrast_center is not None:
        given["contrast_center"] = _given(call, "contrast_center", None)
    if call.brightness_shift is not None:
        given["brightness_shift"] = each(np.asarray(values_of(call.brightness_shift), np.float32) / full, len(call.x))
    if not call.clamp and call.round == Round.NEAREST:
        return Step(fn.brightness_contrast, call.x, dtype=str(dtype), **given)
    if dtype.kind != "f" and "brightness_shift" in given:
        given["brightness_shift"] = each(np.asarray(values_of(call.brightness_shift), np.float32), len(call.x))
    x = call.step(fn.brightness_contrast, call.x, dtype="float32", **given)
    return rounded(call, value_math.clamp(x, 0.0, float(full)) if call.clamp else x, dtype)


@row(*both("src, twist"), over=("coord_transform",))
def color_twist(call):
    """Gives each color a weighted sum of three channels and an offset; a fourth channel stays."""
    rows = np.asarray(values_of(call.twist), np.float32).reshape(-1, 3, 4)
    channels = call.channels
    if channels not in (3, 4):
        call.refuse(f"images have 3 or 4 channels, got {channels}")
    dtype = str(own_type(call))
    if channels == 3:
        return Step(fn.color_matrix, call.x, coefficients=each(rows, len(call.x), 12), dtype=dtype)
    matrix = np.zeros((len(rows), 4, 5), np.float32)
    matrix[:, :3, :3], matrix[:, :3, 4], matrix[:, 3, 3] = rows[:, :, :3], rows[:, :, 3], 1
    return transformed(call, call.x, matrix, dtype)


def transformed(call, x, matrix, dtype):
    """The step that gives each pixel weighted sums of its channels and offsets."""
    given = {"MT": each(matrix, len(x), matrix[0].size), "dtype": dtype}
    if x.layout() != "CHW":
        return Step(fn.coord_transform, x, **given)
    there = call.step(fn.transpose, x, perm=[1, 2, 0])
    return Step(fn.transpose, call.step(fn.coord_transform, there, **given), perm=[2, 0, 1])
