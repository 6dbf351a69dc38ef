# SPDX-License-Identifier: Apache-2.0
"""Augmentations that draw one operation after the other."""

from __future__ import annotations

from typing import Any, Sequence

from .. import control
from . import draws, magnitudes, numbers
from .operations import drawn
from .samples import augmentation, interpolation_of


def _checked_bins(magnitude, bins):
    if bins < 2:
        raise ValueError(f"num_magnitude_bins must be at least 2, got {bins!r}")
    if magnitude is not None and not 0 <= magnitude < bins:
        raise ValueError(f"magnitude must be from 0 to {bins - 1}, got {magnitude!r}")


@augmentation
def rand_augment(
    images: Any,
    num_ops: int = 2,
    magnitude: int = 9,
    num_magnitude_bins: int = 31,
    interpolation: str = "nearest",
    fill: float | Sequence[float] = 0,
) -> Any:
    """Applies operations of one magnitude, as torchvision's RandAugment does.

    Each sample draws num_ops of 14 operations with replacement: identity, shear and translation along x and y,
    rotation, brightness, color, contrast, sharpness, posterize, solarize, autocontrast and equalize; and the sign of a
    magnitude.
    Source: E. Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced search space", 2019.

    Args:
        images: RGB images of uint8. Layouts: HWC, CHW.
        num_ops: The number of operations.
        magnitude: The place of the magnitude among num_magnitude_bins.
        num_magnitude_bins: The number of magnitudes, from none to the largest.
        interpolation: "nearest" or "bilinear".
        fill: The value outside the image: one number, or one for each channel.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.rand_augment(image, num_ops=2, magnitude=9)
    """
    if num_ops < 0:
        raise ValueError(f"num_ops must not be negative, got {num_ops!r}")
    _checked_bins(magnitude, num_magnitude_bins)
    kind = interpolation_of(interpolation)
    operations = magnitudes.of_rand_augment(num_magnitude_bins)
    for _ in range(num_ops):
        images = drawn(images, operations, draws.below(len(operations)), magnitude, kind, fill)
    return images


@augmentation
def trivial_augment_wide(
    images: Any, num_magnitude_bins: int = 31, interpolation: str = "nearest", fill: float | Sequence[float] = 0
) -> Any:
    """Applies one operation of a random magnitude, as torchvision's TrivialAugmentWide does.

    The operations are those of rand_augment(), with wider ranges. Source: S. Mueller and F. Hutter, "TrivialAugment:
    Tuning-free Yet State-of-the-Art Data Augmentation", 2021.

    Args:
        images: RGB images of uint8. Layouts: HWC, CHW.
        num_magnitude_bins: The number of magnitudes, all equally likely.
        interpolation: "nearest" or "bilinear".
        fill: The value outside the image: one number, or one for each channel.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.trivial_augment_wide(image)
    """
    _checked_bins(None, num_magnitude_bins)
    kind = interpolation_of(interpolation)
    operations = magnitudes.of_trivial_augment(num_magnitude_bins)
    place = draws.below(num_magnitude_bins)
    return drawn(images, operations, draws.below(len(operations)), place, kind, fill)


@augmentation
def auto_augment(
    images: Any, policy: str = "imagenet", interpolation: str = "nearest", fill: float | Sequence[float] = 0
) -> Any:
    """Applies pairs of operations that were learned for a data set, as torchvision's AutoAugment does.

    Each sample draws one of 25 pairs, and whether each of its operations is applied, by the probabilities of the pair.
    Source: E. Cubuk et al., "AutoAugment: Learning Augmentation Strategies from Data", 2018.

    Args:
        images: RGB images of uint8. Layouts: HWC, CHW.
        policy: "imagenet", "cifar10" or "svhn".
        interpolation: "nearest" or "bilinear".
        fill: The value outside the image: one number, or one for each channel.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.auto_augment(image, policy="cifar10")
    """
    kind = interpolation_of(interpolation)
    pairs = magnitudes.policies(policy)
    chosen = draws.below(len(pairs))
    for k in (0, 1):
        steps = [pair[k] for pair in pairs]
        used = [o for o in magnitudes.of_auto_augment() if o.name in {name for name, _, _ in steps}]
        numbers_of = {o.name: i for i, o in enumerate(used)}
        index = numbers.entry([numbers_of[name] for name, _, _ in steps], chosen)
        place = numbers.entry([place or 0 for _, _, place in steps], chosen)
        taken = draws.uniform(0.0, 1.0) < numbers.entry([p for _, p, _ in steps], chosen)
        images = control.if_(taken, lambda x=images: drawn(x, used, index, place, kind, fill), lambda x=images: x)
    return images
