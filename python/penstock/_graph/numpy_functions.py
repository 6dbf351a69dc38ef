# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of values of a pipeline, Tensors and Batches: `np.sin(x)`, `np.maximum(a, x)`, `array * x`.

NumPy asks its operands what a function of theirs is (`__array_ufunc__`). Those that are operators here
add a node or run at once, with the types of penstock.math. The others see Tensors and Batches as arrays; for values of a
pipeline they are refused with what to write instead. `np.floor_divide` and `np.remainder` are the operators `//` and `%` of expressions.
"""

from .. import _core
from .expressions import arithmetic
from .node import DataNode, refuse_numpy

_OPERATORS = {
    "add": "_add",
    "subtract": "_sub",
    "multiply": "_mul",
    "divide": "_div",
    "true_divide": "_div",
    "floor_divide": "_fdiv",
    "remainder": "_mod",
    "power": "_pow",
    "bitwise_and": "_and",
    "bitwise_or": "_or",
    "bitwise_xor": "_xor",
    "left_shift": "_shl",
    "right_shift": "_shr",
    "less": "_lt",
    "less_equal": "_le",
    "greater": "_gt",
    "greater_equal": "_ge",
    "equal": "_eq",
    "not_equal": "_ne",
    "negative": "_neg",
    "positive": "_pos",
    "invert": "_not",
    "absolute": "_math.abs",
    "minimum": "_math.min",
    "maximum": "_math.max",
    "float_power": "_math.fpow",
    "arctan2": "_math.atan2",
    **{f"arc{name}": f"_math.a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{
        name: f"_math.{name}"
        for name in ("fabs", "ceil", "floor", "sqrt", "cbrt", "exp", "log", "log2", "log10")
        + ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
}


def _ufunc(self, ufunc, method, *operands, **options):
    op = _OPERATORS.get(ufunc.__name__)
    if op and method == "__call__" and not options:
        return arithmetic(op, *operands)
    if any(isinstance(o, DataNode) for o in operands):
        refuse_numpy(ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}")
    from numpy import asarray

    arrays = [asarray(o) if isinstance(o, (_core.Tensor, _core.Batch)) else o for o in operands]
    return getattr(ufunc, method)(*arrays, **options)


for _class in (DataNode, _core.Tensor, _core.Batch):
    _class.__array_ufunc__ = _ufunc
