# SPDX-License-Identifier: Apache-2.0
"""Tensor and TensorBatch: views over memory of this or another library."""

from __future__ import annotations

import numpy as np

from .._base.limits import integer
from . import buffers
from .formats import Type, layout_of, scalar_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from .formats import TensorLayout


class Resource:
    """What may be used on a stream."""

    @property
    def id(self) -> int:
        """A number that no other object has."""
        return id(self)

    def submitStreamSync(self, stream: Any) -> None:
        """Accepted: calls order their streams themselves.

        Args:
            stream: A Stream.
        """


class Container(Resource):
    """Tensors, images and batches of them."""


def _shape_of_images(count, size, format):
    width, height = size
    if format.planes > 1 and not format.planar:
        raise ValueError(f"a tensor has images of one plane or of equal planes, not of {format!r}: use Image")
    channels = format.channels if format.planar else format.plane_channels[0]
    return (count, channels, height, width) if format.planar else (count, height, width, channels)


class Tensor(Container):
    """An array with a layout.

    Tensor(shape, dtype, layout=None, rowalign=0) or Tensor(nimages, imgsize, format, rowalign=0) makes new memory, on the
    GPU, or on the host of a machine without one. Rows follow each other without gaps unless `rowalign` says at which
    multiples of bytes they begin.

    Example:
        >>> import numpy as np
        >>> import penstock.cvcuda as cvcuda
        >>> cvcuda.Tensor((2, 48, 64, 3), cvcuda.Type.U8, "NHWC").shape
        (2, 48, 64, 3)
    """

    def __init__(self, *args: Any, rowalign: int = 0, **named: Any) -> None:
        names = (
            ("nimages", "imgsize", "format", "rowalign")
            if _is_images(args, named)
            else ("shape", "dtype", "layout", "rowalign")
        )
        if len(args) > 4 or set(named) - set(names):
            raise TypeError(f"Tensor takes {', '.join(names)}, got {[*map(type, args)]} and {sorted(named)}")
        given = {**dict(zip(names, args)), **named}
        rowalign = given.pop("rowalign", rowalign)
        lacking = [
            n
            for n in (("nimages", "imgsize", "format") if names[0] == "nimages" else ("shape", "dtype"))
            if n not in given
        ]
        if lacking:
            raise TypeError(f"Tensor takes {', '.join(names)}: {' and '.join(lacking)} must be given")
        if "nimages" in given:
            format = given["format"]
            shape = _shape_of_images(given["nimages"], given["imgsize"], format)
            dtype, layout = format.dtype, "NCHW" if format.planar else "NHWC"
        else:
            shape, dtype, layout = (
                tuple(integer("shape", n) for n in given["shape"]),
                Type(given["dtype"]),
                given.get("layout"),
            )
        _check_layout(layout, len(shape))
        packed = 2 if layout and str(layout).endswith(("WC", "NC")) or (not layout and len(shape) > 2) else 1
        self._set(buffers.allocate(shape, dtype, packed, rowalign), scalar_of(dtype)[1], layout)

    def _set(self, memory, lanes, layout):
        self._memory, self._lanes, self._layout = memory, lanes, layout_of(layout)

    @classmethod
    def _over(cls, memory, layout=None, lanes=1):
        self = cls.__new__(cls)
        _check_layout(layout, memory.ndim - (lanes > 1))
        self._set(memory, lanes, layout)
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, outermost first."""
        shape = tuple(self._memory.shape)
        return shape[:-1] if self._lanes > 1 else shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def layout(self) -> TensorLayout | None:
        """The letters of the dimensions, or None."""
        return self._layout

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements, as NumPy has it."""
        return np.dtype((self._memory.dtype, (self._lanes,))) if self._lanes > 1 else self._memory.dtype

    def cuda(self) -> Any:
        """The memory for other libraries: on a machine without a GPU an array of NumPy over the same memory."""
        return buffers.exported(self._memory)

    def cpu(self) -> NDArray[Any]:
        """The values as an array of NumPy; a copy if they are on a GPU."""
        return buffers.on_host(self._memory)

    def reshape(self, shape: Sequence[int], layout: str | None = None) -> Tensor:
        """A view of the same memory with other extents.

        Args:
            shape: The new extents.
            layout: Their letters.

        Returns:
            A Tensor over the same memory.

        Raises:
            RuntimeError: The number of elements differs, or rows with gaps would have to be joined.
        """
        shape = tuple(integer("shape", n) for n in shape)
        try:
            _check_layout(layout, len(shape))
            if not shape or int(np.prod(shape)) != int(np.prod(self.shape)):
                raise ValueError(f"a tensor of the shape {self.shape} cannot have the shape {shape}")
            if layout is None and self._layout is not None and len(shape) != self.ndim:
                raise ValueError(
                    f"reshape: the layout {self._layout} has no letters for {len(shape)} dimensions: give one"
                )
            return Tensor._over(self._reshaped(shape), layout, self._lanes)
        except ValueError as error:
            raise RuntimeError(str(error)) from None

    def _reshaped(self, shape):
        lanes = (self._lanes,) if self._lanes > 1 else ()
        if buffers.is_dense(self._memory):
            new = shape + lanes
            return buffers.strided(self._memory, new, buffers.dense_strides(new, self._memory.dtype.itemsize))
        stand_in = np.lib.stride_tricks.as_strided(
            np.empty(0, self._memory.dtype), self._memory.shape, self._memory.strides
        )
        view = stand_in.view()
        try:
            view.shape = shape + lanes
        except AttributeError:
            raise ValueError(f"the rows of this tensor have gaps: it has no view of the shape {shape}") from None
        return buffers.strided(self._memory, view.shape, view.strides)

    def __repr__(self):
        return f"<cvcuda.Tensor shape={self.shape} dtype={self.dtype} layout={self._layout}>"

    def __array__(self, dtype=None, copy=None):
        values = self.cpu()
        return np.array(values, dtype) if copy or (dtype is not None and values.dtype != dtype) else values

    def __getattr__(self, name):
        if name in ("__cuda_array_interface__", "__dlpack__", "__dlpack_device__"):
            return getattr(self.cuda(), name)
        raise AttributeError(f"a Tensor has no attribute '{name}'", name=name, obj=self)


def _is_images(args, named):
    return "nimages" in named or (bool(args) and isinstance(args[0], (int, np.integer)))


def _check_layout(layout, rank):
    if layout and len(layout) != rank:
        raise ValueError(f"the layout '{layout}' has {len(layout)} letters for {rank} dimensions")


def as_tensor(buffer: Any, layout: str | None = None) -> Tensor:
    """A Tensor over an array of torch, CuPy, NumPy or another library, or over an Image; nothing is copied.

    Args:
        buffer: The array or the Image.
        layout: The letters of the dimensions; not for an Image, which has its own.

    Returns:
        A Tensor, which keeps the array alive.

    Example:
        >>> import numpy as np
        >>> import penstock.cvcuda as cvcuda
        >>> array = np.zeros((48, 64, 3), np.uint8)
        >>> cvcuda.as_tensor(array, "HWC").dtype
        dtype('uint8')
    """
    if hasattr(buffer, "_as_tensor"):
        return buffer._as_tensor()
    if isinstance(buffer, Tensor):
        return Tensor._over(buffer._memory, layout or buffer.layout, buffer._lanes)
    memory, lanes = buffers.wrapped(buffer), 1
    return Tensor._over(memory, layout, lanes)


def reshape(tensor: Tensor, shape: Sequence[int], layout: str | None = None) -> Tensor:
    """Tensor.reshape as a function.

    Args:
        tensor: A Tensor.
        shape, layout: As Tensor.reshape takes them.

    Returns:
        A Tensor over the same memory.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"reshape takes a Tensor, got {type(tensor).__name__}")
    return tensor.reshape(shape, layout)
