# SPDX-License-Identifier: Apache-2.0
"""Crops of Samples that look at their boxes or masks first."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn
from .._graph import DataNode
from ..sample import Boxes, Mask, Sample
from . import draws, numbers
from .samples import augmentation, call, checked_probability, extents, interpolation_of


def _part(sample, kind, name):
    """The name of the first part of a kind, or of the part with this name."""
    if not isinstance(sample, Sample):
        raise TypeError(f"a Sample is needed, got {type(sample).__name__}")
    found = [part for part, of in sample.kinds.items() if isinstance(of, kind) and name in (None, part)]
    if not found:
        raise ValueError(f"the Sample has no {kind.__name__}" + (f" '{name}'" if name else "") + f": {sample!r}")
    return found[0]


def _number(value):
    return value if isinstance(value, DataNode) else value.item()


def _cut(sample, window):
    """The window (left, top, right, bottom), in whole pixels."""
    left, top, right, bottom = window
    return fn.slice(
        sample,
        start=[numbers.integer(top), numbers.integer(left)],
        end=[numbers.integer(bottom), numbers.integer(right)],
        axis_names="HW",
    )


def _drawn_window(sample, erosion):
    """A window around all boxes, made smaller by `erosion`; around a point of the image if there are none."""
    name = _part(sample, Boxes, None)
    kind = sample.kinds[name]
    box, _ = call("_box_union", sample[name], bbox_layout=kind.layout)
    sides = [_number(box[k]) for k in range(4)]
    height, width = extents(sample)
    window = []
    for low, high, n in ((sides[0], sides[2], width), (sides[1], sides[3], height)):
        unit = n * 1.0 if kind.normalized else 1.0
        low, high = (numbers.greatest(numbers.least(v * unit, n * 1.0), 0.0) for v in (low, high))
        by = (high - low) * (erosion * 0.5)
        low, high = low + by, high - by
        middle = draws.uniform(0.0, 1.0) * n
        empty = high <= low
        low, high = numbers.where(empty, middle, low), numbers.where(empty, middle, high)
        start = numbers.least(numbers.floor(low * draws.uniform(0.0, 1.0)), n - 1.0)
        end = numbers.least(n * 1.0, -numbers.floor(-(high + (n - high) * draws.uniform(0.0, 1.0))))
        window.append((start, numbers.greatest(end, start + 1.0)))
    (left, right), (top, bottom) = window
    return left, top, right, bottom


@augmentation
def random_box_safe_crop(sample: Any, erosion: float = 0.0) -> Any:
    """Cuts a random window that holds all boxes, as Albumentations' BBoxSafeRandomCrop does.

    Each side of the window is drawn between the border of the image and the box around all boxes. A sample without
    boxes gets a window around a random point.

    Args:
        sample: A Sample with Boxes.
        erosion: Part of the box around all boxes, from 0 to 1, by which it may be cut: 0 keeps every box whole.

    Returns:
        A Sample of another size.

    Raises:
        TypeError: sample is not a Sample.
        ValueError: It has no Boxes, or erosion is not from 0 to 1.

    Example:
        >>> from penstock.sample import Sample
        >>> sample = Sample(image=np.zeros((48, 64, 3), np.uint8), boxes=np.float32([[8, 8, 24, 16]]))
        >>> cut = penstock.augment.random_box_safe_crop(sample)
        >>> (cut["boxes"][0, 2:] - cut["boxes"][0, :2]).tolist()
        [16.0, 8.0]
    """
    if not 0 <= erosion <= 1:
        raise ValueError(f"erosion must be from 0 to 1, got {erosion!r}")
    return _cut(sample, _drawn_window(sample, erosion))


@augmentation
def random_sized_box_safe_crop(
    sample: Any, size: Sequence[int], erosion: float = 0.0, interpolation: str = "bilinear"
) -> Any:
    """Cuts a random window that holds all boxes, and resizes it.

    It is Albumentations' RandomSizedBBoxSafeCrop.

    Args:
        sample: A Sample with Boxes.
        size: (height, width) of the result.
        erosion: As random_box_safe_crop() takes it.
        interpolation: "bilinear" or "nearest", of the images.

    Returns:
        A Sample of this size.

    Raises:
        TypeError: sample is not a Sample.
        ValueError: It has no Boxes, or erosion is not from 0 to 1.

    Example:
        >>> from penstock.sample import Sample
        >>> sample = Sample(image=np.zeros((48, 64, 3), np.uint8), boxes=np.float32([[8, 8, 24, 16]]))
        >>> penstock.augment.random_sized_box_safe_crop(sample, (32, 32))["image"].shape
        (32, 32, 3)
    """
    cut = random_box_safe_crop(sample, erosion)
    return fn.resize(cut, size=[int(n) for n in size], interp_type=interpolation_of(interpolation))


@augmentation
def random_overlap_crop(
    sample: Any,
    thresholds: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
    scaling: Sequence[float] = (0.3, 1.0),
    aspect_ratio: Sequence[float] = (0.5, 2.0),
    attempts: int = 40,
) -> Any:
    """Cuts a window that overlaps a box by at least a drawn threshold, as DALI's random_bbox_crop does.

    The whole image is drawn as often as each threshold. Boxes stay or go by their `min_visibility` and `min_area`;
    labels, masks and points follow. Source: W. Liu et al., "SSD: Single Shot MultiBox Detector", 2016.

    Args:
        sample: A Sample with Boxes.
        thresholds: Least overlaps (intersection over union); one of them is drawn.
        scaling: The range of the width and the height of windows, in fractions of the image.
        aspect_ratio: The range of width / height, in fractions of the image.
        attempts: Windows that are drawn at most for a threshold before the next one is drawn.

    Returns:
        A Sample of another size.

    Raises:
        TypeError: sample is not a Sample.
        ValueError: It has no Boxes, or an argument is out of its range.

    Example:
        >>> from penstock.sample import Sample
        >>> sample = Sample(image=np.zeros((48, 64, 3), np.uint8), boxes=np.float32([[8, 8, 24, 16]]))
        >>> cut = penstock.augment.random_overlap_crop(sample)
    """
    name = _part(sample, Boxes, None)
    kind = sample.kinds[name]
    height, width = extents(sample)
    boxes = sample[name]
    if not kind.normalized:  # the operator takes fractions
        boxes, _ = call(
            "transform_boxes",
            boxes,
            matrix=[1.0 / width, 0.0, 0.0, 0.0, 1.0 / height, 0.0, 0.0, 0.0, 1.0],
            output_shape=[1, 1],
            bbox_layout=kind.layout,
        )
    anchor, shape, *_ = fn.random_bbox_crop(
        boxes,
        bbox_layout=kind.layout,
        thresholds=[float(t) for t in thresholds],
        scaling=[float(s) for s in scaling],
        aspect_ratio=[float(r) for r in aspect_ratio],
        num_attempts=attempts,
        total_num_attempts=10 * attempts,
        quiet=True,
    )
    return fn.slice(sample, rel_start=[anchor[1], anchor[0]], rel_shape=[shape[1], shape[0]], axis_names="HW")


@augmentation
def crop_near_mask(sample: Any, size: Sequence[int], mask: str | None = None, p: float = 1.0) -> Any:
    """Cuts a window of a size around a random pixel of a mask that is not 0.

    It is Albumentations' CropNonEmptyMaskIfExists. The window is moved into the image. A mask that is 0 everywhere
    gives a window at a random place; an image smaller than the window gets borders of 0.

    Args:
        sample: A Sample with a Mask of one channel.
        size: (height, width) of the window.
        mask: The name of the mask; default: the first one.
        p: The probability, for each sample, that the pixel is one of the mask and not any.

    Returns:
        A Sample of this size.

    Raises:
        TypeError: sample is not a Sample.
        ValueError: It has no such Mask.

    Example:
        >>> from penstock.sample import Sample
        >>> mask = np.zeros((48, 64, 1), np.uint8)
        >>> mask[40, 60] = 1
        >>> sample = Sample(image=np.zeros((48, 64, 3), np.uint8), mask=mask)
        >>> int(penstock.augment.crop_near_mask(sample, (16, 16))["mask"].sum())
        1
    """
    name = _part(sample, Mask, mask)
    height, width = (int(n) for n in size)
    pixel = fn.segmentation.random_mask_pixel(sample[name], foreground=draws.coin(checked_probability(p)))
    places = []
    for k, (have, want) in enumerate(zip(extents(sample), (height, width))):
        room = numbers.greatest((have - want) * 1.0, 0.0)
        # The pixel is anywhere in the window.
        start = _number(pixel[k]) * 1.0 - numbers.floor(draws.uniform(0.0, 1.0) * want)
        start = numbers.greatest(numbers.least(start, room), 0.0)
        places.append(numbers.where(room > 0, start / numbers.greatest(room, 1.0), 0.5))
    return fn.crop(sample, crop=[height, width], crop_pos_y=places[0], crop_pos_x=places[1], out_of_bounds_policy="pad")
