# SPDX-License-Identifier: Apache-2.0
"""Several windows of each image, for the evaluation of a classifier."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn

_PLACES = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.5, 0.5)]  # x and y


def _window(size):
    height, width = (size, size) if isinstance(size, int) else tuple(size)
    if not (int(height) == height > 0 and int(width) == width > 0):
        raise ValueError(f"size must be the height and the width of the windows, in pixels, got {size!r}")
    return [int(height), int(width)]


def five_crop(images: Any, size: int | Sequence[int]) -> tuple[Any, Any, Any, Any, Any]:
    """Cuts the four corners and the center out of images.

    An odd rest has two middle pixels: the window in the center begins at the second, torchvision's at the even one.

    Args:
        images: Images of any type, or Samples; at least as large as the windows. Layouts: any with H and W.
        size: (height, width) of the windows, or one number for both.

    Returns:
        Five batches: upper left, upper right, lower left, lower right, center. fn.stack() makes one of them.

    Raises:
        ValueError: size is not positive, or a window is larger than its image.

    Example:
        >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
        >>> [int(window[0, 0, 0]) for window in penstock.augment.five_crop(image, 1)]
        [0, 3, 8, 11, 6]
    """
    window = _window(size)
    return tuple(fn.crop(images, crop=window, crop_pos_x=x, crop_pos_y=y) for x, y in _PLACES)


def ten_crop(images: Any, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[Any, ...]:
    """Cuts the windows of five_crop() out of images, and out of the flipped images.

    Args:
        images: As in five_crop().
        size: (height, width) of the windows, or one number for both.
        vertical_flip: Flip upside down in place of left and right.

    Returns:
        Ten batches: those of five_crop(), then those of the flipped images.

    Raises:
        ValueError: size is not positive, or a window is larger than its image.

    Example:
        >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
        >>> [int(window[0, 0, 0]) for window in penstock.augment.ten_crop(image, 1)][5:]
        [3, 0, 11, 8, 5]
    """
    flipped = fn.flip(images, horizontal=int(not vertical_flip), vertical=int(vertical_flip))
    return five_crop(images, size) + five_crop(flipped, size)
