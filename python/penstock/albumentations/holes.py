# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that overwrite strips and grids of rectangles."""

import numpy as np

from .. import fn
from .. import math as values_math
from ..augment import draws, numbers
from ..augment.samples import axes_of, extents
from .._base.element_types import DType
from .geometry import integer, values

_FLOAT = DType.FLOAT


def _fills(name, a):
    if isinstance(a.fill, str) or getattr(a, "fill_mask", None) is not None:
        raise ValueError(f"{name}: fill is a number or one for each channel, and fill_mask is None")
    return values(a.fill)


def _strips(count, length, extent):
    """(start, length) of strips along an axis; those that are not drawn have the length 0."""
    least, most = count
    drawn, made = integer((least, most)), []
    for k in range(most):
        used = numbers.where(k < drawn, 1, 0) if least <= k else 1
        long = numbers.least(integer(length), extent) * used
        room = extent - long + 1
        made.append((draws.below(room if hasattr(room, "node") else int(room)), long))
    return made


def xy_masking(x, a):
    fill, (height, width) = _fills("XYMasking", a), extents(x)
    pairs = {
        n: (int(v[0]), int(v[1])) if isinstance(v, (list, tuple)) else (int(v), int(v))
        for n, v in vars(a).items()
        if n in ("num_masks_x", "num_masks_y", "mask_x_length", "mask_y_length")
    }
    for n, extent in (("mask_x_length", width), ("mask_y_length", height)):
        if isinstance(extent, int) and pairs[n][1] > extent:
            raise ValueError(f"XYMasking: {n} must be at most {extent}, the image's, got {pairs[n][1]}")
    anchors, shapes = [], []
    for start, long in _strips(pairs["num_masks_x"], pairs["mask_x_length"], width):
        anchors, shapes = [*anchors, 0, start], [*shapes, height, long]
    for start, long in _strips(pairs["num_masks_y"], pairs["mask_y_length"], height):
        anchors, shapes = [*anchors, start, 0], [*shapes, long, width]
    if not anchors:
        return x
    return fn.erase(x, anchor=anchors, shape=shapes, axes=axes_of(x), fill_value=fill)


def one_strip(axis, argument):
    """No strip or one along x or y, whose length is drawn from 0 to an argument."""

    def masked(x, a):
        extent = extents(x)[axis == "x"]
        ((start, long),) = _strips((0, 1), (0, int(getattr(a, argument))), extent)
        return fn.erase(x, anchor=[start], shape=[long], axes=axes_of(x, "W" if axis == "x" else "H"), fill_value=0.0)

    return masked


def erasing(x, a):
    """A rectangle whose area is drawn first, from those that fit with all ratios, then its ratio (width / height)."""
    fill, (height, width) = _fills("Erasing", a), extents(x)
    height, width = height * 1.0, width * 1.0
    flat, tall = (float(v) for v in a.ratio)
    least = height * width * float(a.scale[0])
    most = numbers.least(
        height * width * float(a.scale[1]), numbers.least(height * height * flat, width * width / tall)
    )
    fits = most >= least
    area = numbers.greatest(least + (most - least) * draws.uniform(0.0, 1.0), 1e-3)
    low, high = numbers.greatest(flat, area / (height * height)), numbers.least(tall, width * width / area)
    ratio = low + (high - low) * draws.uniform(0.0, 1.0)
    sides = []
    for n, extent in ((numbers.sqrt(area / ratio), height), (numbers.sqrt(area * ratio), width)):
        long = numbers.least(numbers.rounded(n) * 1.0, extent)
        sides.append((numbers.floor(draws.uniform(0.0, 1.0) * (extent - long + 1.0)), numbers.where(fits, long, 0.0)))
    anchor, shape = zip(*sides)
    return fn.erase(x, anchor=list(anchor), shape=list(shape), axes=axes_of(x), fill_value=fill)


_MOST = 14  # cells along an axis: an extent is divided by a tenth of it, rounded down, at least 2


def _cells(extent, count):
    """(number of cells, the same at most)"""
    if count is not None:
        return count, count
    unit = numbers.greatest(numbers.floor(extent / 10), 2)
    return numbers.floor(extent / unit), _MOST


def _line(extent, count, index, a, shift):
    """Starts and lengths of holes along an axis, for the cells `index`."""
    begin, end = (values_math.floor((index + k) * (extent * 1.0) / (count * 1.0) + 1e-4) for k in (0.0, 1.0))
    cell = end - begin
    hole = values_math.max(values_math.min(values_math.floor(cell * float(a.ratio) + 1e-4), cell - 1.0), 1.0)
    offset = float(shift)
    if a.random_offset:
        part = fn.random.uniform(range=[0.0, 1.0], shape=[len(index)])
        offset = values_math.min(values_math.floor(part * (cell - hole + 1.0)), cell - hole)
    start = values_math.max(values_math.min(begin + offset, extent - hole), 0.0)
    return start, hole * fn.cast(index < count * 1.0, dtype=_FLOAT)


def grid_dropout(x, a):
    if a.unit_size_range is not None:
        raise ValueError("GridDropout: unit_size_range is not there: write holes_number_xy=(columns, rows)")
    fill, (height, width) = _fills("GridDropout", a), extents(x)
    columns, rows = a.holes_number_xy or (None, None)
    (across, most_across), (down, most_down) = _cells(width, columns), _cells(height, rows)
    y, x_ = (k.ravel().astype(np.float32) for k in np.mgrid[:most_down, :most_across])
    lines = [_line(height, down, y, a, a.shift_xy[1]), _line(width, across, x_, a, a.shift_xy[0])]
    flat = lambda pair: fn.reshape(fn.stack(*pair, axis=1), shape=[-1])  # noqa: E731
    anchors, shapes = (flat([line[k] for line in lines]) for k in (0, 1))
    return fn.erase(x, anchor=anchors, shape=shapes, axes=axes_of(x), fill_value=fill)
