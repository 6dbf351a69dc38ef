# SPDX-License-Identifier: Apache-2.0
"""Spectrograms of speech: their masks, and features that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import fn
from .recordings import of_samples
from .samples import checked_probability


@of_samples
def time_masking(spectrograms: Any, time_mask_param: int, p: float = 1.0) -> Any:
    """Masks one random stretch of time with zeros, as torchaudio.transforms.TimeMasking does.

    Args:
        spectrograms: (..., features, frames), or with a layout that has f and t; any type.
        time_mask_param: The largest width of the mask in frames; smaller ones are as likely.
        p: The largest part of the frames that may be masked.

    Returns:
        Spectrograms of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> result = penstock.augment.time_masking(np.ones((80, 300), np.float32), 100)
    """
    p = float(checked_probability(p))
    return fn.spec_augment(spectrograms, freq_masks=0, time_masks=1, time_width=time_mask_param, time_fraction=p)


@of_samples
def frequency_masking(spectrograms: Any, freq_mask_param: int) -> Any:
    """Masks one random band of frequencies with zeros, as torchaudio.transforms.FrequencyMasking does.

    Args:
        spectrograms: (..., features, frames), or with a layout that has f and t; any type.
        freq_mask_param: The largest width of the mask in features; smaller ones are as likely.

    Returns:
        Spectrograms of the same shapes and type.

    Raises:
        ValueError: freq_mask_param is negative.

    Example:
        >>> result = penstock.augment.frequency_masking(np.ones((80, 300), np.float32), 27)
    """
    return fn.spec_augment(spectrograms, freq_masks=1, freq_width=freq_mask_param, time_masks=0)


@of_samples
def deltas(features: Any, win_length: int = 5) -> Any:
    """Tells how features change over time, as torchaudio.functional.compute_deltas does.

    A delta is the slope of the line through win_length frames.

    Args:
        features: float32, (features, frames); the first and the last frame are repeated at the ends.
        win_length: Frames, odd and at least 3.

    Returns:
        float32 of the same shapes.

    Raises:
        ValueError: win_length is even, or less than 3.

    Example:
        >>> penstock.augment.deltas(np.float32([[0, 1, 2, 3, 4, 5]]))[0, 2:4].tolist()
        [1.0, 1.0]
    """
    if win_length < 3 or win_length % 2 == 0:
        raise ValueError(f"win_length must be odd and at least 3, got {win_length!r}")
    n = win_length // 2
    steps = np.arange(-n, n + 1, dtype=np.float32)[None]
    return fn.correlate(features, steps / (steps**2).sum(), border="clamp")
