# SPDX-License-Identifier: Apache-2.0
"""Augmentations that blur."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn
from . import draws
from .samples import augmentation, checked_range


@augmentation
def gaussian_blur(images: Any, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)) -> Any:
    """Blurs each image with a deviation that it draws, as torchvision's GaussianBlur does.

    Args:
        images: Images of any type. Layouts: HW, HWC, CHW.
        kernel_size: Elements of the window: one odd number, or (width, height).
        sigma: The deviation is drawn from this range (low, high); or it is this number.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: A window is even, or a deviation is not positive.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.gaussian_blur(image, kernel_size=5, sigma=(0.1, 2.0))
    """
    sizes = list(kernel_size) if isinstance(kernel_size, (list, tuple)) else [kernel_size]
    if len(sizes) not in (1, 2) or any(n < 1 or n % 2 == 0 for n in sizes):
        raise ValueError(f"kernel_size must be one or two odd numbers, got {kernel_size!r}")
    pair = checked_range("sigma", sigma if isinstance(sigma, (list, tuple)) else (sigma, sigma))
    if not pair[0] > 0:
        raise ValueError(f"sigma must be positive, got {sigma!r}")
    return fn.gaussian_blur(images, window_size=sizes[::-1], sigma=draws.uniform(*pair))
