# SPDX-License-Identifier: Apache-2.0
"""The parameters of an augmentation: a table of its magnitudes, from which each sample takes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import fn
from ....augment import numbers
from ...._base.element_types import DType
from ...._graph import DataNode
from ....types import Constant


@dataclass(frozen=True)
class SignedBin:
    """A magnitude bin, and for each sample whether its magnitude is negated (1) or not (0)."""

    bin: Any
    random_sign: Any

    def __getitem__(self, key):
        """Some of several bins, with their signs."""
        both = [
            part[key] if isinstance(part, DataNode) and part.ndim else part for part in (self.bin, self.random_sign)
        ]
        return SignedBin(*both)


def signed_bin(
    magnitude_bin: Any, random_sign: Any = None, seed: int | None = None, shape: tuple[int, ...] | None = None
) -> SignedBin:
    """Joins a magnitude bin with a sign, which augmentations with `randomly_negate=True` apply.

    Args:
        magnitude_bin: An integer from 0 to num_magnitude_bins - 1, or a value of the pipeline.
        random_sign: 1 for each sample whose magnitude is negated, else 0. Default: drawn, both equally likely.
        seed: The seed of the draw.
        shape: How many signs a sample draws. Default: one.

    Returns:
        What augmentations take as `magnitude_bin`.

    Example:
        >>> penstock.dali.auto_aug.core.signed_bin(3, random_sign=1)
        SignedBin(bin=3, random_sign=1)
    """
    if random_sign is None:
        given = {name: value for name, value in (("seed", seed), ("shape", shape)) if value is not None}
        random_sign = fn.random.uniform(values=[0.0, 1.0], dtype=DType.INT32, **given)
    return SignedBin(magnitude_bin, random_sign)


def magnitudes_of(augmentation, count):
    """The magnitudes of all bins; None for an augmentation without."""
    chosen = augmentation.mag_range
    if chosen is None:
        return None
    if isinstance(chosen, np.ndarray):
        if len(chosen) != count:
            raise ValueError(
                f"the array `mag_range` of the augmentation `{augmentation.name}` has {len(chosen)} magnitudes, but "
                f"num_magnitude_bins is {count}: pass num_magnitude_bins={len(chosen)}"
            )
        return chosen
    if not isinstance(chosen, (tuple, list)) or len(chosen) != 2:
        raise ValueError(
            f"`mag_range` of the augmentation `{augmentation.name}` must be a pair (first, last) or a NumPy array, "
            f"got {chosen!r}"
        )
    return np.linspace(chosen[0], chosen[1], count)


def parameter(augmentation, magnitude_bin, count, device):
    """What the function of an augmentation gets beside the samples."""
    bin_, sign = magnitude_bin, None
    if isinstance(magnitude_bin, SignedBin):
        bin_, sign = magnitude_bin.bin, magnitude_bin.random_sign
    _check_bin(augmentation, bin_, count)
    magnitudes = magnitudes_of(augmentation, count)
    if not augmentation.randomly_negate:
        sign = None
    elif sign is None:
        sign = signed_bin(bin_).random_sign
    if not isinstance(bin_, DataNode):
        magnitudes, bin_ = magnitudes[int(bin_) : int(bin_) + 1], 0
    table = _table(augmentation, magnitudes if sign is None else np.stack([magnitudes, -magnitudes], axis=1).ravel())
    at = bin_ if sign is None else bin_ * 2 + sign
    return _entry(table, at, device)


def _check_bin(augmentation, bin_, count):
    if isinstance(bin_, DataNode):
        return
    if isinstance(bin_, bool) or not isinstance(bin_, (int, np.integer)):
        raise TypeError(
            f"`magnitude_bin` of the augmentation `{augmentation.name}` must be an integer or a value of the pipeline, "
            f"got {bin_!r}"
        )
    if not 0 <= bin_ < count:
        raise IndexError(
            f"`magnitude_bin` of the augmentation `{augmentation.name}` must be from 0 to {count - 1}, got {bin_!r}"
        )


def _table(augmentation, magnitudes):
    """The parameters of magnitudes, one after the other."""
    made = [np.asarray(augmentation.mag_to_param(m) if augmentation.mag_to_param else m) for m in magnitudes]
    if len({(m.dtype, m.shape) for m in made}) > 1:
        raise ValueError(
            f"`mag_to_param` of the augmentation `{augmentation.name}` must give one type and shape for all magnitudes, got "
            f"{sorted({f'{m.dtype}{m.shape}' for m in made})}"
        )
    return np.stack(made)


def _entry(table, at, device):
    if not isinstance(at, DataNode):
        return Constant(table[int(at)], device=device)
    if table.ndim == 1 and table.dtype.kind == "f" and device == "cpu":
        return numbers.entry(table.tolist(), at)
    return Constant(table, device=device)[at]
