# SPDX-License-Identifier: Apache-2.0
"""Operators that torch.compile accepts: torch.ops.penstock.resize and its kind, as functions of this module.

Here is every operator of the registry that takes one tensor, gives one, and whose result has a shape that follows from the
shape of the tensor and the arguments: the members of the family "stage". They take the arguments of penstock.fn by name, as
constants: filters and color spaces by their names, types as torch.dtype, lists also where there is one number. `layout` says
what the dimensions of the tensor mean, as penstock.tensor() takes it. Gradients do not pass.

Example:
    >>> import torch
    >>> from penstock.torch import ops
    >>> smaller = torch.compile(lambda x: ops.resize(x, size=[24, 32], layout="HWC"), backend="eager", fullgraph=True)
    >>> smaller(torch.zeros(48, 64, 3, dtype=torch.uint8)).shape
    torch.Size([24, 32, 3])
"""

from __future__ import annotations

import torch

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = {
    "bool": "bool?",
    "int": "int?",
    "float": "float?",
    "str": "str?",
    "dtype": "ScalarType?",
    "Sequence[int]": "int[]?",
    "Sequence[float]": "float[]?",
    "Sequence[str]": "str[]?",
}
_NAMED = ("interp_type", "mag_filter", "min_filter", "image_type", "output_type")  # numbers that have names
_MORE_OUTPUTS = ("save_attrs",)


def _fits(schema):
    """Whether an operator takes one tensor and gives one, of a shape that is known before the values."""
    plain = not (schema["hidden"] or schema["random"] or schema["calls_back"] or schema["decodes_to_device"])
    one = schema["min_inputs"] == schema["max_inputs"] == schema["outputs"] == 1
    return plain and one and schema["family"] == "stage" and schema["input_names"][:1] != ["encoded"]


def _parameters(schema):
    """The arguments in the words of torch's schemas."""
    arguments = [a for a in schema["args"] if a["name"] not in _MORE_OUTPUTS]
    kinds = {a["name"]: "str?" if a["name"] in _NAMED else _KINDS[a["type"]] for a in arguments}
    return "".join(f", {kind} {name}=None" for name, kind in kinds.items())


def _calls(function):
    """What computes the operator for a tensor."""

    def call(input, *, layout=None, **given):
        given = {name: value for name, value in given.items() if value is not None}
        result = function(_core.tensor(input.detach(), layout=layout or ""), **given).torch()
        shared = result.untyped_storage().data_ptr() == input.untyped_storage().data_ptr()
        return result.clone() if shared and result.numel() else result

    return call


def _shapes(call):
    """What tells torch the shape and the type of the result: those of a call on zeros, since values do not matter."""

    def fake(input, **given):
        with torch._C._DisableTorchDispatch(), torch.utils._python_dispatch._disable_current_modes():
            found = call(torch.zeros([int(n) for n in input.shape], dtype=input.dtype), **given)
        return input.new_empty(tuple(found.shape), dtype=found.dtype)

    return fake


_library = torch.library.Library("penstock", "DEF")
__all__ = []
for _name in _core.operators():
    _schema = _core.operator_schema(_name)
    if _fits(_schema):
        _call, _op = _calls(_core.operator_function(_name)), _name.replace(".", "_")
        _library.define(f"{_op}(Tensor input, *, str? layout=None{_parameters(_schema)}) -> Tensor")
        _library.impl(_op, _call, "CompositeExplicitAutograd")
        torch.library.register_fake(f"penstock::{_op}", _shapes(_call), lib=_library)
        globals()[_op] = getattr(torch.ops.penstock, _op)
        __all__.append(_op)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
