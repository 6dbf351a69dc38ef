# SPDX-License-Identifier: Apache-2.0
"""Constants as the arguments of operators: which element type a number or an array has."""

from .. import _core
from .._base.element_types import DType, ScalarConstant, natural_type
from .._base.frames import user_line
from .node import DataNode


def scalar(value):
    """(value, element type) of an operand that is one number, for all samples or a value of the pipeline; else
    None."""
    if isinstance(value, DataNode):
        exact = value.dtype not in (DType.NO_TYPE, DType.INT64, DType.UINT64)  # arguments are passed as float64
        return (value, value.dtype) if value.ndim == 0 and exact else None
    if isinstance(value, ScalarConstant):
        if isinstance(value.value, int) and abs(value.value) > 2**53:  # an argument is passed as float64
            return None
        return value.value, value.dtype
    if isinstance(value, (bool, int, float)) and type(value).__module__ != "numpy":
        return value, natural_type(value)
    if getattr(value, "shape", None) == () and hasattr(value, "dtype") and hasattr(value, "item"):  # NumPy's scalars
        return value.item(), _reduced(_core.tensor(value).dtype)
    return None


def _reduced(dtype):
    """The type of constants that are given as arrays: 64 bits become 32."""
    return {DType.FLOAT64: DType.FLOAT, DType.INT64: DType.INT32, DType.UINT64: DType.UINT32}.get(dtype, dtype)


def arguments_of_constant(value, dtype, shape, layout, name):
    """The arguments of the operator "constant" for one value of all samples."""
    arguments = {}
    if isinstance(value, ScalarConstant):
        dtype = value.dtype if dtype is None else dtype
        value = value.value
    if isinstance(value, (bool, int, float)):
        data, extents = [value], [] if shape is None else _extents(shape)
        natural = natural_type(value) if dtype is None or isinstance(value, float) else DType.INT32
    elif isinstance(value, (list, tuple)):
        if not all(
            isinstance(v, (bool, int, float)) or hasattr(v, "__index__") or hasattr(v, "__float__") for v in value
        ):
            raise TypeError("a constant is a number, a flat list of numbers or an array")
        data, extents = list(value), [len(value)] if shape is None else _extents(shape)
        natural = (
            DType.BOOL
            if data and all(isinstance(v, bool) for v in data)
            else DType.INT32
            if all(hasattr(v, "__index__") for v in data)
            else DType.FLOAT
        )
    else:
        tensor = _core.tensor(value)
        natural = _reduced(tensor.dtype)
        data, extents = tensor.numpy().ravel().tolist(), list(tensor.shape()) if shape is None else _extents(shape)
        if layout is None and tensor.layout():
            layout = tensor.layout()
    real = natural in (DType.FLOAT, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64)
    arguments["fdata" if real else "idata"] = [float(v) for v in data] if real else [int(v) for v in data]
    arguments["dtype"] = natural if dtype is None else dtype
    arguments["shape"] = extents
    if layout:
        arguments["layout"] = str(layout)
    if name is not None:
        arguments["name"] = name
    return arguments


def arguments_of_batch(batch, size):
    """The arguments of the operator "constant" for penstock.per_sample([...]): sample i of each batch takes element i. size:
    the pipeline's batch_size, None where it is not known."""
    if size is not None and len(batch) != size:
        raise ValueError(
            f"penstock.per_sample() has {len(batch)} values for a batch of {size} samples\n  at {user_line()}"
        )
    arrays = [batch[i].numpy() for i in range(len(batch))]
    real = batch.dtype in (DType.FLOAT, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64)
    arguments = {
        "dtype": batch.dtype,
        "samples": len(arrays),
        "shape": [int(e) for a in arrays for e in a.shape],
        "fdata" if real else "idata": [(float if real else int)(v) for a in arrays for v in a.ravel().tolist()],
    }
    if batch.layout():
        arguments["layout"] = batch.layout()
    return arguments


def _extents(shape):
    return [int(s) for s in shape] if hasattr(shape, "__len__") else [int(shape)]
