# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on numbers that are values of a pipeline, one for each sample, or Python's own."""

import builtins
import math

from .. import fn
from .. import math as node_math
from .._base.element_types import DType
from .._graph import DataNode


def _function(name):
    def function(x):
        return getattr(node_math, name)(x) if isinstance(x, DataNode) else getattr(math, name)(x)

    function.__name__ = name
    return function


floor, sqrt, exp, sin, cos, tan, acos = (
    _function(name) for name in ("floor", "sqrt", "exp", "sin", "cos", "tan", "acos")
)


def _pair(name):
    def function(a, b):
        nodes = isinstance(a, DataNode) or isinstance(b, DataNode)
        return getattr(node_math if nodes else builtins, name)(a, b)

    function.__name__ = name
    return function


least, greatest = _pair("min"), _pair("max")


def rounded(x):
    """The nearest integer, half to even."""
    return fn.cast(x, dtype=DType.INT32) if isinstance(x, DataNode) else round(x)


def whole(x):
    """The part before the point of a number that is not negative. A product of float32 may be just below an integer."""
    return floor(x + 1e-3)


def integer(x):
    """A whole number as an integer, for arguments that take no others."""
    return fn.cast(x, dtype=DType.INT32) if isinstance(x, DataNode) else int(x)


def where(condition, a, b):
    return fn.where(condition, a, b) if isinstance(condition, DataNode) else a if condition else b


def entry(table, index):
    """A number of a list."""
    if not isinstance(index, DataNode):
        return table[int(index)]
    dtype = DType.INT32 if all(isinstance(v, int) for v in table) else DType.FLOAT
    return fn.lookup_table(index, keys=list(range(len(table))), values=[float(v) for v in table], dtype=dtype)
