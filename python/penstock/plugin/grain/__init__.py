# SPDX-License-Identifier: Apache-2.0
"""Pipelines as data sets of Grain; docs/how_to/use_with_other_loaders.md shows them at work.

Grain is imported when a name is used first.
"""

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dataset import PipelineDatasetIterator, PipelineIterDataset

__all__ = ["PipelineDatasetIterator", "PipelineIterDataset"]


def _imported_late(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.dataset"), name)


if not TYPE_CHECKING:
    __getattr__ = _imported_late


def __dir__():
    return __all__
