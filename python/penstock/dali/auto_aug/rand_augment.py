# SPDX-License-Identifier: Apache-2.0
"""RandAugment: operations of one magnitude, one after the other."""

from __future__ import annotations

from typing import Any, Sequence

from ..._base.log import warn
from . import augmentations as a
from .core.arguments import check_all_taken, check_count
from .core.decorator import Augmentation
from .core.magnitudes import signed_bin
from .core.selection import select
from .draws import below, of_warps, seed_of, translations, used, without

__all__ = ["apply_rand_augment", "get_rand_augment_non_monotonic_suite", "get_rand_augment_suite", "rand_augment"]
_PIXELS, _PART = 100, 100 / 224  # the defaults of the limits of translations


def rand_augment(
    data: Any,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: int | None = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: Sequence[str] | None = None,
) -> Any:
    """Applies RandAugment: each sample draws n of 14 operations, all with the magnitude m.

    Source: E. Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced search space", 2019.

    Args:
        data: Images (HWC) or videos (FHWC) of uint8.
        n: The number of operations.
        m: The magnitude bin.
        num_magnitude_bins: The number of magnitude bins.
        shape: (height, width) of the images. If it is given, translations reach up to a part of it.
        fill_value: The value outside the image; None repeats the border.
        interp_type: The interpolation of warps, types.INTERP_LINEAR or types.INTERP_NN.
        max_translate_abs: The largest translation in pixels, or a pair (height, width). Default: 100.
        max_translate_rel: The largest translation as a part of the shape, or a pair. Default: 100 / 224.
        seed: The seed of the draws.
        monotonic_mag: A larger bin is a stronger effect for all operations.
        excluded: Names of operations that are left out.

    Returns:
        The samples, augmented.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> from penstock.dali.auto_aug import rand_augment
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def pipe():
        ...     images = fn.external_source([[np.zeros((8, 8, 3), np.uint8)] * 2], layout="HWC")
        ...     return rand_augment.rand_augment(images, n=2, m=17)
        >>> pipe().run()[0].shape()
        [(8, 8, 3), (8, 8, 3)]
    """
    suite = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    chosen = without(suite(shape is not None, max_translate_abs, max_translate_rel), excluded, "RandAugment")
    given = used(chosen, of_warps(shape, fill_value, interp_type))
    return apply_rand_augment(chosen, data, n, m, num_magnitude_bins, seed, **given)


def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: Any,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> Any:
    """Applies RandAugment with a list of augmentations.

    Args:
        augmentations: The list that samples draw from.
        data: A value of the pipeline.
        n: The number of operations.
        m: The magnitude bin.
        num_magnitude_bins: The number of magnitude bins.
        seed: The seed of the draws.
        **kwargs: Further arguments. Each augmentation gets those that it takes.

    Returns:
        The samples, augmented.

    Raises:
        ValueError: An argument is out of its range.
        TypeError: An argument is missing, or no augmentation takes it.
    """
    check_count("n", n, 0)
    check_count("num_magnitude_bins", num_magnitude_bins)
    if isinstance(m, bool) or not isinstance(m, int) or not 0 <= m < num_magnitude_bins:
        raise ValueError(f"the magnitude bin `m` must be an integer from 0 to {num_magnitude_bins - 1}, got {m!r}")
    check_all_taken(augmentations, kwargs, "apply_rand_augment")
    if n == 0:
        warn("dali", "apply_rand_augment with n=0 applies nothing")
        return data
    if not augmentations:
        raise ValueError("apply_rand_augment needs at least one augmentation, the list is empty")
    indices = below(len(augmentations), seed, 0, (n,))
    bins = signed_bin(m, shape=(n,), **seed_of(seed, 1))
    for k in range(n):
        data = select(
            augmentations, indices[k], data, magnitude_bin=bins[k], num_magnitude_bins=num_magnitude_bins, **kwargs
        )
    return data


def get_rand_augment_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The 14 augmentations of RandAugment, all stronger with a larger magnitude bin.

    Args:
        use_shape: Translations are parts of the shape of the images.
        max_translate_abs: The largest translation in pixels, or a pair (height, width). Default: 100.
        max_translate_rel: The largest translation as a part of the shape, or a pair. Default: 100 / 224.

    Returns:
        Augmentations.

    Raises:
        ValueError: A limit does not fit to use_shape.

    Example:
        >>> from penstock.dali.auto_aug.rand_augment import get_rand_augment_suite
        >>> len(get_rand_augment_suite())
        14
    """
    return [
        *translations(use_shape, _PIXELS, _PART, max_translate_abs, max_translate_rel),
        *(a.shear_x, a.shear_y, a.rotate, a.brightness, a.contrast, a.color, a.sharpness),
        a.posterize.augmentation(mag_range=(8, 4), randomly_negate=False),
        *(a.solarize, a.equalize, a.auto_contrast, a.identity),
    ]


def get_rand_augment_non_monotonic_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The 14 augmentations of RandAugment with the magnitudes of AutoAugment: factors of brightness, contrast, color and
    sharpness from 0.1 to 1.9, and posterize and solarize that are weaker with a larger bin.

    Args:
        use_shape: Translations are parts of the shape of the images.
        max_translate_abs: The largest translation in pixels, or a pair (height, width). Default: 100.
        max_translate_rel: The largest translation as a part of the shape, or a pair. Default: 100 / 224.

    Returns:
        Augmentations.

    Raises:
        ValueError: A limit does not fit to use_shape.
    """
    from .auto_augment import enhancements, thresholds

    return [
        *translations(use_shape, _PIXELS, _PART, max_translate_abs, max_translate_rel),
        *(a.shear_x, a.shear_y, a.rotate, *enhancements(), *thresholds(), a.equalize, a.auto_contrast, a.identity),
    ]
