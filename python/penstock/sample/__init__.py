# SPDX-License-Identifier: Apache-2.0
"""Samples of several parts that move together: images, volumes, masks, boxes, points, keypoints, labels."""

from .. import _core
from .._base.public import public
from .moves import apply
from .parts import Boxes, Image, Instances, Keypoints, Mask, Other, Points, Volume
from .sample import Sample

__all__ = ["Boxes", "Image", "Instances", "Keypoints", "Mask", "Other", "Points", "Sample", "Volume", "apply"]
public(__name__, *(globals()[name] for name in __all__))
_core.set_sample_type(Sample, apply)
