# SPDX-License-Identifier: Apache-2.0
"""cvcuda.tv: the functions of torchvision.transforms.v2.functional on tensors of cvcuda and torch, and Compose."""

from . import color, geometry
from .color import *  # noqa: F403
from .compose import Compose
from .geometry import *  # noqa: F403

__all__ = ["Compose", *color.__all__, *geometry.__all__]
