# SPDX-License-Identifier: Apache-2.0
"""x[key] = value for values of a pipeline: it binds x to a new value and does not change the old one."""

import operator

from .._base.element_types import DType, ScalarConstant
from .._base.frames import user_line
from . import indexing
from .building import add_node, constant, stacked
from .node import DataNode, holds_node

_OPERATORS = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "@": operator.imatmul,
}


def _value(x, value):
    if isinstance(value, DataNode):
        alike = value.dtype == x.dtype or DType.NO_TYPE in (value.dtype, x.dtype)
        return value if alike else add_node("cast", (value,), {"dtype": x.dtype})
    if value is None or isinstance(value, (str, bytes, dict, set)):
        raise TypeError(f"a part of a value of the pipeline cannot be set to {value!r}\n  at {user_line()}")
    if isinstance(value, (list, tuple)) and holds_node(value):
        return _value(x, stacked("_assign", "value", value))
    known = x.dtype != DType.NO_TYPE
    if isinstance(value, (bool, int, float, ScalarConstant)) and known:
        return constant(value, dtype=x.dtype)
    return constant(value)


def assign(x, key, value):
    """The value x with x[key] = value; NumPy's indices and broadcasting, x's type."""
    picking = indexing.picking_index(key)
    if picking is not None:
        return add_node(
            "_assign_where" if picking[0] == "where" else "_assign_at", (x, picking[1], _value(x, value)), {}
        )
    mixed = indexing.split_picking(key)
    if mixed is not None:
        return assign(x, mixed[0], assign(indexing.subscript(x, mixed[0]), mixed[1], value))
    arguments, new_axes = indexing.index_arguments(x, key)
    if new_axes:
        raise IndexError(f"newaxis is not allowed on the left side of an assignment\n  at {user_line()}")
    return add_node("_assign", (x, _value(x, value)), arguments)


def set_item(x, key, value):
    if isinstance(x, DataNode):
        return assign(x, key, value)
    x[key] = value
    return x


def put_back(x, key, value):
    """x[key] = value after an assignment to a part of x[key], which may have happened in place."""
    if isinstance(x, DataNode):
        return assign(x, key, value)
    if x[key] is not value:
        x[key] = value
    return x


def aug_item(x, key, symbol, value):
    changed = _OPERATORS[symbol](x[key], value)
    return set_item(x, key, changed)


def set_attribute(owner, name, value, read=None):
    """owner.name = value; without an owner, a name of an enclosing scope, which can only be changed in place."""
    if owner is None:
        if isinstance(value, DataNode) and value is not read:
            raise TypeError(
                f"'{name}' belongs to an enclosing scope: assigning to a part of it here would bind a new value; "
                f"pass it as an argument and return it\n  at {user_line()}"
            )
    elif getattr(owner, name, None) is not value:
        setattr(owner, name, value)
