# SPDX-License-Identifier: Apache-2.0
"""Element types, color spaces and filters by the names that pipelines use, and constants."""

from enum import Enum, IntEnum


class DType(IntEnum):
    """Type of the elements of a tensor."""

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
    # Not of elements: what DALI's table of types has beside them, for programs that compare with it.
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
    """Color space of a decoded image."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4

    def __str__(self):
        return f"DALIImageType.{self.name}"


class InterpType(IntEnum):
    """Filter of a resampling."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5

    def __str__(self):
        return f"DALIInterpType.{self.name}"


class PipelineAPIType(IntEnum):
    """How outputs of a pipeline are taken."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


class StreamPolicy(Enum):
    """Which streams a pipeline's work on the GPU is enqueued on. An iteration always uses one for all its operators."""

    SINGLE = "single"  # all iterations use the same one: they never overlap there
    PER_BACKEND = "per_backend"  # one for each iteration in flight: the default
    PER_OPERATOR = "per_operator"  # the same: operators that follow each other gain nothing by streams of their own
    UNSPECIFIED = "unspecified"  # the default


class OperatorConcurrency(Enum):
    """What may run at the same time. Samples of a batch always run in parallel on the CPU; none of the three changes results."""

    NONE = "none"  # one iteration after the other
    BACKEND = "backend"  # work of several iterations overlaps, on the CPU and on the GPU: the default
    FULL = "full"  # the same
    UNSPECIFIED = "unspecified"  # the default


def check_policies(stream_policy, concurrency):
    """Raises TypeError for what is neither None nor one of the two enumerations, DALI's own included."""
    for name, value, kind in (
        ("stream_policy", stream_policy, StreamPolicy),
        ("concurrency", concurrency, OperatorConcurrency),
    ):
        if value is not None and getattr(value, "name", None) not in kind.__members__:
            raise TypeError(
                f"{name} must be one of types.{kind.__name__}: {', '.join(kind.__members__)}; got {value!r}"
            )


globals().update(DType.__members__)
globals().update(ImageType.__members__)
globals().update(InterpType.__members__)
DALIDataType, DALIImageType, DALIInterpType = DType, ImageType, InterpType
FLOAT32 = DType.FLOAT
# Layouts of a sample, without the N of the batch; SAME is the input's.
NCHW, NHWC, NFCHW, NFHWC, SAME = "CHW", "HWC", "FCHW", "FHWC", ""
CPU_ONLY_DEVICE_ID = -99999
TensorLayout = str

_NUMPY_NAMES = {DType.FLOAT: "float32", DType.BOOL: "bool"}


def to_numpy_type(dtype):
    """The NumPy type of an element type; imports NumPy."""
    import numpy

    dtype = DType(dtype)
    if not 0 <= dtype <= DType.BOOL:
        raise TypeError(f"NumPy has no type for {dtype}")
    return getattr(numpy, _NUMPY_NAMES.get(dtype, dtype.name.lower()) if dtype is not DType.BOOL else "bool_")


def to_penstock_type(dtype):
    """The element type of a NumPy or torch type, its name or its number."""
    from . import _core

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


def to_dali_type(framework_type):
    """As to_penstock_type; names and types of frameworks, "half" and "torch.long" included, mean what they mean there."""
    name = framework_type.__qualname__ if isinstance(framework_type, type) else str(framework_type)
    found = _OTHER_NAMES.get(name.removeprefix("torch."))
    return to_penstock_type(framework_type) if found is None else found


dali_type_converters = []  # DALI's list of functions that frameworks add; what they convert is known here


class SampleInfo:
    """Which sample an external source is asked for."""

    __slots__ = ("idx_in_epoch", "idx_in_batch", "iteration", "epoch_idx")

    def __init__(self, idx_in_epoch, idx_in_batch, iteration, epoch_idx):
        self.idx_in_epoch, self.idx_in_batch = idx_in_epoch, idx_in_batch
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self):
        return (
            f"SampleInfo(idx_in_epoch={self.idx_in_epoch}, idx_in_batch={self.idx_in_batch}, "
            f"iteration={self.iteration}, epoch_idx={self.epoch_idx})"
        )


class BatchInfo:
    """Which batch an external source is asked for."""

    __slots__ = ("iteration", "epoch_idx")

    def __init__(self, iteration, epoch_idx):
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self):
        return f"BatchInfo(iteration={self.iteration}, epoch_idx={self.epoch_idx})"


class CUDAStream:
    """The handle of a CUDA stream, a number, for arguments that take one."""

    def __init__(self, ptr=None):
        self.ptr = ptr


class ScalarConstant:
    """A number with an element type, for arithmetic with values of a pipeline."""

    def __init__(self, value, dtype=None):
        self.value, self.dtype, self.shape = value, None if dtype is None else DType(dtype), []

    def __float__(self):
        return float(self.value)

    def __int__(self):
        return int(self.value)

    def __index__(self):
        if isinstance(self.value, float):
            raise TypeError("a constant of type float is no index")
        return int(self.value)

    def __bool__(self):
        return bool(self.value)

    def __repr__(self):
        return f"ScalarConstant({self.value}, {None if self.dtype is None else self.dtype.name})"


def _of_type(dtype):
    def constant(self):
        convert = bool if dtype is DType.BOOL else float if dtype.name.startswith("FLOAT") else int
        return ScalarConstant(convert(self.value), dtype)

    constant.__name__ = {DType.FLOAT: "float32"}.get(dtype, dtype.name.lower())
    constant.__doc__ = f"The number as {dtype.name}."
    return constant


for _dtype in list(DType)[1:13]:
    setattr(ScalarConstant, _of_type(_dtype).__name__, _of_type(_dtype))


def ConstantNode(device, value, dtype, shape, layout, **arguments):
    """A constant as a value of the pipeline that is being defined."""
    from .graph import constant

    node = constant(value, dtype=dtype, shape=shape, layout=layout, name=arguments.get("name"))
    return node.gpu() if device == "gpu" else node


def Constant(value, dtype=None, shape=None, layout=None, device=None, **arguments):
    """The same tensor for every sample.

    value: a number, a list of numbers, or an array. Integers become INT32, floating point numbers FLOAT, arrays keep
    their type but for 64 bits, which become 32; `dtype` overrides that, values saturate. A number with a `shape` is
    repeated. Inside of a pipeline's function the result is a node, except for a plain number.
    """
    plain = isinstance(value, (bool, int, float)) and not shape and layout is None and not arguments
    if plain and device is None:
        return ScalarConstant(value, dtype)
    return ConstantNode(device, value, dtype, shape, layout, **arguments)
