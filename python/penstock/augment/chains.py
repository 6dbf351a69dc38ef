# SPDX-License-Identifier: Apache-2.0
"""AugMix: a mix of chains of operations."""

from __future__ import annotations

from typing import Any, Sequence

from .. import control, fn
from .._base.element_types import DType
from ..sample import Image, Other, Sample
from . import draws, magnitudes
from .operations import drawn
from .samples import augmentation, interpolation_of


@augmentation
def aug_mix(
    images: Any,
    severity: int = 3,
    mixture_width: int = 3,
    chain_depth: int = -1,
    alpha: float = 1.0,
    all_ops: bool = True,
    interpolation: str = "bilinear",
    fill: float | Sequence[float] = 0,
) -> Any:
    """Mixes an image with several chains of operations on it, as torchvision's AugMix does.

    Source: D. Hendrycks et al., "AugMix: A Simple Data Processing Method to Improve Robustness and Uncertainty", 2019.

    Args:
        images: RGB images of uint8. Layouts: HWC, CHW. Or a Sample of images without boxes, masks and points.
        severity: Each operation draws one of its first `severity` of 10 magnitudes.
        mixture_width: The number of chains.
        chain_depth: The number of operations of a chain; if it is not positive, each chain draws from 1 to 3.
        alpha: The parameter of the distributions of the shares: Dirichlet's for the chains, beta for the original.
        all_ops: Use brightness, color, contrast and sharpness as well.
        interpolation: "nearest" or "bilinear".
        fill: The value outside the image: one number, or one for each channel.

    Returns:
        Images of the same shapes and type.

    Raises:
        TypeError: A Sample has parts that move.
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.aug_mix(image, severity=5)
    """
    if not 1 <= severity <= 10:
        raise ValueError(f"severity must be from 1 to 10, got {severity!r}")
    if mixture_width < 1 or not alpha > 0:
        raise ValueError(f"mixture_width and alpha must be positive, got {mixture_width!r} and {alpha!r}")
    if isinstance(images, Sample):
        moved = [name for name, part in images.kinds.items() if not isinstance(part, (Image, Other))]
        if moved:
            raise TypeError(
                f"aug_mix blends pictures that were moved in different ways: '{moved[0]}' ({type(images.kinds[moved[0]]).__name__}) "
                "of the Sample would have no one place. rand_augment(sample) and trivial_augment_wide(sample) move all parts; "
                "aug_mix(sample['image']) changes the image alone"
            )
        return images.with_images(
            lambda x: aug_mix(
                x, severity, mixture_width, chain_depth, alpha, all_ops, interpolation=interpolation, fill=fill
            )
        )
    kind, operations = interpolation_of(interpolation), magnitudes.of_aug_mix(all_ops)

    def step(image):
        return drawn(image, operations, draws.below(len(operations)), draws.below(severity), kind, fill)

    original, augmented = draws.shares(2, alpha)
    mix = fn.cast(images, dtype=DType.FLOAT) * original
    for share in draws.shares(mixture_width, alpha):
        depth = control.range_(chain_depth if chain_depth > 0 else draws.below(3) + 1)
        chain = control.for_(depth, lambda _, x: (step(x),), (images,))[0]
        mix = mix + fn.cast(chain, dtype=DType.FLOAT) * (share * augmented)
    return fn.cast_like(mix, images)
