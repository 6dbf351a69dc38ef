# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions of values of a pipeline, Tensors, Batches and arrays.

Integers give FLOAT, but for abs, min, max, clamp and pow, which keep the (promoted) type.
"""

from __future__ import annotations

from ._graph import arithmetic as _arithmetic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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


_FORM = """{first}

Args:
    {names}: A value of a pipeline, a Tensor, a Batch or an array{number}.

Returns:
    A value of the kind of the first argument.

Example:
    >>> result = penstock.math.{name}({example})
"""
_ARRAY = "np.float32([1.0, 2.0])"


def _unary(name: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return _arithmetic(f"_math.{name}", x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _FORM.format(
        first=f"Computes {name}(x) of each element.", names="x", number="", name=name, example=_ARRAY
    )
    return function


def _binary(name: str) -> Callable[[Any, Any], Any]:
    def function(a: Any, b: Any) -> Any:
        return _arithmetic(f"_math.{name}", a, b)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _FORM.format(
        first=f"Computes {name}(a, b) of each pair of elements.",
        names="a, b",
        name=name,
        number="; a number stands for all elements",
        example=_ARRAY + ", 2.0",
    )
    return function


if TYPE_CHECKING:  # made below
    abs = fabs = ceil = floor = sqrt = rsqrt = cbrt = exp = log = log2 = log10 = sin = cos = tan = asin = acos = (
        atan
    ) = sinh = cosh = tanh = asinh = acosh = atanh = _unary("")
    min = max = pow = fpow = atan2 = _binary("")

globals().update({_name: _unary(_name) for _name in _UNARY})
globals().update({_name: _binary(_name) for _name in _BINARY})


def clamp(value: Any, lo: Any, hi: Any) -> Any:
    """Returns the nearest value between lo and hi.

    Args:
        value: A value of a pipeline, a Tensor, a Batch or an array.
        lo: The least value.
        hi: The largest value.

    Example:
        >>> penstock.math.clamp(np.float32([-1.0, 0.5, 3.0]), 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    return _arithmetic("_math.min", _arithmetic("_math.max", value, lo), hi)
