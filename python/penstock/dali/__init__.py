# SPDX-License-Identifier: Apache-2.0
"""Scripts for DALI, unchanged: `python -m penstock.dali script.py`, or penstock.dali.install() before their imports.

The modules here have the names of those of nvidia.dali and do their work with Penstock. They add what would blur its own surface:
deprecated names of operators, and a meaning for some lines that DALI refuses, each with one MeaningWarning
(docs/reference/dali.md lists both).
"""

from .. import math, _tensors as tensors, tfrecord, types
from .._graph import newaxis
from ..types import OperatorConcurrency, StreamPolicy
from . import fn, ops, pipeline, plugin
from .meanings import MeaningWarning
from .modules import install, uninstall
from .pipeline import DataNode, Pipeline, pipeline_def

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "2.4.0"  # the version of DALI that has these names
__all__ = [
    "DataNode",
    "MeaningWarning",
    "OperatorConcurrency",
    "Pipeline",
    "StreamPolicy",
    "fn",
    "install",
    "math",
    "newaxis",
    "ops",
    "pipeline",
    "pipeline_def",
    "plugin",
    "tensors",
    "tfrecord",
    "types",
    "uninstall",
]


def __getattr__(name: str) -> "Any":
    from .modules import member

    found = member(name)
    if found is None:
        raise AttributeError(
            f"module 'nvidia.dali' has no attribute '{name}' yet; docs/reference/dali.md lists what there is"
        )
    return found


def __dir__():
    from .modules import members

    return sorted({*globals(), *members()})
