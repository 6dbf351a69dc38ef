# SPDX-License-Identifier: Apache-2.0
"""What the references share: exact values, types, axes."""

import math

import numpy as np


def to_dtype(x, dtype):
    """Converts exact values to `dtype`: integers by rounding half to even and saturating, NaN gives 0."""
    x, dtype = np.asarray(x), np.dtype(dtype)
    if dtype == bool:
        return x != 0
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return x.astype(dtype)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if x.dtype.kind in "iub":
        return np.asarray(np.clip(x.astype(object), low, high)).astype(dtype)
    x = np.rint(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    out = np.where((x < high) & (x > low), x, 0).astype(dtype)  # float(high) may be high + 1: compare first
    return np.where(x >= high, high, np.where(x <= low, low, out)).astype(dtype)


def round_away(v):
    return math.floor(abs(v) + 0.5) * (1 if v >= 0 else -1)


def spatial_axes(layout):
    return [i for i, letter in enumerate(layout) if letter in "DHW"]


def listed(value, n):
    value = np.atleast_1d(np.asarray(value, np.float64))
    return [float(value[0])] * n if len(value) == 1 else [float(v) for v in value]


def along_axis(x, axis, function):
    return np.moveaxis(function(np.moveaxis(x, axis, 0)), 0, axis)


def range_of(dtype):
    return 1.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max)


def promote(a, b):
    """The type of an arithmetic result. Python constants count as int32, float32 and bool."""
    a, b = np.dtype(a), np.dtype(b)
    if a == b or a == bool or b == bool:
        return b if a == bool else a
    if "f" in (a.kind, b.kind):
        return np.dtype(max((t for t in (a, b) if t.kind == "f"), key=lambda t: t.itemsize))
    if a.kind == b.kind:
        return max(a, b, key=lambda t: t.itemsize)
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    return np.dtype("i%d" % min(8, max(signed.itemsize, 2 * unsigned.itemsize)))
