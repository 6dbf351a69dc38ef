# SPDX-License-Identifier: Apache-2.0
"""Element types, color spaces and filters by the names that pipelines use, and constants."""

from __future__ import annotations

from ._base import element_types as _element_types
from ._base.element_types import *  # noqa: F403  all of its names are public
from ._base.element_types import ScalarConstant
from ._base.public import public as _public
from ._graph import constant as _constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_public(
    __name__, *(v for v in vars(_element_types).values() if getattr(v, "__module__", "") == _element_types.__name__)
)


def ConstantNode(device: str | None, value: Any, dtype: Any, shape: Any, layout: str | None, **arguments: Any) -> Any:
    """Makes a constant a value of the pipeline that is being defined.

    Args:
        device: "cpu" or "gpu".
        value, dtype, shape, layout: As Constant() takes them.
        **arguments: The `name` of the operator.
    """
    node = _constant(value, dtype=dtype, shape=shape, layout=layout, name=arguments.get("name"))
    return node.gpu() if device == "gpu" else node


def Constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    layout: str | None = None,
    device: str | None = None,
    **arguments: Any,
) -> Any:
    """Makes the same tensor for every sample.

    Integers become INT32, floating point numbers FLOAT, arrays keep their type but for 64 bits, which become 32.
    Values saturate.

    Args:
        value: A number, a list of numbers, or an array.
        dtype: Another element type.
        shape: Repeats a number to this shape.
        layout: The layout of the tensor.
        device: "cpu" or "gpu".
        **arguments: The `name` of the operator.

    Returns:
        A value of the pipeline; a ScalarConstant for a plain number.

    Example:
        >>> types.Constant(3, dtype=types.UINT8)
        ScalarConstant(3, UINT8)
    """
    plain = isinstance(value, (bool, int, float)) and not shape and layout is None and not arguments
    if plain and device is None:
        return ScalarConstant(value, dtype)
    return ConstantNode(device, value, dtype, shape, layout, **arguments)


def __dir__():
    hidden = {"TYPE_CHECKING", "annotations", "check_policies", "natural_type"}
    modules = {name for name, value in globals().items() if isinstance(value, type(_element_types))}
    inside = {name for name in globals() if name.startswith("_") and not name.startswith("__")}
    return sorted({*globals()} - hidden - modules - inside)
