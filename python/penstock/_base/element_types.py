# SPDX-License-Identifier: Apache-2.0
"""Element types, color spaces and filters by the names that pipelines use. Programs import them from penstock.types."""

from __future__ import annotations

from enum import Enum, IntEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DType(IntEnum):
    """Names the type of the elements of a tensor."""

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    BFLOAT16 = 13  # DALI has none: the number is free in its table
    # Not element types: the other entries of DALI's table, for programs that compare with it.
    STRING = 12
    FEATURE = 17
    IMAGE_TYPE = 20
    DATA_TYPE = 21
    INTERP_TYPE = 22
    TENSOR_LAYOUT = 23
    PYTHON_OBJECT = 24

    def __str__(self):
        return f"DALIDataType.{self.name}"


class ImageType(IntEnum):
    """Names the color space of a decoded image."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4

    def __str__(self):
        return f"DALIImageType.{self.name}"


class InterpType(IntEnum):
    """Names the filter of a resampling."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5
    INTERP_BOX = 6
    INTERP_HAMMING = 7
    INTERP_AREA = 8
    INTERP_LINEAR_EXACT = 9

    def __str__(self):
        return f"DALIInterpType.{self.name}"


class PipelineAPIType(IntEnum):
    """Names how outputs of a pipeline are taken."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


class StreamPolicy(Enum):
    """Names which streams a pipeline enqueues its work on the GPU on.

    An iteration always uses one for all its operators.
    """

    SINGLE = "single"  # all iterations use the same one: they never overlap there
    PER_BACKEND = "per_backend"  # one for each iteration in flight: the default
    PER_OPERATOR = "per_operator"  # the same: own streams would not make consecutive operators faster
    UNSPECIFIED = "unspecified"  # the default


class OperatorConcurrency(Enum):
    """Names what may run at the same time.

    Samples of a batch always run in parallel on the CPU; none of the values changes results.
    """

    NONE = "none"  # one iteration at a time
    BACKEND = "backend"  # work of several iterations overlaps, on the CPU and on the GPU: the default
    FULL = "full"  # the same
    UNSPECIFIED = "unspecified"  # the default


def check_policies(stream_policy: Any, concurrency: Any) -> None:
    """Raises an error for what is neither None nor one of the two enumerations.

    Members of the enumerations of DALI count too.

    Args:
        stream_policy: For types.StreamPolicy.
        concurrency: For types.OperatorConcurrency.

    Raises:
        TypeError: A value is something else.
    """
    for name, value, kind in (
        ("stream_policy", stream_policy, StreamPolicy),
        ("concurrency", concurrency, OperatorConcurrency),
    ):
        if value is not None and getattr(value, "name", None) not in kind.__members__:
            raise TypeError(
                f"{name} must be one of types.{kind.__name__}: {', '.join(kind.__members__)}; got {value!r}"
            )


NO_TYPE, UINT8, UINT16, UINT32, UINT64, INT8 = (
    DType.NO_TYPE,
    DType.UINT8,
    DType.UINT16,
    DType.UINT32,
    DType.UINT64,
    DType.INT8,
)
INT16, INT32, INT64, FLOAT16, FLOAT, FLOAT64 = (
    DType.INT16,
    DType.INT32,
    DType.INT64,
    DType.FLOAT16,
    DType.FLOAT,
    DType.FLOAT64,
)
BOOL, BFLOAT16, STRING, FEATURE, IMAGE_TYPE, DATA_TYPE, INTERP_TYPE = (
    DType.BOOL,
    DType.BFLOAT16,
    DType.STRING,
    DType.FEATURE,
    DType.IMAGE_TYPE,
    DType.DATA_TYPE,
    DType.INTERP_TYPE,
)
TENSOR_LAYOUT, PYTHON_OBJECT = DType.TENSOR_LAYOUT, DType.PYTHON_OBJECT
RGB, BGR, GRAY, YCbCr, ANY_DATA = ImageType.RGB, ImageType.BGR, ImageType.GRAY, ImageType.YCbCr, ImageType.ANY_DATA
INTERP_NN, INTERP_LINEAR, INTERP_CUBIC, INTERP_LANCZOS3, INTERP_TRIANGULAR, INTERP_GAUSSIAN = (
    InterpType.INTERP_NN,
    InterpType.INTERP_LINEAR,
    InterpType.INTERP_CUBIC,
    InterpType.INTERP_LANCZOS3,
    InterpType.INTERP_TRIANGULAR,
    InterpType.INTERP_GAUSSIAN,
)
INTERP_BOX, INTERP_HAMMING, INTERP_AREA = InterpType.INTERP_BOX, InterpType.INTERP_HAMMING, InterpType.INTERP_AREA
INTERP_LINEAR_EXACT = InterpType.INTERP_LINEAR_EXACT
DALIDataType, DALIImageType, DALIInterpType = DType, ImageType, InterpType
FLOAT32 = DType.FLOAT
# Layouts of a sample, without the N of the batch; SAME is the input's.
NCHW, NHWC, NFCHW, NFHWC, SAME = "CHW", "HWC", "FCHW", "FHWC", ""
CPU_ONLY_DEVICE_ID = -99999
TensorLayout = str

_NUMPY_NAMES = {DType.FLOAT: "float32", DType.BOOL: "bool"}


def to_numpy_type(dtype: DType | int) -> Any:
    """Returns the NumPy type of an element type; imports NumPy, and ml_dtypes for BFLOAT16.

    Args:
        dtype: A DType or its number.

    Raises:
        TypeError: NumPy has no such type, or BFLOAT16 has none because the package ml_dtypes is not installed.

    Example:
        >>> types.to_numpy_type(types.FLOAT)
        <class 'numpy.float32'>
    """
    import numpy

    dtype = DType(dtype)
    if dtype is DType.BFLOAT16:
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            raise TypeError("NumPy has bfloat16 by the package ml_dtypes alone: install it") from None
        return bfloat16
    if not 0 <= dtype <= DType.BOOL:
        raise TypeError(f"NumPy has no type for {dtype}")
    return getattr(numpy, _NUMPY_NAMES.get(dtype, dtype.name.lower()) if dtype is not DType.BOOL else "bool_")


def to_penstock_type(dtype: Any) -> DType:
    """Returns the element type of a NumPy or torch type, of its name or of its number.

    Args:
        dtype: The type.

    Raises:
        TypeError: It is not an element type.

    Example:
        >>> types.to_penstock_type("int16").name
        'INT16'
    """
    from .. import _core

    return DType(_core.dtype_number(dtype))


_OTHER_NAMES = {
    "boolean": DType.BOOL,
    "bool_": DType.BOOL,
    "byte": DType.UINT8,
    "double": DType.FLOAT64,
    "float": DType.FLOAT,
    "half": DType.FLOAT16,
    "long": DType.INT64,
    "sbyte": DType.INT8,
    "short": DType.INT16,
    "ubyte": DType.UINT8,
    "ulong": DType.UINT64,
    "ushort": DType.UINT16,
}


def to_dali_type(framework_type: Any) -> DType:
    """Returns the element type of a type of a framework.

    Names and types of frameworks, "half" and "torch.long" included, mean what they mean there.

    Args:
        framework_type: The type, or its name.

    Example:
        >>> types.to_dali_type("half").name
        'FLOAT16'
    """
    name = framework_type.__qualname__ if isinstance(framework_type, type) else str(framework_type)
    found = _OTHER_NAMES.get(name.removeprefix("torch."))
    return to_penstock_type(framework_type) if found is None else found


dali_type_converters = []  # DALI's list of functions that frameworks add; what they convert is known here


class SampleInfo:
    """Names the sample that an external source must give.

    Args:
        idx_in_epoch: The number of the sample in the epoch.
        idx_in_batch: Its place in the batch.
        iteration: The number of the batch in the epoch.
        epoch_idx: The number of the epoch.
    """

    __slots__ = ("idx_in_epoch", "idx_in_batch", "iteration", "epoch_idx")

    def __init__(self, idx_in_epoch: int, idx_in_batch: int, iteration: int, epoch_idx: int) -> None:
        self.idx_in_epoch, self.idx_in_batch = idx_in_epoch, idx_in_batch
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self):
        return (
            f"SampleInfo(idx_in_epoch={self.idx_in_epoch}, idx_in_batch={self.idx_in_batch}, "
            f"iteration={self.iteration}, epoch_idx={self.epoch_idx})"
        )


class BatchInfo:
    """Names the batch that an external source must give.

    Args:
        iteration: The number of the batch in the epoch.
        epoch_idx: The number of the epoch.
    """

    __slots__ = ("iteration", "epoch_idx")

    def __init__(self, iteration: int, epoch_idx: int) -> None:
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self):
        return f"BatchInfo(iteration={self.iteration}, epoch_idx={self.epoch_idx})"


class CUDAStream:
    """Holds the handle of a CUDA stream, for arguments that take one.

    Args:
        ptr: The handle, a number.
    """

    def __init__(self, ptr: int | None = None) -> None:
        self.ptr = ptr


def natural_type(value):
    """The element type of a number of Python as a constant.

    Args:
        value: The number.

    Raises:
        OverflowError: It does not fit into INT32.
    """
    if isinstance(value, bool):
        return DType.BOOL
    if isinstance(value, float):
        return DType.FLOAT
    if not -(2**31) <= value < 2**31:
        raise OverflowError(
            f"{value} does not fit into INT32, the type of integer constants; "
            "types.Constant(value, dtype=types.INT64) says another"
        )
    return DType.INT32


class ScalarConstant:
    """Holds a number with an element type, for arithmetic with values of a pipeline.

    Args:
        value: The number.
        dtype: Its element type; None: BOOL, INT32 or FLOAT.
    """

    def __init__(self, value: bool | int | float, dtype: Any = None) -> None:
        self.value, self.shape = value, []
        self.dtype = natural_type(value) if dtype is None else DType(dtype)

    def __float__(self):
        return float(self.value)

    def __int__(self):
        return int(self.value)

    def __index__(self):
        if isinstance(self.value, float):
            raise TypeError("a constant of type float is not an index")
        return int(self.value)

    def __bool__(self):
        return bool(self.value)

    def __repr__(self):
        return f"ScalarConstant({self.value}, {self.dtype.name})"


def _of_type(dtype):
    def constant(self):
        convert = bool if dtype is DType.BOOL else float if dtype.name.startswith(("FLOAT", "BFLOAT")) else int
        return ScalarConstant(convert(self.value), dtype)

    constant.__name__ = {DType.FLOAT: "float32"}.get(dtype, dtype.name.lower())
    constant.__doc__ = f"Returns the number as {dtype.name}."
    return constant


for _dtype in list(DType)[1:14]:
    setattr(ScalarConstant, _of_type(_dtype).__name__, _of_type(_dtype))
