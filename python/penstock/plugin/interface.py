# SPDX-License-Identifier: Apache-2.0
"""What a plug-in for a framework uses of Penstock; docs/reference/plugin_interface.md explains it. These names stay."""

from .._core import Batch, Tensor, batch, gpu_why_not, operator_function, tensor
from .._base.converted_code import is_converted
from .._base.frames import user_line
from .._graph import DataNode, add_call, required
from .._graph.nested import alike, put_together
from .._operators.python_function import Function, add_function, check_function
from .._pipeline.driver import Driver, OutputInfo, Step
from .base_iterator import BaseIterator, LastBatchPolicy

__all__ = [
    "BaseIterator",
    "Batch",
    "DataNode",
    "Driver",
    "Function",
    "LastBatchPolicy",
    "OutputInfo",
    "Step",
    "Tensor",
    "add_call",
    "add_function",
    "alike",
    "batch",
    "check_function",
    "gpu_why_not",
    "is_converted",
    "operator_function",
    "put_together",
    "required",
    "tensor",
    "user_line",
]
