# SPDX-License-Identifier: Apache-2.0
"""Augmentations that overwrite rectangles."""

from __future__ import annotations

import math
from typing import Any, Sequence

from .. import control, fn
from . import draws, numbers
from .composition import maybe
from .samples import augmentation, axes_of, checked_probability, checked_range, extents

_TRIES = 10  # of a rectangle that lies in the image


def _values(value):
    return [float(v) for v in (value if isinstance(value, (list, tuple)) else [value])]


@augmentation
def random_erasing(
    images: Any,
    p: float = 0.5,
    scale: Sequence[float] = (0.02, 0.33),
    ratio: Sequence[float] = (0.3, 3.3),
    value: float | Sequence[float] = 0,
) -> Any:
    """Overwrites a rectangle of a part of the images, as torchvision's RandomErasing does.

    An image draws a rectangle at most 10 times, until it is smaller than the image; otherwise it stays the same.
    Source: Z. Zhong et al., "Random Erasing Data Augmentation", 2017.

    Args:
        images: Images of any type. Layouts: HWC, CHW.
        p: The probability, for each image.
        scale: The range of the rectangle's area, as a part of the image's.
        ratio: The range of the rectangle's height, divided by its width.
        value: What is written: one number, or one for each channel. torchvision's "random" is refused.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_erasing(image, p=0.25)
    """
    low, high = checked_range("scale", scale, 0, 1)
    flat, tall = checked_range("ratio", ratio)
    if not flat > 0:
        raise ValueError(f"ratio must be positive, got {ratio!r}")
    if isinstance(value, str):
        raise ValueError(f"value must be a number or one for each channel, got {value!r}")

    def rectangle(height, width):
        area = draws.uniform(low, high) * (height * width)
        aspect = numbers.exp(draws.uniform(math.log(flat), math.log(tall)))
        return numbers.rounded(numbers.sqrt(area * aspect)), numbers.rounded(numbers.sqrt(area / aspect))

    def erased(image):
        height, width = extents(image)
        inside = lambda h, w: (h < height) & (w < width)  # noqa: E731

        def again(tries, h, w):
            return (tries + 1, *rectangle(height, width))

        state = (1, *rectangle(height, width))
        going = lambda tries, h, w: (tries < _TRIES) & (inside(h, w) == 0)  # noqa: E731
        _, h, w = control.while_(going, again, state)
        found = inside(h, w)
        h, w = numbers.where(found, h, 0), numbers.where(found, w, 0)
        top, left = draws.below(height - h + 1), draws.below(width - w + 1)
        return fn.erase(image, anchor=[top, left], shape=[h, w], axes=axes_of(image), fill_value=_values(value))

    return maybe(images, erased, p)


@augmentation
def coarse_dropout(
    images: Any,
    num_holes: tuple[int, int] = (1, 2),
    hole_height: Sequence[float] = (0.1, 0.2),
    hole_width: Sequence[float] = (0.1, 0.2),
    value: float | Sequence[float] = 0,
    p: float = 0.5,
) -> Any:
    """Overwrites several rectangles of a part of the images, as Albumentations' CoarseDropout does.

    Source: T. DeVries and G. Taylor, "Improved Regularization of Convolutional Neural Networks with Cutout", 2017.

    Args:
        images: Images of any type. Layouts: HWC, CHW.
        num_holes: The range (least, most) of the number of rectangles, at least 1.
        hole_height: The range of their height, as a part of the image's.
        hole_width: The range of their width, as a part of the image's.
        value: What is written: one number, or one for each channel.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.coarse_dropout(image, num_holes=(1, 8), p=1.0)
    """
    least, most = checked_range("num_holes", num_holes, 1)
    heights, widths = checked_range("hole_height", hole_height, 0, 1), checked_range("hole_width", hole_width, 0, 1)
    checked_probability(p)

    def dropped(image):
        count = draws.below(most - least + 1) + least
        anchors, shapes = [], []
        for k in range(most):
            used = k < count if least <= k else 1.0  # a hole beyond the count has no extent
            for low, high in (heights, widths):
                extent = draws.uniform(low, high)
                anchors.append(draws.uniform(0.0, 1.0) * (1.0 - extent))
                shapes.append(extent * used)
        return fn.erase(
            image, anchor=anchors, shape=shapes, normalized=True, axes=axes_of(image), fill_value=_values(value)
        )

    return maybe(images, dropped, p)
