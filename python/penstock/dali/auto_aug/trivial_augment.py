# SPDX-License-Identifier: Apache-2.0
"""TrivialAugment: one operation of a random magnitude."""

from __future__ import annotations

from typing import Any, Sequence

from . import augmentations as a
from .core.arguments import check_all_taken, check_count
from .core.decorator import Augmentation
from .core.magnitudes import signed_bin
from .core.selection import select
from .draws import below, of_warps, seed_of, translations, used, without

__all__ = ["apply_trivial_augment", "get_trivial_augment_wide_suite", "trivial_augment_wide"]


def trivial_augment_wide(
    data: Any,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: int | None = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    excluded: Sequence[str] | None = None,
) -> Any:
    """Applies TrivialAugment with its wide ranges: each sample draws one of 14 operations, and its magnitude.

    Source: S. Mueller and F. Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation", 2021.

    Args:
        data: Images (HWC) or videos (FHWC) of uint8.
        num_magnitude_bins: The number of magnitude bins, all equally likely.
        shape: (height, width) of the images. If it is given, translations reach up to a part of it.
        fill_value: The value outside the image; None repeats the border.
        interp_type: The interpolation of warps, types.INTERP_LINEAR or types.INTERP_NN.
        max_translate_abs: The largest translation in pixels, or a pair (height, width). Default: 32.
        max_translate_rel: The largest translation as a part of the shape, or a pair. Default: 1.
        seed: The seed of the draws.
        excluded: Names of operations that are left out.

    Returns:
        The samples, augmented.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> from penstock.dali.auto_aug import trivial_augment
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def pipe():
        ...     images = fn.external_source([[np.zeros((8, 8, 3), np.uint8)] * 2], layout="HWC")
        ...     return trivial_augment.trivial_augment_wide(images)
        >>> pipe().run()[0].shape()
        [(8, 8, 3), (8, 8, 3)]
    """
    suite = get_trivial_augment_wide_suite(shape is not None, max_translate_abs, max_translate_rel)
    chosen = without(suite, excluded, "TrivialAugment")
    given = used(chosen, of_warps(shape, fill_value, interp_type))
    return apply_trivial_augment(chosen, data, num_magnitude_bins, seed, **given)


def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: Any,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> Any:
    """Applies TrivialAugment with a list of augmentations.

    Args:
        augmentations: The list that samples draw from.
        data: A value of the pipeline.
        num_magnitude_bins: The number of magnitude bins, all equally likely.
        seed: The seed of the draws.
        **kwargs: Further arguments. Each augmentation gets those that it takes.

    Returns:
        The samples, augmented.

    Raises:
        ValueError: An argument is out of its range.
        TypeError: An argument is missing, or no augmentation takes it.
    """
    check_count("num_magnitude_bins", num_magnitude_bins)
    if not augmentations:
        raise ValueError("apply_trivial_augment needs at least one augmentation, the list is empty")
    check_all_taken(augmentations, kwargs, "apply_trivial_augment")
    bins = signed_bin(below(num_magnitude_bins, seed, 1), **seed_of(seed, 2))
    index = below(len(augmentations), seed, 0)
    return select(augmentations, index, data, magnitude_bin=bins, num_magnitude_bins=num_magnitude_bins, **kwargs)


def get_trivial_augment_wide_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The 14 augmentations of TrivialAugment with its wide ranges.

    Args:
        use_shape: Translations are parts of the shape of the images.
        max_translate_abs: The largest translation in pixels, or a pair (height, width). Default: 32.
        max_translate_rel: The largest translation as a part of the shape, or a pair. Default: 1.

    Returns:
        Augmentations.

    Raises:
        ValueError: A limit does not fit to use_shape.

    Example:
        >>> from penstock.dali.auto_aug.trivial_augment import get_trivial_augment_wide_suite
        >>> get_trivial_augment_wide_suite()[4].mag_range
        (0, 135)
    """
    factors = (a.brightness, a.contrast, a.color, a.sharpness)
    return [
        *translations(use_shape, 32, 1.0, max_translate_abs, max_translate_rel),
        *(x.augmentation(mag_range=(0, 0.99)) for x in (a.shear_x, a.shear_y)),
        a.rotate.augmentation(mag_range=(0, 135)),
        *(x.augmentation(mag_range=(0.01, 0.99)) for x in factors),
        a.posterize.augmentation(mag_range=(8, 2), randomly_negate=False),
        *(a.solarize, a.equalize, a.auto_contrast, a.identity),
    ]
