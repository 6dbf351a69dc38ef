# SPDX-License-Identifier: Apache-2.0
"""Compose and the transforms of Albumentations 1.4 by their names, on arrays, batches and in pipelines."""

from .compose import Compose, OneOf, ReplayCompose, Sequential, SomeOf
from .targets import BboxParams, KeypointParams
from .transforms import CLASSES, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

globals().update(CLASSES)
__all__ = ["BboxParams", "Compose", "KeypointParams", "OneOf", "ReplayCompose", "Sequential", "SomeOf"]
__all__ += sorted(CLASSES)


def __getattr__(name: str) -> "Any":
    raise AttributeError(missing(name), name=name)


def __dir__() -> list[str]:  # neither the modules of the inside nor what they import
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
