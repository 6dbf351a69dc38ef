# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that cut windows whose sides are drawn one by one, or that look at boxes and masks."""

import numpy as np

from .. import augment, fn
from ..augment import draws, numbers
from ..augment.samples import extents
from .._base.element_types import DType
from ..sample import Boxes
from .geometry import WINDOWS, integer, interpolation, named, values, with_fill


def _cut(x, sides, policy="error", fill=0):
    """The window from (left, top) to (right, bottom), in pixels; it may reach beyond the image."""
    left, top, right, bottom = (numbers.integer(v) for v in sides)
    given = {"axis_names": "HW", "out_of_bounds_policy": policy, "fill_values": values(fill)}
    return fn.slice(x, start=[top, left], end=[bottom, right], **given)


def crop_from_borders(x, a):
    height, width = extents(x)
    sides = []
    for before, after, extent in ((a.crop_left, a.crop_right, width), (a.crop_top, a.crop_bottom, height)):
        if before + after > 1:
            raise ValueError(
                f"RandomCropFromBorders: the parts of two sides must be 1 at most together, got {before + after}"
            )
        first = draws.below(_whole(before * extent) + 1)
        least = numbers.greatest(first + 1, _whole((1 - after) * extent))
        sides.append((first, draws.below(extent - least + 1) + least))
    return _cut(x, (sides[0][0], sides[1][0], sides[0][1], sides[1][1]))


def _whole(v):
    v = numbers.floor(v + 1e-4)
    return v if hasattr(v, "node") else int(v)


def _sides(a):
    """What is added at the top, right, bottom and left: numbers, and whether they are parts of the extents."""
    if (a.px is None) == (a.percent is None):
        raise ValueError("CropAndPad: give one of px= and percent=")
    given, whole = (a.px, True) if a.px is not None else (a.percent, False)
    draw = (lambda low, high: integer((low, high - 1))) if whole else draws.uniform
    if not isinstance(given, (list, tuple)):
        return [given] * 4, whole
    if len(given) == 2:
        once = draw(*given)
        return [draw(*given) if a.sample_independently and k else once for k in range(4)], whole
    if len(given) != 4:
        raise ValueError(f"CropAndPad: px and percent are 1, 2 or 4 numbers, got {given!r}")
    return [draw(*v) if isinstance(v, (list, tuple)) else v for v in given], whole


def crop_and_pad(x, a):
    sides, whole = _sides(a)
    height, width = extents(x)
    if not whole:
        sides = [_toward_zero(v * n) for v, n in zip(sides, (height, width, height, width))]
    top, right, bottom, left = sides
    # At least one row and one column stay.
    bottom, right = numbers.greatest(bottom, 1 - height - top), numbers.greatest(right, 1 - width - left)
    policy = named(WINDOWS, "border_mode", a.border_mode)
    if isinstance(a.fill, (list, tuple)) or isinstance(a.fill_mask, (list, tuple)):
        raise ValueError("CropAndPad: fill and fill_mask are one number; Albumentations draws one of several")
    cut = _cut(with_fill(x, a.fill_mask), (-1 * left, -1 * top, width + right, height + bottom), policy, a.fill)
    if not a.keep_size:
        return cut
    return fn.resize(cut, size=[height, width], antialias=False, interp_type=interpolation(a), subpixel_scale=False)


def _toward_zero(v):
    sign = numbers.where(v < 0, -1.0, 1.0)
    return numbers.floor(v * sign + 1e-4) * sign


def crop_non_empty_mask(x, a):
    if a.ignore_values is not None or a.ignore_channels is not None:
        raise ValueError("CropNonEmptyMaskIfExists: ignore_values and ignore_channels are not there")
    _check_window("CropNonEmptyMaskIfExists", x, a)
    return augment.crop_near_mask(x, (a.height, a.width))


def _check_window(name, x, a):
    height, width = extents(x)
    if isinstance(height, int) and (height < a.height or width < a.width):
        raise ValueError(
            f"{name}: the window of {a.height} x {a.width} is larger than the image of {height} x {width}: "
            "put a PadIfNeeded before it"
        )


def _drawn_box(x, kind, name, height, width):
    """(left, top, right, bottom) of a drawn box in pixels, and whether there is one."""
    boxes = fn.cast(x[name], dtype=DType.FLOAT)
    boxes = boxes if hasattr(boxes, "node") else boxes.cpu().numpy() if hasattr(boxes, "numpy") else boxes
    shape = boxes.shape() if callable(boxes.shape) else boxes.shape
    count = shape[0]
    whole = fn.constant(fdata=[0.0] * 4, shape=[1, 4]) if hasattr(boxes, "node") else None
    if whole is None:
        row = boxes[draws.below(count)] if count else [0.0] * 4
    else:
        rows = fn.cat(boxes, whole, axis=0)
        row = rows[numbers.integer(draws.below(numbers.greatest(count, 1)))]
    numbers_ = [row[k] if whole is not None else float(row[k]) for k in range(4)]
    units = (width, height, width, height) if kind.normalized else (1.0,) * 4
    a, b, c, d = (v * (u * 1.0) for v, u in zip(numbers_, units))
    if kind.layout == "xywh":
        c, d = a + c, b + d
    elif kind.layout == "cxcywh":
        a, b, c, d = a - c * 0.5, b - d * 0.5, a + c * 0.5, b + d * 0.5
    return (a, b, c, d), count > 0


def at_least_one_box_crop(x, a):
    _check_window("AtLeastOneBBoxRandomCrop", x, a)
    found = [n for n, kind in x.kinds.items() if isinstance(kind, Boxes)]
    if not found:
        raise ValueError("AtLeastOneBBoxRandomCrop needs bboxes: use RandomCrop without them")
    height, width = extents(x)
    (left, top, right, bottom), any_ = _drawn_box(x, x.kinds[found[0]], found[0], height, width)
    starts = []
    for low, high, size, extent in ((left, right, a.width, width), (top, bottom, a.height, height)):
        room = (extent - size) * 1.0
        kept = (high - low) * (1.0 - float(a.erosion_factor))
        inside = lambda v: numbers.greatest(numbers.least(v, room), 0.0)  # noqa: E731
        least, most = (inside(v) for v in (low + kept - size, high - kept))
        least, most = numbers.where(any_, least, 0.0), numbers.where(any_, most, room)
        starts.append(_whole(least + (most - least) * draws.uniform(0.0, 1.0)))
    return _cut(x, (starts[0], starts[1], starts[0] + a.width, starts[1] + a.height))


def _four_numbers(x, key):
    box = x[key]
    if hasattr(box, "node"):
        return [fn.cast(box[k], dtype=DType.FLOAT) for k in range(4)]
    return [float(v) for v in np.asarray(box).reshape(-1)[:4]]


def crop_near_box(x, a):
    """A window around a box in pixels, whose sides move by up to a part of the box's height or width."""
    if a.cropping_bbox_key not in x:
        raise ValueError(
            f"RandomCropNearBBox: the call has no {a.cropping_bbox_key}=(left, top, right, bottom), in pixels"
        )
    height, width = extents(x)
    box, starts, ends = _four_numbers(x, a.cropping_bbox_key), [], []
    by_height, by_width = a.max_part_shift
    for first, last, extent, part in ((box[0], box[2], width, by_width), (box[1], box[3], height, by_height)):
        inside = lambda v, n=extent: numbers.greatest(numbers.least(v, n * 1.0), 0.0)  # noqa: E731
        first, last = inside(first), inside(last)
        most = numbers.rounded((last - first) * float(part))
        first, last = (_whole(inside(v + draws.below(most * 2 + 1) - most)) for v in (first, last))
        first = numbers.least(first, extent - 1)
        starts, ends = [*starts, first], [*ends, numbers.greatest(last, first + 1)]
    return _cut(x, (*starts, *ends))
