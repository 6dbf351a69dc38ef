# SPDX-License-Identifier: Apache-2.0
"""Images in frames of one size, and the way back for what a model found there."""

from __future__ import annotations

import numpy as np
from typing import Any, Sequence

from .. import fn, types
from ..sample import Sample
from .samples import interpolation_of

_UP = {"bilinear": types.INTERP_LINEAR, "nearest": types.INTERP_NN}


def _frame(size):
    height, width = (size, size) if isinstance(size, int) else tuple(size)
    if not (int(height) == height > 0 and int(width) == width > 0):
        raise ValueError(f"size must be the height and the width of the frame, in pixels, got {size!r}")
    return [int(height), int(width)]


def letterbox(
    images: Any, size: int | Sequence[int], fill: float | Sequence[float] = 114, interpolation: str = "bilinear"
) -> Any:
    """Fits images into a frame: scaled to its width or its height, whole, in the middle, with borders.

    Masks of a Sample get their own `fill` in the borders; boxes and points move along.

    Args:
        images: Images of any type, or Samples. Layouts: HWC, CHW, HW.
        size: (height, width) of the frame, or one number for both.
        fill: The value of the borders: one number, or one for each channel.
        interpolation: "bilinear", with a wider filter where images shrink, or "nearest".

    Returns:
        Images of this size; a Sample, whose boxes_back() and points_back() lead back, for Samples.

    Raises:
        ValueError: size is not positive, or the interpolation has another name.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> penstock.augment.letterbox(image, (96, 96)).shape
        (96, 96, 3)
    """
    frame = _frame(size)
    interpolation_of(interpolation)
    values = [float(v) for v in (fill if isinstance(fill, (list, tuple)) else [fill])]
    fitted = fn.resize(images, size=frame, mode="not_larger", interp_type=_UP[interpolation], subpixel_scale=False)
    # The wider border of an odd rest is below or on the right.
    return fn.crop(fitted, crop=frame, out_of_bounds_policy="pad", fill_values=values, rounding="truncate")


def letterbox_back(
    positions: Any, size: int | Sequence[int], shape: Sequence[int], layout: str = "ltrb", clip: bool = True
) -> Any:
    """Moves boxes or points from a frame of letterbox() back to the image, as for what a model found.

    Args:
        positions: Boxes (N, 4), or with layout="points" points (N, n) with x and y first; in pixels of the frame,
            (0, 0) is the outer corner of the first one.
        size: The size of the frame, as letterbox() got it.
        shape: (height, width) of the image, or its whole shape with the channels last.
        layout: "ltrb", "xywh", "cxcywh", or "points".
        clip: Cut boxes to the image.

    Returns:
        The same number of positions, in pixels of the image, float32.

    Raises:
        TypeError: positions is a Sample.
        ValueError: positions or layout are none of these.

    Example:
        >>> found = np.float32([[0, 12, 96, 84]])
        >>> penstock.augment.letterbox_back(found, (96, 96), (48, 64)).tolist()
        [[0.0, 0.0, 64.0, 48.0]]
    """
    if isinstance(positions, Sample):
        raise TypeError(
            "letterbox_back takes boxes or points, got a Sample: sample.boxes_back(boxes) leads back from it"
        )
    height, width = (int(n) for n in shape[:2])
    sample = letterbox(Sample(image=np.zeros((height, width, 1), np.uint8)), size, fill=0)
    if layout == "points":
        return sample.points_back(positions)
    return sample.boxes_back(positions, layout=layout, clip=clip)
