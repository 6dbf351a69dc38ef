# SPDX-License-Identifier: Apache-2.0
"""The masks of objects: polygons and run lengths, and the pixels that they cover, as COCO's own tools draw them."""

import numpy as np

from .. import fn
from .records import fault, numbers, size_of

_STEPS = 5  # places along a side of a pixel that a polygon's edges are drawn with


class Outline:
    """The mask of one object, as polygons (flat arrays x, y, x, y ...) or as runs of 0 and 1 down the columns."""

    __slots__ = ("height", "polygons", "runs", "width")

    def __init__(self, height, width, polygons=(), runs=None):
        self.height, self.width, self.polygons, self.runs = height, width, polygons, runs

    def mask(self):
        """(height, width) uint8, 1 where the object is."""
        if self.runs is not None:
            return _drawn(self.runs, self.height, self.width)
        mask = np.zeros((self.height, self.width), np.uint8)
        for polygon in self.polygons:
            mask |= polygon_mask(polygon, self.height, self.width)
        return mask


class Outlines:
    """The masks of an image's objects."""

    __slots__ = ("height", "items", "width")

    def __init__(self, height, width, items):
        self.height, self.width, self.items = height, width, items

    def __len__(self):
        return len(self.items)

    def in_pixels(self):
        """Itself."""
        return self


class FractionOutlines:
    """The polygons of an image's objects in fractions of the image, whose header says the size when they are drawn."""

    __slots__ = ("file", "polygons")

    def __init__(self, file, polygons):
        self.file, self.polygons = file, polygons

    def __len__(self):
        return len(self.polygons)

    def in_pixels(self):
        """Outlines."""
        encoded = fn.io.file.read(np.frombuffer(self.file.encode(), np.uint8))
        height, width = (int(n) for n in np.asarray(fn.peek_image_shape(encoded))[:2])
        size_of(height, width, self.file, "")
        unit = np.array([width, height], np.float64)
        drawn = [Outline(height, width, [(p.reshape(-1, 2) * unit).ravel()]) for p in self.polygons]
        return Outlines(height, width, drawn)


def _drawn(runs, height, width):
    values = np.arange(len(runs), dtype=np.uint8) & 1
    return np.repeat(values, runs).reshape(width, height).T


def polygon_mask(polygon, height, width):
    """The pixels of a polygon by COCO's rule: edges are drawn on a grid of fifths, and a column changes where one passes."""
    points = np.trunc(_STEPS * np.asarray(polygon, np.float64).reshape(-1, 2) + 0.5).astype(np.int64)
    parts = [_edge(*a, *b) for a, b in zip(points, np.roll(points, -1, 0))]
    x, y = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    moved = np.flatnonzero(x[1:] != x[:-1]) + 1
    column = (np.where(x[moved] < x[moved - 1], x[moved], x[moved] - 1) + 0.5) / _STEPS - 0.5
    inside = (np.floor(column) == column) & (column >= 0) & (column <= width - 1)
    row = (np.minimum(y[moved], y[moved - 1]) + 0.5) / _STEPS - 0.5
    row = np.ceil(np.clip(row, 0, height)).astype(np.int64)
    mask = np.zeros((width, height), np.uint8)
    column, row = column[inside].astype(np.int64), row[inside]
    if column.size:
        first, last = column.min(), min(column.max() + 2, width)  # an odd change goes on to the next column's begin
        places = (column - first) * height + row
        changes = np.bincount(places, minlength=(last - first) * height + 1)[: (last - first) * height]
        mask[first:last] = (np.cumsum(changes) & 1).reshape(last - first, height)
    return mask.T


def _edge(x0, y0, x1, y1):
    """The points of an edge, one for each step along its longer extent, from its first to its last."""
    across, down = abs(x1 - x0), abs(y1 - y0)
    steps = int(max(across, down))
    if steps == 0:
        return np.array([x0]), np.array([y0])
    flipped = (across >= down and x0 > x1) or (across < down and y0 > y1)
    if flipped:
        x0, y0, x1, y1 = x1, y1, x0, y0
    slope = (y1 - y0) / across if across >= down else (x1 - x0) / down
    along = np.arange(steps + 1)
    t = along[::-1] if flipped else along
    if across >= down:
        return t + x0, np.trunc(y0 + slope * t + 0.5).astype(np.int64)
    return np.trunc(x0 + slope * t + 0.5).astype(np.int64), t + y0


def outline(segmentation, height, width, file, record):
    """An Outline of COCO's "segmentation": polygons, or run lengths as numbers or as text."""
    height, width = size_of(height, width, file, record)
    if isinstance(segmentation, dict):
        size = segmentation.get("size")
        if size != [height, width]:
            raise fault(file, record, f"the run lengths are of size {size}, the image is {[height, width]}")
        return Outline(height, width, runs=_runs(segmentation.get("counts"), height * width, file, record))
    if not isinstance(segmentation, list):
        raise fault(file, record, "segmentation must be a list of polygons or an object with counts and size")
    polygons = [numbers(p, file, record, "a polygon", 2) for p in segmentation]
    for polygon in polygons:
        if polygon.size < 6:
            raise fault(file, record, f"a polygon needs 3 points, got {polygon.size // 2}")
        if (abs(polygon) > 4 * max(height, width) + 1000).any():
            raise fault(file, record, "a polygon leads far out of its image")
    return Outline(height, width, polygons)


def _runs(counts, pixels, file, record):
    if isinstance(counts, str):
        counts = _numbers_of_text(counts, file, record)
    runs = numbers(counts, file, record, "counts").astype(np.int64)
    if (runs < 0).any():
        raise fault(file, record, f"run lengths are not negative, got {runs.min()}")
    if runs.sum() != pixels:
        raise fault(file, record, f"the run lengths add up to {runs.sum()}, the image has {pixels} pixels")
    return runs


def _numbers_of_text(text, file, record):
    """Run lengths from COCO's text: 5 bits a character with a sign, from the third on less the one before the last."""
    runs, value, shift = [], 0, 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 60:
            raise fault(file, record, f"{character!r} is not a part of compressed run lengths")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = shift = 0
    if shift:
        raise fault(file, record, "the compressed run lengths end in the middle of a number")
    return runs
