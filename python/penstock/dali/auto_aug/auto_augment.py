# SPDX-License-Identifier: Apache-2.0
"""AutoAugment: pairs of operations that were learned for a data set."""

from __future__ import annotations

from typing import Any

from ... import control, fn
from ...augment import numbers
from . import augmentations as a
from . import policies
from .core.arguments import check_all_taken
from .core.magnitudes import signed_bin
from .core.policy import Policy
from .core.selection import select
from .draws import below, of_warps, seed_of, translations

__all__ = [
    "Policy",
    "apply_auto_augment",
    "auto_augment",
    "auto_augment_image_net",
    "get_image_net_policy",
    "get_reduced_cifar10_policy",
    "get_reduced_image_net_policy",
    "get_svhn_policy",
]
_BINS = 11


def enhancements():
    """Brightness, contrast, color and sharpness by a factor from 0.1 to 1.9."""
    factors = [x.augmentation(mag_range=(0.1, 1.9), randomly_negate=False) for x in (a.brightness, a.contrast, a.color)]
    plain = [x.augmentation(mag_to_param=None) for x in factors]
    kernel = a.sharpness_kernel_shifted
    return [*plain, a.sharpness.augmentation(mag_range=(0.1, 1.9), randomly_negate=False, mag_to_param=kernel)]


def thresholds():
    """Posterize and solarize, weaker with a larger magnitude bin."""
    return [
        a.posterize.augmentation(mag_range=(0, 4), randomly_negate=False),
        a.solarize.augmentation(mag_range=(0, 256), randomly_negate=False),
    ]


def _policy(name, text, use_shape=False, max_translate_abs=None, max_translate_rel=None):
    moved = translations(use_shape, 250, 1.0, max_translate_abs, max_translate_rel)
    added = a.solarize_add.augmentation(randomly_negate=False)
    all_ = [*moved, a.shear_x, a.shear_y, a.rotate, *enhancements(), *thresholds(), added]
    by_name = {x.name: x for x in [*all_, a.invert, a.equalize, a.auto_contrast]}
    return Policy(name, _BINS, policies.sub_policies(text, by_name))


def get_image_net_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy that was learned for ImageNet.

    Args:
        use_shape: Translations are parts of the shape of the images.
        max_translate_abs: The largest translation in pixels, or a pair (height, width). Default: 250.
        max_translate_rel: The largest translation as a part of the shape, or a pair. Default: 1.

    Returns:
        The policy, for apply_auto_augment().

    Raises:
        ValueError: A limit does not fit to use_shape.

    Example:
        >>> from penstock.dali.auto_aug.auto_augment import get_image_net_policy
        >>> len(get_image_net_policy().sub_policies)
        25
    """
    return _policy("ImageNetPolicy", policies.IMAGE_NET, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_image_net_policy() -> Policy:
    """The policy that was learned for a part of ImageNet. It has no translations.

    Returns:
        The policy, for apply_auto_augment().
    """
    return _policy("ReducedImageNetPolicy", policies.REDUCED_IMAGE_NET)


def get_svhn_policy(use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None) -> Policy:
    """The policy that was learned for SVHN.

    Args:
        use_shape, max_translate_abs, max_translate_rel: As those of get_image_net_policy().

    Returns:
        The policy, for apply_auto_augment().
    """
    return _policy("SvhnPolicy", policies.SVHN, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_cifar10_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy that was learned for a part of CIFAR-10.

    Args:
        use_shape, max_translate_abs, max_translate_rel: As those of get_image_net_policy().

    Returns:
        The policy, for apply_auto_augment().
    """
    return _policy("ReducedCifar10Policy", policies.REDUCED_CIFAR10, use_shape, max_translate_abs, max_translate_rel)


_POLICIES = {
    "image_net": get_image_net_policy,
    "reduced_image_net": get_reduced_image_net_policy,
    "svhn": get_svhn_policy,
    "reduced_cifar10": get_reduced_cifar10_policy,
}


def auto_augment(
    data: Any,
    policy_name: str = "image_net",
    shape: Any = None,
    fill_value: int | None = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
) -> Any:
    """Applies AutoAugment: each sample draws one of 25 sequences, and whether each of its operations is taken.

    Source: E. Cubuk et al., "AutoAugment: Learning Augmentation Strategies from Data", 2018.

    Args:
        data: Images (HWC) or videos (FHWC) of uint8.
        policy_name: "image_net", "reduced_image_net", "svhn" or "reduced_cifar10".
        shape: (height, width) of the images. If it is given, translations reach up to a part of it.
        fill_value: The value outside the image; None repeats the border.
        interp_type: The interpolation of warps, types.INTERP_LINEAR or types.INTERP_NN.
        max_translate_abs: The largest translation in pixels, or a pair (height, width). Default: 250.
        max_translate_rel: The largest translation as a part of the shape, or a pair. Default: 1.
        seed: The seed of the draws.

    Returns:
        The samples, augmented.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> from penstock.dali.auto_aug import auto_augment
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def pipe():
        ...     images = fn.external_source([[np.zeros((8, 8, 3), np.uint8)] * 2], layout="HWC")
        ...     return auto_augment.auto_augment(images, "svhn")
        >>> pipe().run()[0].shape()
        [(8, 8, 3), (8, 8, 3)]
    """
    if policy_name not in _POLICIES:
        raise ValueError(f"policy_name must be one of {', '.join(map(repr, _POLICIES))}, got {policy_name!r}")
    limits = (max_translate_abs, max_translate_rel)
    if policy_name == "reduced_image_net":
        if limits != (None, None):
            raise ValueError(
                "the policy 'reduced_image_net' has no translations: omit max_translate_abs and max_translate_rel"
            )
        policy, shape = get_reduced_image_net_policy(), None
    else:
        policy = _POLICIES[policy_name](shape is not None, *limits)
    return apply_auto_augment(policy, data, seed, **of_warps(shape, fill_value, interp_type))


def auto_augment_image_net(
    data: Any,
    shape: Any = None,
    fill_value: int | None = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
) -> Any:
    """Applies AutoAugment with the policy that was learned for ImageNet.

    Args:
        data, shape, fill_value, interp_type, max_translate_abs, max_translate_rel, seed: As those of auto_augment().

    Returns:
        The samples, augmented.

    Raises:
        ValueError: An argument is out of its range.
    """
    return auto_augment(data, "image_net", shape, fill_value, interp_type, max_translate_abs, max_translate_rel, seed)


def apply_auto_augment(policy: Policy, data: Any, seed: int | None = None, **kwargs: Any) -> Any:
    """Applies a policy: each sample draws one of its sequences, and whether each step is taken.

    Args:
        policy: The policy.
        data: A value of the pipeline.
        seed: The seed of the draws.
        **kwargs: Further arguments. Each augmentation gets those that it takes.

    Returns:
        The samples, augmented.

    Raises:
        ValueError: The policy is empty.
        TypeError: An argument is missing, or no augmentation takes it.
    """
    longest = max(map(len, policy.sub_policies), default=0)
    if not longest:
        raise ValueError(f"apply_auto_augment needs a policy with steps, got {policy!r}")
    check_all_taken(policy.augmentations.values(), kwargs, "apply_auto_augment")
    chosen = below(len(policy.sub_policies), seed, 0)
    chances = fn.random.uniform(range=[0.0, 1.0], shape=[longest], **seed_of(seed, 1))
    signs = signed_bin(0, shape=(longest,), **seed_of(seed, 2)).random_sign
    for k in range(longest):
        data = _step(policy, k, chosen, chances[k], signs[k], data, kwargs)
    return data


def _step(policy, k, chosen, chance, sign, data, given):
    """Step k of the sequence that each sample has drawn."""
    steps = [sub_policy[k] if k < len(sub_policy) else None for sub_policy in policy.sub_policies]
    used = [x for x in policy.augmentations.values() if any(step and step[0] is x for step in steps)]
    index = numbers.entry([used.index(step[0]) if step else 0 for step in steps], chosen)
    bins = numbers.entry([(step[2] or 0) if step else 0 for step in steps], chosen)
    taken = chance < numbers.entry([step[1] if step else 0.0 for step in steps], chosen)
    magnitude = {"magnitude_bin": signed_bin(bins, sign), "num_magnitude_bins": policy.num_magnitude_bins}
    return control.if_(taken, lambda: select(used, index, data, **magnitude, **given), lambda: data)
