# SPDX-License-Identifier: Apache-2.0
"""Interpolations with torchvision's names."""

from __future__ import annotations

import enum
from typing import Any

from .....types import DALIInterpType


class InterpolationMode(enum.Enum):
    """Names how an image is resampled."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_OF_PILLOW = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
_KINDS = {
    "nearest": DALIInterpType.INTERP_NN,
    "nearest-exact": DALIInterpType.INTERP_NN,
    "bilinear": DALIInterpType.INTERP_LINEAR,
    "bicubic": DALIInterpType.INTERP_CUBIC,
    "lanczos": DALIInterpType.INTERP_LANCZOS3,
}


def interpolation_of(value: Any) -> Any:
    """The filter of an InterpolationMode, of torchvision's, of its text, or of Pillow's number.

    Args:
        value: The interpolation.

    Raises:
        ValueError: There is no such interpolation here.
    """
    text = getattr(value, "value", value)
    text = _OF_PILLOW.get(text, text)
    if text not in _KINDS:
        raise ValueError(
            f"interpolation must be one of {', '.join(_KINDS)}, got {value!r}; cvcuda.tv has box and hamming"
        )
    return _KINDS[text]
