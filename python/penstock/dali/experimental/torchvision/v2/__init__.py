# SPDX-License-Identifier: Apache-2.0
"""The transforms, and their functions in `functional`."""

from . import functional
from .interpolations import InterpolationMode
from .randomized import (
    ColorJitter,
    RandomApply,
    RandomCrop,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
)
from .transforms import (
    CenterCrop,
    Compose,
    GaussianBlur,
    Grayscale,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    ToPILImage,
    ToPureTensor,
)

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomCrop",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToPureTensor",
    "functional",
]
