# SPDX-License-Identifier: Apache-2.0
"""Containers as batches that penstock.fn takes, and batches as containers."""

import numpy as np

from .. import _core, fn
from . import buffers
from .formats import format_of
from .images import Image, ImageBatchVarShape
from .tensor_batches import TensorBatch
from .tensors import Tensor


def _of_image(image):
    """(what fn takes, its layout)"""
    planes = [buffers.operand(p) for p in image._planes]
    if len(planes) == 1:
        return planes[0], "CHW" if image.format.planar else "HWC"
    if image.format.planar:
        height, width, _ = image._planes[0].shape
        return fn.cat(*[fn.reshape(_core.Tensor(p), shape=[1, height, width]) for p in planes], axis=0), "CHW"
    luma = _core.Tensor(planes[0], "HWC")
    height, width, _ = image._planes[0].shape
    rows = [int(np.prod(p.shape)) // width for p in image._planes[1:]]
    rest = [fn.reshape(_core.Tensor(p), shape=[n, width, 1], layout="HWC") for p, n in zip(planes[1:], rows)]
    return fn.cat(luma, *rest, axis=0), "HWC"


def batch_of(container, call="the call"):
    """The samples of a container: those of dimension N of a tensor, or the tensor as one; the images of a batch."""
    if isinstance(container, Tensor):
        return _batch_of_tensor(container, call)
    if isinstance(container, TensorBatch):
        if not len(container):
            raise ValueError(f"{call}: the batch is empty")
        return _core.Batch([buffers.operand(t._memory) for t in container], container.layout or "")
    images = [container] if isinstance(container, Image) else list(container)
    if not images:
        raise ValueError(f"{call}: the batch is empty")
    samples = [_of_image(i) for i in images]
    layouts = {layout for _, layout in samples}
    if len(layouts) > 1:
        raise ValueError(
            f"{call}: the batch has images with interleaved channels and with planes: one kind is possible"
        )
    return _core.Batch([s for s, _ in samples], layouts.pop())


def pixels_of(tensor):
    """(memory, layout) of a tensor whose elements are numbers: the numbers of an element become channels."""
    memory, layout = tensor._memory, str(tensor.layout or "")
    if tensor._lanes == 1:
        return memory, layout
    if layout.endswith("C") and memory.shape[-2] == 1:
        shape = (*memory.shape[:-2], memory.shape[-1])
        strides = (*memory.strides[:-2], memory.strides[-1])
        return buffers.strided(memory, shape, strides), layout
    if "C" in layout:
        raise TypeError(
            f"elements of {tensor.dtype} are pixels: then the layout {layout} has C last and of the extent 1"
        )
    return memory, layout + "C" if layout else layout


def _batch_of_tensor(tensor, call):
    if tensor.dtype.base.kind == "c":
        raise TypeError(f"{call}: tensors of {tensor.dtype} are for storage; operators take real numbers")
    memory, layout = pixels_of(tensor)
    if not layout:
        raise ValueError(
            f"{call}: the tensor of the shape {tensor.shape} has no layout: give one, such as 'NHWC', to as_tensor()"
        )
    if 0 in memory.shape:
        raise ValueError(f"{call}: the tensor of the shape {tensor.shape} is empty")
    if layout[0] == "N":
        return _core.Batch(buffers.operand(memory), layout[1:])
    return _core.Batch([buffers.operand(memory)], layout)


def place_of(container):
    """What fn takes as out= for a container, or None if its memory has gaps or several planes."""
    if isinstance(container, Tensor):
        if not buffers.is_dense(container._memory):
            return None
        memory = buffers.operand(pixels_of(container)[0])
        return memory if container.layout and container.layout[0] == "N" else [memory]
    if isinstance(container, TensorBatch):
        memories = [t._memory for t in container]
    else:
        if any(len(i._planes) > 1 for i in container):
            return None
        memories = [i._planes[0] for i in container]
    return [buffers.operand(m) for m in memories] if all(map(buffers.is_dense, memories)) else None


def memories_of(container):
    """The memory of each sample."""
    if isinstance(container, Tensor):
        memory = pixels_of(container)[0]
        if container.layout and container.layout[0] == "N":
            return [buffers.part(memory, i) for i in range(memory.shape[0])]
        return [memory]
    if isinstance(container, TensorBatch):
        return [t._memory for t in container]
    return [i._planes[0] for i in container]


def fill(container, batch, stream):
    """Copies a batch into a container that fn cannot write itself."""
    samples = list(batch)
    if not isinstance(container, (Tensor, TensorBatch)) and any(len(i._planes) > 1 for i in container):
        return _fill_planes(container, samples)
    memories = memories_of(container)
    if len(memories) != len(samples):
        raise ValueError(f"dst has {len(memories)} samples, the result has {len(samples)}")
    for to, sample in zip(memories, samples):
        _fill_one(to, sample, stream)


def _fill_one(to, sample, stream):
    if tuple(to.shape) != tuple(sample.shape()):
        raise ValueError(f"dst has a sample of the shape {tuple(to.shape)}, the result has {tuple(sample.shape())}")
    if isinstance(to, np.ndarray):
        values = np.asarray(sample.cpu())
        if values.dtype != to.dtype:
            raise TypeError(f"dst has elements of {to.dtype}, the result has {values.dtype}")
        if not to.flags.writeable:
            raise ValueError("dst is over a read-only array: give a writable copy")
        np.copyto(to, values)
    else:
        fn.copy(sample, out=buffers.operand(to), stream=stream)


def _fill_planes(container, samples):
    for image, sample in zip(container, samples):
        values, row = np.asarray(sample.cpu()), 0
        values = values.reshape(-1, image.width, values.shape[-1] if not image.format.planar else 1)
        for plane in image._planes:
            rows = int(np.prod(plane.shape)) // image.width
            _fill_one(plane, _core.Tensor(np.ascontiguousarray(values[row : row + rows]).reshape(plane.shape)), None)
            row += rows


def tensor_of(batch, with_n, layout=None, like=None):
    """A batch as a Tensor, whose elements are pixels if those of `like` are."""
    layout = batch.layout() if layout is None else layout
    layout = f"N{layout}" if layout and with_n else layout
    memory = buffers.wrapped(batch.as_tensor() if with_n else batch[0])
    if like is None or like._lanes == 1 or not layout.endswith("C") or memory.shape[-1] != like._lanes:
        return Tensor._over(memory, layout or None)
    if "C" not in str(like.layout):
        return Tensor._over(memory, layout[:-1], like._lanes)
    shape, strides = memory.shape, memory.strides
    view = buffers.strided(memory, (*shape[:-1], 1, shape[-1]), (*strides[:-1], shape[-1] * strides[-1], strides[-1]))
    return Tensor._over(view, layout, like._lanes)


def new_tensor(values, layout, like):
    """Values of the host as a Tensor, on the device of another batch."""
    values = np.ascontiguousarray(values)
    return Tensor._over(values if like.device_type == "cpu" else buffers.wrapped(_core.Tensor(values).gpu()), layout)


def store(tensor, values):
    """Copies values of the host into a tensor of as many elements."""
    memory = tensor._memory
    if int(np.prod(memory.shape)) != values.size:
        raise ValueError(f"the tensor of the shape {tensor.shape} has no place for values of the shape {values.shape}")
    values = np.ascontiguousarray(values.reshape(memory.shape).astype(memory.dtype, copy=False))
    _fill_one(memory, _core.Tensor(values), None)
    return tensor


def tensor_batch_of(batch, capacity):
    """A batch as a TensorBatch."""
    made = TensorBatch(capacity)
    made.pushback([Tensor._over(buffers.wrapped(t), batch.layout() or None) for t in batch])
    return made


def images_of(batch, capacity, formats):
    """A batch as images; formats: one for each image, of which None follows from the pixels."""
    made, planar = ImageBatchVarShape(capacity), batch.layout() == "CHW"
    for sample, format in zip(batch, formats):
        memory = buffers.wrapped(sample)
        height, width, channels = (memory.shape[d] for d in ((1, 2, 0) if planar else (0, 1, 2)))
        known = format is not None and (format.dtype, format.plane_channels[0] if not planar else format.channels) == (
            memory.dtype,
            channels,
        )
        if not known:
            format = format_of(memory.dtype, channels, planar)
        made.pushback(Image._over([memory], format, (width, height)))
    return made


def values_of(argument):
    """An argument that may be a Tensor, an array, a list or a number, as an array of NumPy."""
    return np.asarray(buffers.on_host(argument._memory) if isinstance(argument, Tensor) else argument)


def integers_of(argument):
    """The same as int32; fractions are truncated."""
    values, limits = values_of(argument), np.iinfo(np.int32)
    if not np.all((values >= limits.min) & (values <= limits.max)):  # false for NaN, too
        raise ValueError(f"{values.reshape(-1)[0] if values.size == 1 else 'an argument'} is not an int32")
    return values.astype(np.int32)


_NAMES = {
    "UINT8": "u1", "UINT16": "u2", "UINT32": "u4", "UINT64": "u8", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8",
    "FLOAT16": "f2", "FLOAT": "f4", "FLOAT64": "f8", "BOOL": "?",
}  # fmt: skip


def type_of(batch):
    """The type of a batch as NumPy has it."""
    name = batch.dtype.name
    if name not in _NAMES:
        raise TypeError(f"CV-CUDA has no images of {name.lower()}: cast to float32 or float16 first")
    return np.dtype(_NAMES[name])
