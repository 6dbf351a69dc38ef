# SPDX-License-Identifier: Apache-2.0
"""What operators did to a sample, as plain data."""

from .. import _core
from .._base.element_types import DType


def plain(value):
    if isinstance(value, _core.NodeRef):
        raise TypeError(
            "params: what a pipeline draws is not known while it is defined; when it has run, Pipeline.params has it"
        )
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (_core.Tensor, _core.Batch)):
        return value.cpu().as_array().tolist() if isinstance(value, _core.Batch) else value.cpu().numpy().tolist()
    return int(value) if isinstance(value, DType) else value
