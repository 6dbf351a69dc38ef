# SPDX-License-Identifier: Apache-2.0
"""Pipelines while they are defined: values, and how calls of operators become nodes."""

from .._base.frames import user_line
from .._base.public import public
from . import free_nodes, indexing, nested, numpy_functions
from .building import add_call, add_change, add_node, as_node, constant, stacked
from .expressions import arithmetic
from .definition import Definition
from .node import DataNode, _NewAxis, holds_node, newaxis
from .outputs import as_outputs
from .scope import current, outside, pop, push, required, warn_device

__all__ = [
    "DataNode",
    "Definition",
    "add_call",
    "add_change",
    "add_node",
    "arithmetic",
    "as_node",
    "as_outputs",
    "constant",
    "current",
    "free_nodes",
    "holds_node",
    "indexing",
    "nested",
    "newaxis",
    "numpy_functions",
    "outside",
    "pop",
    "push",
    "required",
    "stacked",
    "user_line",
    "warn_device",
]
public(__name__, _NewAxis)
public("penstock", DataNode)
