# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions of values of a pipeline, Tensors, Batches and arrays.

Integers give FLOAT, but for abs, min, max, clamp and pow, which keep the (promoted) type.
"""

from .graph import arithmetic as _arithmetic

_UNARY = (
    "abs",
    "fabs",
    "ceil",
    "floor",
    "sqrt",
    "rsqrt",
    "cbrt",
    "exp",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
)
_BINARY = ("min", "max", "pow", "fpow", "atan2")
__all__ = [*_UNARY, *_BINARY, "clamp"]


def _unary(name):
    def function(x):
        return _arithmetic(f"_math.{name}", x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(x) of each element."
    return function


def _binary(name):
    def function(a, b):
        return _arithmetic(f"_math.{name}", a, b)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(a, b) of each pair of elements; a number stands for all elements."
    return function


globals().update({_name: _unary(_name) for _name in _UNARY})
globals().update({_name: _binary(_name) for _name in _BINARY})


def clamp(value, lo, hi):
    """The nearest value between lo and hi."""
    return _arithmetic("_math.min", _arithmetic("_math.max", value, lo), hi)
