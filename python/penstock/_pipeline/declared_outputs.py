# SPDX-License-Identifier: Apache-2.0
"""output_dtype, output_ndim and output_layout of a Pipeline."""

from .. import _core
from .._base.element_types import DType


def accepted(dtype, ndim, layout):
    """The three arguments of a Pipeline by "dtype", "ndim" and "layout": each None, a value, or a list of both."""

    def whole(value):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"output_ndim must be a whole number, a list of such or None, got {value!r}")
        if value < 0:
            raise ValueError(f"output_ndim must not be negative, got {value}")
        return int(value)

    def kind(value):
        if value in (int, float, bool):  # of Python, which do not say how many bits
            raise TypeError(f"output_dtype must be a type of penstock.types, a list of such or None, got {value!r}")
        if isinstance(value, int) and value == DType.NO_TYPE:
            raise ValueError("output_dtype cannot be types.NO_TYPE")
        return DType(_core.dtype_number(value))

    def text(value):
        if not isinstance(value, str):
            raise TypeError(f"output_layout must be a text, a list of such or None, got {value!r}")
        return value

    def each(value, one):
        if value is None:
            return None
        return [None if v is None else one(v) for v in value] if isinstance(value, (list, tuple)) else one(value)

    return {"dtype": each(dtype, kind), "ndim": each(ndim, whole), "layout": each(layout, text)}


def check(what, declared, batches):
    """Raises RuntimeError where a batch is not as declared: one value for all outputs, or one each."""
    each = declared if isinstance(declared, (list, tuple)) else [declared] * len(batches)
    if len(each) != len(batches):
        raise RuntimeError(f"output_{what} names {len(each)} outputs, the pipeline has {len(batches)}")
    for k, (wish, batch) in enumerate(zip(each, batches)):
        if wish is None:
            continue
        got = {"dtype": lambda: batch.dtype, "ndim": lambda: batch.ndim(), "layout": lambda: batch.layout()}[what]()
        if got != wish:
            shown = DType(wish).name if what == "dtype" else wish
            raise RuntimeError(f"output {k} has {what} {getattr(got, 'name', got)!r}, output_{what} says {shown!r}")
