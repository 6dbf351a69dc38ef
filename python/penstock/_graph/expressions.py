# SPDX-License-Identifier: Apache-2.0
"""Python's operators on values of pipelines, Tensors and Batches."""

from .. import _core
from .._base.element_types import ScalarConstant
from .building import add_node
from .constants import scalar
from .indexing import subscript
from .node import DataNode
from .scope import current


def _two_operands(op, left, right):
    """Makes a scalar operand an argument, so that the operator stays in one pass with its neighbors. If both operands are
    on the GPU they stay inputs, because arguments are read on the host."""
    if all(isinstance(o, DataNode) and o.device == "gpu" for o in (left, right)):
        return add_node(op, (left, right), {})
    if all(isinstance(o, DataNode) and o.ndim == 0 and o.device == "cpu" for o in (left, right)):
        return add_node(op, (left, right), {})  # numbers of all samples are one row (src/exec/steps/number_row.h)
    if isinstance(left, DataNode):
        number = scalar(right)
        if number is not None:
            return add_node(op, (left,), {"right": number[0], "right_type": number[1]})
    number = scalar(left)
    if number is not None and isinstance(right, DataNode):
        return add_node(op, (right,), {"left": number[0], "left_type": number[1]})
    for operand in (left, right):
        if isinstance(operand, (str, bytes, dict, set)) or operand is None:
            return NotImplemented
    return add_node(op, (left, right), {})


def _immediate(op, *operands):
    """Runs the operator now, on Tensors, Batches and arrays."""
    function = _functions.get(op)
    if function is None:
        function = _functions[op] = _core.operator_function(op)
    if len(operands) == 2:
        left, right = operands
        for value, other, side in ((right, left, "right"), (left, right, "left")):
            if isinstance(value, ScalarConstant) or type(value) in (bool, int, float):
                number, dtype = scalar(value)
                return function(other, **{side: number, f"{side}_type": dtype})
        if any(isinstance(o, (str, bytes, dict, set)) or o is None for o in operands):
            return NotImplemented
    return function(*operands)


_functions = {}


def arithmetic(op, *operands):
    """Applies an operator of Python's expressions: a node if an operand is one, else the result."""
    if any(isinstance(o, DataNode) for o in operands) or current() is not None:
        return _two_operands(op, *operands) if len(operands) == 2 else add_node(op, operands, {})
    return _immediate(op, *operands)


def _binary(op):
    def forward(self, other):
        return arithmetic(op, self, other)

    def backward(self, other):
        return arithmetic(op, other, self)

    return forward, backward


_VALUES = (DataNode, _core.Tensor, _core.Batch)
for _python, _op in (
    ("add", "_add"),
    ("sub", "_sub"),
    ("mul", "_mul"),
    ("truediv", "_div"),
    ("floordiv", "_fdiv"),
    ("mod", "_mod"),
    ("pow", "_pow"),
    ("and", "_and"),
    ("or", "_or"),
    ("xor", "_xor"),
    ("lshift", "_shl"),
    ("rshift", "_shr"),
):
    _forward, _backward = _binary(_op)
    for _class in _VALUES:
        setattr(_class, f"__{_python}__", _forward)
        setattr(_class, f"__r{_python}__", _backward)
for _python in ("lt", "le", "gt", "ge", "eq", "ne"):
    for _class in _VALUES:
        setattr(_class, f"__{_python}__", _binary(f"_{_python}")[0])
for _class in _VALUES:
    _class.__neg__ = lambda self: arithmetic("_neg", self)
    _class.__abs__ = lambda self: arithmetic("_math.abs", self)
    _class.__invert__ = lambda self: arithmetic("_not", self)
    _class.__pos__ = lambda self: arithmetic("_pos", self)
    _class.__hash__ = object.__hash__
DataNode.__getitem__ = subscript
