# SPDX-License-Identifier: Apache-2.0
"""Pictures of several samples of a batch, with their boxes, masks and points."""

from __future__ import annotations

from typing import Any, Sequence

from .. import _core, fn
from .._graph import DataNode
from ..sample import Boxes, Image, Instances, Mask, Points, Sample
from ..sample.layouts import rows_of
from . import draws, numbers
from .samples import axes_of, extents, samples_of, together


def checked_batch(sample):
    """Refuses what is not a Sample of a pipeline or of Batches."""
    if not isinstance(sample, Sample):
        raise TypeError(f"a Sample is needed, got {type(sample).__name__}")
    if not all(isinstance(value, (DataNode, _core.Batch)) for value in sample.values()):
        raise TypeError("samples of a batch are mixed: the parts must be values of a pipeline or Batches, which "
                        "penstock.batch([...]) makes")  # fmt: skip
    return sample


def partners_of(sample):
    """The number of another sample for each."""
    value = sample.pixels
    more = {} if isinstance(value, DataNode) else {"batch_size": len(value)}
    return fn.batch_permutation(no_fixed_points=True, **more)


def of_partners(sample, partners):
    """The parts of other samples."""
    return sample.mixed({name: fn.permute_batch(value, indices=partners) for name, value in sample.items()})


def of_each(samples, function):
    """Calls function(samples) for a batch of a pipeline, or for the samples of Batches one by one."""
    first = samples[0]
    if isinstance(first.pixels, DataNode):
        return function(samples)
    split = [samples_of(s) for s in samples]
    return together(first, [function(list(each)) for each in zip(*split)])


def with_rows(sample, others, made):
    """A Sample with these parts, and with the rows of labels of the others after its own."""
    labels = {row for name, kind in sample.kinds.items() if isinstance(kind, Boxes) for row in rows_of(sample, name)}
    missing = [row for row in labels if row not in made]
    return sample.mixed({**made, **{row: fn.cat(*(s[row] for s in (sample, *others)), axis=0) for row in missing}})


def mosaic(
    sample: Any, size: int | Sequence[int], center: Sequence[float] = (0.25, 0.75), fill: float | Sequence[float] = 114
) -> Any:
    """Puts each sample and three others of its batch around a center that is drawn, as YOLO does.

    Each picture touches the center with a corner and is cut at the borders of the frame; what no picture covers has
    the value `fill`. Pictures keep their scale: resize samples before, or crop after. Boxes stay or go by their
    `min_area` and `min_visibility`; points that are cut away stay, outside their quarter.

    Args:
        sample: A Sample of a pipeline or of Batches. Images: HWC, of one type and number of channels.
        size: (height, width) of the result, or one number for both.
        center: The range of the center, in fractions of the size.
        fill: The value where no picture is: one number, or one for each channel. Masks have their own.

    Returns:
        A Sample of this size. Rows of boxes, labels, points and instances are those of the four samples, one after
        another; other parts are those of the sample itself.

    Raises:
        TypeError: sample is not a Sample of a batch.
        ValueError: size or center are out of their range.

    Example:
        >>> from penstock.sample import Sample
        >>> images = penstock.batch([np.zeros((48, 64, 3), np.uint8)] * 4)
        >>> boxes = penstock.batch([np.float32([[8, 8, 24, 16]])] * 4)
        >>> mixed = penstock.augment.mosaic(Sample(image=images, boxes=boxes), size=(96, 128), center=(0.5, 0.5))
        >>> mixed["boxes"][0].shape()
        [4, 4]
    """
    height, width = (size, size) if isinstance(size, int) else (int(n) for n in size)
    low, high = center
    if not (height > 0 and width > 0):
        raise ValueError(f"size must be a positive height and width, got {size!r}")
    if not 0 <= low <= high <= 1:
        raise ValueError(f"center must be a range within 0 and 1, got {center!r}")
    checked_batch(sample)
    others = [of_partners(sample, partners_of(sample)) for _ in range(3)]
    return of_each([sample, *others], lambda four: _mosaic(four, (height, width), (low, high), fill))


def _mosaic(samples, size, center, fill):
    """Each picture is moved so that a corner touches the center, and cut to its quarter."""
    y, x = (numbers.floor(draws.uniform(*center) * n + 0.5) for n in size)
    corners = [(0.0, 0.0), (0.0, x), (y, 0.0), (y, x)]
    extents_of_tiles = [(y, x), (y, size[1] - x), (size[0] - y, x), (size[0] - y, size[1] - x)]
    tiles = [_tile(s, k, tile, fill) for k, (s, tile) in enumerate(zip(samples, extents_of_tiles))]
    made = {}
    for name, kind in samples[0].kinds.items():
        parts = [tile[name] for tile in tiles]
        if isinstance(kind, (Image, Mask)):
            down, across = axes_of(parts[0])
            made[name] = fn.cat(*(fn.cat(*parts[k : k + 2], axis=across) for k in (0, 2)), axis=down)
        elif isinstance(kind, (Boxes, Points, Instances)):
            places = zip(parts, corners, extents_of_tiles)
            made[name] = fn.cat(*(_placed(kind, p, corner, tile, size) for p, corner, tile in places), axis=0)
    return with_rows(tiles[0], tiles[1:], made)


def _tile(sample, k, tile, fill):
    """The quarter of a picture: its last rows and columns above and to the left of the center, else its first ones."""
    start = [n - t if first else 0.0 for n, t, first in zip(extents(sample), tile, (k < 2, k % 2 == 0))]
    values = [float(v) for v in (fill if isinstance(fill, (list, tuple)) else [fill])]
    ends = [a + t for a, t in zip(start, tile)]
    window = {
        "start": [numbers.integer(v) for v in start],
        "end": [numbers.integer(v) for v in ends],
        "axis_names": "HW",
    }
    return fn.slice(sample, out_of_bounds_policy="pad", fill_values=values, **window)


def _placed(kind, value, corner, tile, size):
    """A part of a tile, in the frame."""
    top, left = corner
    matrix = [1.0, 0.0, left, 0.0, 1.0, top, 0.0, 0.0, 1.0]
    if isinstance(kind, Points):
        return fn.transform_points(value, matrix=matrix)
    if isinstance(kind, Boxes):
        place = {"bbox_layout": kind.layout, "bbox_normalized": kind.normalized, "matrix": matrix}
        place["input_shape"] = [numbers.integer(n) for n in tile]
        return fn.transform_boxes(value, output_shape=list(size), **place)[0]
    frames = fn.reshape(value, layout="FHW")
    start, end = [numbers.integer(-n) for n in corner], [numbers.integer(n - c) for n, c in zip(size, corner)]
    window = {"start": start, "end": end, "axis_names": "HW", "fill_values": [float(kind.fill)]}
    return fn.slice(frames, out_of_bounds_policy="pad", **window)
