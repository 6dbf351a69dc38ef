# SPDX-License-Identifier: Apache-2.0
"""The outputs of a batch as a description and bytes, and back, without a copy on either side.

The samples of an output lie one after another; outputs, and samples of unlike shapes, begin at multiples of 64 bytes.
"""

from __future__ import annotations

import math

import numpy

from .. import _core
from .._base.element_types import DType
from .errors import ProtocolError
from .frames import number_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .._core import Batch

_ALIGNMENT = 64
_MOST_OUTPUTS, _MOST_SAMPLES, _MOST_DIMENSIONS = 256, 1 << 20, 16


def _up(n):
    return -(-n // _ALIGNMENT) * _ALIGNMENT


class Content:
    """A batch that can be sent: what it keeps alive is the memory of the pipeline's outputs.

    Args:
        outputs: The outputs.
        facts: What else to say of the batch, for JSON.
    """

    def __init__(self, outputs: Sequence[Batch], facts: dict[str, Any]) -> None:
        self.parts: list[Any] = []  # arrays, and numbers of zero bytes between them
        self.total, self.sum = 0, None  # sum: the CRC-32C, once it was sent
        self.description = {**facts, "outputs": [self._described(batch) for batch in outputs]}

    def _described(self, batch):
        shapes = [list(shape) for shape in batch.shape()]
        uniform = all(shape == shapes[0] for shape in shapes)
        dense = uniform and batch.is_dense_tensor() and len(shapes) > 0
        arrays = [_array_of(t) for t in ([batch.as_tensor()] if dense else batch)]
        self._pad()
        for array in arrays:
            if not uniform:
                self._pad()
            array = numpy.ascontiguousarray(array)
            if array.nbytes:
                self.parts.append(array.reshape(-1).view(numpy.uint8))
                self.total += array.nbytes
        made = {"type": _type_of(batch), "layout": batch.layout(), "samples": len(shapes)}
        made["shape" if uniform and shapes else "shapes"] = shapes[0] if uniform and shapes else shapes
        if not shapes:
            made["ndim"] = batch.ndim()
        names = batch.sources()
        if any(names):
            made["names"] = names
        return made

    def _pad(self):
        if self.total % _ALIGNMENT:
            self.parts.append(numpy.zeros(_up(self.total) - self.total, numpy.uint8))
            self.total = _up(self.total)

    def write(self, memory: Any) -> None:
        """Copies all bytes into an array of bytes."""
        at = 0
        for part in self.parts:
            numpy.copyto(memory[at : at + part.nbytes], part)
            at += part.nbytes


def _array_of(tensor):
    if tensor.dtype == DType.BFLOAT16:  # NumPy may lack it
        tensor.reinterpret("uint16")
    return tensor.numpy()


def _type_of(batch):
    if batch.device_type != "cpu":
        raise ValueError(
            "an output is on a GPU: a service sends what is in the memory of the host; end with output.cpu()"
        )
    return batch.dtype.name


_TYPES = {
    "UINT8": "|u1",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "UINT64": "<u8",
    "INT8": "|i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "INT64": "<i8",
    "FLOAT16": "<f2",
    "BFLOAT16": "<u2",
    "FLOAT": "<f4",
    "FLOAT64": "<f8",
    "BOOL": "|b1",
}


class _Output:
    """An output of a description that was checked, and where its samples lie."""

    def __init__(self, words, begin):
        kind = words.get("type") if isinstance(words, dict) else None
        if not isinstance(kind, str) or kind not in _TYPES:
            raise ProtocolError("an output of a batch has no type")
        self.type, self.is_bfloat16 = numpy.dtype(_TYPES[kind]), kind == "BFLOAT16"
        self.layout, self.begin = words.get("layout"), begin
        if not isinstance(self.layout, str) or len(self.layout) > _MOST_DIMENSIONS:
            raise ProtocolError("an output of a batch has no layout")
        count = number_of(words.get("samples"), "the number of samples", _MOST_SAMPLES)
        self.uniform = count > 0 and "shape" in words
        shapes = [words["shape"]] if self.uniform else words.get("shapes")
        if not isinstance(shapes, list) or (not self.uniform and len(shapes) != count):
            raise ProtocolError("an output of a batch has no shapes")
        self.shapes = [_shape_of(shape) for shape in shapes]
        self.count, self.ndim = count, number_of(words.get("ndim", 0), "the rank", _MOST_DIMENSIONS)
        self.names = words.get("names")
        if self.names is not None and not (
            isinstance(self.names, list) and len(self.names) == count and all(type(n) is str for n in self.names)
        ):
            raise ProtocolError("the names of samples are not a text for each")
        self.places, self.end = self._places()

    def _places(self):
        sizes = [math.prod(shape) * self.type.itemsize for shape in self.shapes]
        if self.uniform:
            return [self.begin], self.begin + sizes[0] * self.count
        places, at = [], self.begin
        for size in sizes:
            at = _up(at)
            places.append(at)
            at += size
        return places, at

    def made(self, memory):
        if self.uniform or not self.count:
            shape = (self.count, *(self.shapes[0] if self.uniform else (0,) * self.ndim))
            batch = _core.Batch(numpy.ndarray(shape, self.type, memory, self.begin if self.count else 0), self.layout)
        else:
            arrays = [numpy.ndarray(s, self.type, memory, at) for s, at in zip(self.shapes, self.places)]
            batch = _core.Batch(arrays, self.layout)
        if self.is_bfloat16:
            batch.reinterpret("bfloat16")
        if self.names:
            batch.set_sources(self.names)
        return batch


def _shape_of(shape):
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
        raise ProtocolError("a shape of a sample is not a list of extents")
    return tuple(number_of(extent, "an extent", 2**40) for extent in shape)


class Description:
    """A description that came through a connection, checked: it says where in `total` bytes the outputs lie."""

    def __init__(self, words: dict[str, Any], total: int) -> None:
        outputs = words.get("outputs")
        if not isinstance(outputs, list) or len(outputs) > _MOST_OUTPUTS:
            raise ProtocolError("a batch has no list of outputs")
        self.outputs, at = [], 0
        for output in outputs:
            made = _Output(output, _up(at))
            self.outputs.append(made)
            at = made.end
        if at != total:
            raise ProtocolError(f"the outputs of a batch take {at} bytes, and {total} follow")

    def made(self, memory: Any) -> tuple[Batch, ...]:
        """The outputs over the memory that was received."""
        try:
            return tuple(output.made(memory) for output in self.outputs)
        except (ValueError, TypeError) as error:  # a layout of another rank
            raise ProtocolError(f"an output of a batch cannot be made: {error}") from None
