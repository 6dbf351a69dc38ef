# SPDX-License-Identifier: Apache-2.0
"""Memory of tensors and images: arrays of NumPy on the host, DeviceArray on a GPU, both with a stride for each dimension."""

import numpy as np

from .. import _core
from .formats import scalar_of


class ExternalBuffer:
    """The memory of a tensor or an image, for other libraries."""


class HostBuffer(np.ndarray, ExternalBuffer):
    """The memory of a tensor on the host: an array of NumPy."""


class DeviceArray:
    """Memory of a GPU with a shape, strides and a type; `source` is an object of whoever owns it."""

    def __init__(self, source, shape, strides, dtype, offset=0):
        self.source, self.shape, self.strides, self.dtype = source, tuple(shape), tuple(strides), np.dtype(dtype)
        self.offset = offset

    @classmethod
    def over(cls, source):
        """The whole array of another library."""
        interface = source.__cuda_array_interface__
        dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
        return cls(source, shape, interface.get("strides") or dense_strides(shape, dtype.itemsize), dtype)

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def __cuda_array_interface__(self):
        interface = dict(self.source.__cuda_array_interface__)
        pointer, read_only = interface["data"]
        interface.update(shape=self.shape, strides=self.strides, typestr=self.dtype.str)
        interface["data"] = (pointer + self.offset, read_only)
        return interface

    @property
    def whole(self):
        """The owner's object if this is all of it, as it is: its library's streams are then known."""
        own = DeviceArray.over(self.source)
        same = (own.shape, own.strides, own.dtype) == (self.shape, self.strides, self.dtype) and not self.offset
        return self.source if same else self


class DeviceBuffer(DeviceArray, ExternalBuffer):
    """The memory of a tensor on a GPU, for other libraries."""

    def _plain(self):
        return _core.Tensor(DeviceArray(self.source, self.shape, self.strides, self.dtype, self.offset))

    def __dlpack__(self, **given):
        return self._plain().__dlpack__(**given)

    def __dlpack_device__(self):
        return self._plain().__dlpack_device__()


def dense_strides(shape, itemsize):
    """The strides of an array without gaps."""
    strides = [itemsize] * len(shape)
    for d in range(len(shape) - 2, -1, -1):
        strides[d] = strides[d + 1] * max(shape[d + 1], 1)
    return tuple(strides)


def pitched_strides(shape, itemsize, packed, rowalign):
    """Strides in which a row, the last `packed` dimensions, begins at multiples of `rowalign` bytes; 0: no gaps."""
    strides = list(dense_strides(shape, itemsize))
    first = len(shape) - packed
    if rowalign > 1 and first > 0:
        row = strides[first] * shape[first]
        strides[first - 1] = -(-row // rowalign) * rowalign
        for d in range(first - 2, -1, -1):
            strides[d] = strides[d + 1] * shape[d + 1]
    return tuple(strides)


def allocate(shape, dtype, packed=2, rowalign=0):
    """New memory, whose bytes are 0: on the GPU, or on the host of a machine without one."""
    dtype, lanes = scalar_of(dtype)
    shape = (*shape, lanes) if lanes > 1 else tuple(shape)
    strides = pitched_strides(shape, dtype.itemsize, packed + (lanes > 1), rowalign)
    size = strides[0] * shape[0] if shape else dtype.itemsize
    block = np.zeros(max(size, 1), np.uint8)
    if _core.gpu_count() > 0:
        return DeviceArray(_core.Tensor(block).gpu(0), shape, strides, dtype)
    return np.ndarray(shape, dtype, block, strides=strides)


def _of_dlpack(buffer):
    try:
        tensor = _core.Tensor(buffer)
    except TypeError:  # complex numbers, which operators do not take
        return np.from_dlpack(buffer)
    return tensor.numpy() if tensor.device_type == "cpu" else DeviceArray.over(tensor)


def wrapped(buffer):
    """Memory of another library, without a copy."""
    if isinstance(buffer, np.ndarray):
        return buffer.view(np.ndarray)
    if isinstance(buffer, DeviceArray):
        return DeviceArray(buffer.source, buffer.shape, buffer.strides, buffer.dtype, buffer.offset)
    if getattr(buffer, "__cuda_array_interface__", None) is not None:
        if _core.gpu_count() == 0:
            raise TypeError(f"the array is on a GPU, but no GPU can be used: {_core.gpu_why_not()}")
        return DeviceArray.over(buffer)
    if hasattr(buffer, "__dlpack__") or isinstance(buffer, _core.Tensor):
        return _of_dlpack(buffer)
    if any(hasattr(buffer, name) for name in ("__array_interface__", "__array__", "__buffer__")) or isinstance(
        buffer, (bytearray, memoryview)
    ):
        return np.asarray(buffer)
    raise TypeError(
        f"an array of torch, CuPy or NumPy, or another object with DLPack or an array interface is needed, got "
        f"{type(buffer).__name__}"
    )


def exported(memory):
    """An object of this memory that other libraries read."""
    if isinstance(memory, np.ndarray):
        return memory.view(HostBuffer)
    return DeviceBuffer(memory.source, memory.shape, memory.strides, memory.dtype, memory.offset)


def strided(memory, shape, strides):
    """A view with another shape, from the same address."""
    if isinstance(memory, np.ndarray):
        return np.lib.stride_tricks.as_strided(memory, shape, strides)
    return DeviceArray(memory.source, shape, strides, memory.dtype, memory.offset)


def transposed(memory, order):
    """A view with its dimensions in another order; None is a new dimension of extent 1."""
    shape = [1 if d is None else memory.shape[d] for d in order]
    strides = [memory.dtype.itemsize if d is None else memory.strides[d] for d in order]
    return strided(memory, shape, strides)


def part(memory, index):
    """A view of one entry of the first dimension."""
    if isinstance(memory, np.ndarray):
        return memory[index]
    return DeviceArray(
        memory.source, memory.shape[1:], memory.strides[1:], memory.dtype, memory.offset + index * memory.strides[0]
    )


def is_dense(memory):
    """Whether the elements follow each other without gaps."""
    expected = dense_strides(memory.shape, memory.dtype.itemsize)
    return all(n <= 1 or a == b for n, a, b in zip(memory.shape, memory.strides, expected))


def operand(memory):
    """What penstock.fn takes for this memory."""
    return memory if isinstance(memory, np.ndarray) else memory.whole


def on_host(memory):
    """The values as an array of NumPy, copied from a GPU if they are there."""
    if isinstance(memory, np.ndarray):
        return memory
    if is_dense(memory):
        return np.asarray(_core.Tensor(memory).cpu())
    span = memory.dtype.itemsize + sum((n - 1) * s for n, s in zip(memory.shape, memory.strides))
    block = np.asarray(_core.Tensor(DeviceArray(memory.source, (span,), (1,), np.uint8, memory.offset)).cpu())
    return np.ndarray(memory.shape, memory.dtype, block, strides=memory.strides)


def same_memory(a, b):
    """Whether two may share bytes."""
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        return False
    if isinstance(a, np.ndarray):
        return np.may_share_memory(a, b)
    return a.__cuda_array_interface__["data"][0] == b.__cuda_array_interface__["data"][0] or a.source is b.source
