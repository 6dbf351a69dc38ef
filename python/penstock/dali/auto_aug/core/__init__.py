# SPDX-License-Identifier: Apache-2.0
"""What automatic augmentations are made of."""

from .decorator import augmentation
from .magnitudes import signed_bin
from .policy import Policy
from .selection import select

__all__ = ["Policy", "augmentation", "select", "signed_bin"]
