# SPDX-License-Identifier: Apache-2.0
"""Augmentations of colors and values."""

from __future__ import annotations

from itertools import permutations
from typing import Any, Sequence

from .. import fn
from . import draws, numbers
from .adjustments import adjust_contrast
from .composition import maybe
from .samples import augmentation, checked_range, choose


def _factors(name, value, center=1.0, low=0.0, high=None):
    """The range of a factor, as torchvision reads it: a number is a distance from the center."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)):
        if value < 0:
            raise ValueError(f"{name} must not be negative, got {value!r}")
        value = (max(center - value, low) if center == 1.0 else center - value, center + value)
    pair = checked_range(name, value, low, high)
    return None if pair[0] == pair[1] == center else pair


@augmentation
def color_jitter(
    images: Any,
    brightness: float | Sequence[float] | None = None,
    contrast: float | Sequence[float] | None = None,
    saturation: float | Sequence[float] | None = None,
    hue: float | Sequence[float] | None = None,
) -> Any:
    """Changes brightness, contrast, saturation and hue in random order, as torchvision's ColorJitter does.

    Each step rounds. fn.color_twist() changes them in one step, in YIQ and in one order.

    Args:
        images: RGB images of uint8, uint16 or floating point from 0 to 1. Layouts: HWC, CHW.
        brightness: The factor is drawn from [max(0, 1 - brightness), 1 + brightness], or from this range (low, high).
        contrast: As brightness.
        saturation: As brightness.
        hue: The rotation, as a part of a full one, is drawn from [-hue, hue], or from this range within -0.5 and 0.5.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: A range is not within its bounds.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.color_jitter(image, 0.4, 0.4, 0.4, 0.1)
    """
    steps = [
        (_factors("brightness", brightness), lambda x, v: fn.brightness(x, brightness=v)),
        (_factors("contrast", contrast), adjust_contrast),
        (_factors("saturation", saturation), lambda x, v: fn.adjust_saturation(x, saturation_factor=v)),
        (_factors("hue", hue, 0.0, -0.5, 0.5), lambda x, v: fn.adjust_hue(x, hue_factor=v)),
    ]
    drawn = [(step, draws.uniform(*pair)) for pair, step in steps if pair is not None]
    if not drawn:
        return images
    orders = list(permutations(range(len(drawn))))
    order = draws.below(len(orders)) if len(orders) > 1 else 0
    for k in range(len(drawn)):
        index = numbers.entry([o[k] for o in orders], order)
        images = choose(index, [lambda f=step, v=value, x=images: f(x, v) for step, value in drawn])
    return images


@augmentation
def random_grayscale(images: Any, p: float = 0.1) -> Any:
    """Makes a part of the images gray, with three equal channels, as torchvision's RandomGrayscale does.

    Args:
        images: RGB images of uint8, uint16 or floating point. Layouts: HWC, CHW.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_grayscale(image, p=0.2)
    """
    return maybe(images, lambda x: fn.grayscale(x, num_output_channels=3), p)


@augmentation
def random_invert(images: Any, p: float = 0.5) -> Any:
    """Inverts a part of the images, as torchvision's RandomInvert does.

    Args:
        images: Images of uint8, uint16 or floating point.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_invert(image)
    """
    return maybe(images, fn.invert, p)


@augmentation
def random_posterize(images: Any, bits: int, p: float = 0.5) -> Any:
    """Keeps the upper bits of a part of the images, as torchvision's RandomPosterize does.

    Args:
        images: Images of uint8, uint16 or floating point.
        bits: Number of bits that are kept, 0 to 8.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_posterize(image, bits=3)
    """
    return maybe(images, lambda x: fn.posterize(x, bits=bits), p)


@augmentation
def random_solarize(images: Any, threshold: float, p: float = 0.5) -> Any:
    """Inverts the high values of a part of the images, as torchvision's RandomSolarize does.

    Args:
        images: Images of uint8, uint16 or floating point.
        threshold: The least value that is inverted.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_solarize(image, threshold=128)
    """
    return maybe(images, lambda x: fn.solarize(x, threshold=threshold), p)


@augmentation
def random_adjust_sharpness(images: Any, sharpness_factor: float, p: float = 0.5) -> Any:
    """Sharpens or blurs a part of the images, as torchvision's RandomAdjustSharpness does.

    Args:
        images: Images of uint8, uint16 or floating point. Layouts: HW, HWC, CHW.
        sharpness_factor: 0 blurs, 1 leaves an image unchanged, more sharpens it.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_adjust_sharpness(image, sharpness_factor=2.0)
    """
    return maybe(images, lambda x: fn.adjust_sharpness(x, sharpness_factor=sharpness_factor), p)


@augmentation
def random_autocontrast(images: Any, p: float = 0.5) -> Any:
    """Stretches a part of the images over the whole range, as torchvision's RandomAutocontrast does.

    Args:
        images: Images of uint8, uint16 or floating point. Layouts: HW, HWC, CHW.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_autocontrast(image)
    """
    return maybe(images, fn.autocontrast, p)


@augmentation
def random_equalize(images: Any, p: float = 0.5) -> Any:
    """Equalizes the histograms of a part of the images, as torchvision's RandomEqualize does.

    Args:
        images: Images of uint8. Layouts: HW, HWC, CHW.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_equalize(image)
    """
    return maybe(images, lambda x: fn.equalize(x, rule="pillow"), p)
