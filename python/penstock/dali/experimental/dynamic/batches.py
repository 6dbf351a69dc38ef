# SPDX-License-Identifier: Apache-2.0
"""Batches of the dynamic mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import _core, fn
from ...errors import also_runtime_errors
from . import element_types, later
from .tensors import Tensor, _held, as_tensor
from .values import Value


class Batch(Value):
    """Holds samples of one element type and layout, which may differ in shape. batch() and as_batch() make it.

    Args:
        tensors, dtype, device, layout: As those of as_batch().
    """

    def __init__(self, tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> None:
        plain = isinstance(tensors, _core.Batch) and dtype is device is layout is None
        self.held = tensors if plain else as_batch(tensors, dtype, device, layout).held

    @property
    def shape(self) -> list[tuple[int, ...]]:
        """The extents of each sample."""
        return [tuple(s) for s in self.held.shape()]

    @property
    def dtype(self) -> element_types.DType:
        """The element type."""
        return element_types.dtype(self.held.dtype)

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        return len(self.held)

    @property
    def tensors(self) -> list[Tensor]:
        """The samples."""
        return [Tensor(t) for t in self.held]

    def __iter__(self):
        return iter(self.tensors)

    def select(self, sample_range: Any) -> Any:
        """Some of the samples.

        Args:
            sample_range: A number gives a Tensor; a slice or a list of numbers gives a Batch.

        Raises:
            IndexError: There is no such sample.
        """
        if isinstance(sample_range, (int, np.integer)):
            return Tensor(self.held[int(sample_range)])
        numbers = range(*sample_range.indices(len(self.held))) if isinstance(sample_range, slice) else sample_range
        return Batch(_joined([self.held[int(k)] for k in numbers], self))

    @property
    def slice(self) -> _Slices:
        """Parts of all samples: batch.slice[0:2, 1] takes the part of each; an index may be a Batch of numbers."""
        return _Slices(self)

    @staticmethod
    def broadcast(sample: Any, batch_size: int, device: Any = None, dtype: Any = None) -> Batch:
        """A Batch of the same sample.

        Args:
            sample: What as_tensor() takes.
            batch_size: The number of samples.
            device: Where it shall be.
            dtype: Another element type.
        """
        one = as_tensor(sample, dtype, device)
        return Batch(_core.batch([one.held] * batch_size))

    def torch(self, copy: bool | None = None, pad: bool = False) -> Any:
        """A tensor of torch of all samples.

        Args:
            copy: Over memory of its own.
            pad: The samples may differ in shape, and are padded with 0.

        Raises:
            ValueError: The samples differ in shape, and pad is False.
        """
        return as_tensor(self, pad=pad).torch(bool(copy))

    def __repr__(self):
        return (
            f'Batch({self.batch_size} samples, dtype={self.dtype.name}, layout="{self.layout or ""}", device="{self.device}", '
            f"shape={self.shape})"
        )


class _Slices:
    def __init__(self, batch):
        self._batch = batch

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)

        def of(value, k):
            if isinstance(value, Batch):
                return value.select(k).item()
            if isinstance(value, slice):
                return slice(of(value.start, k), of(value.stop, k), of(value.step, k))
            return value.item() if isinstance(value, Tensor) else value

        samples = self._batch.tensors
        return Batch(_joined([t[tuple(of(v, k) for v in keys)].held for k, t in enumerate(samples)], self._batch))


def _joined(held, like):
    return _core.batch(held) if held else _core.batch(np.zeros((0,), like.held.dtype.name.lower()))


def _alike(samples):
    """The samples with the element type of the first one."""
    types = {sample.dtype for sample in samples}
    if len(types) < 2:
        return samples
    return [samples[0], *(fn.cast(sample, dtype=samples[0].dtype) for sample in samples[1:])]


@also_runtime_errors
def as_batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """A Batch over data, without a copy where that is possible.

    Args:
        tensors: A list of what as_tensor() takes; an array, whose first axis has the samples; a Batch.
        dtype: Another element type; None: that of the first sample, to which the others are converted.
        device: Where it shall be.
        layout: The letters of the axes of a sample.

    Returns:
        The Batch.

    Raises:
        TypeError, ValueError: The samples differ in layout or number of dimensions.

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> ndd.as_batch([np.zeros((2, 3)), np.zeros((4, 3))]).shape
        [(2, 3), (4, 3)]
    """
    if isinstance(tensors, (Batch, _core.Batch)):
        held = tensors.held if isinstance(tensors, Batch) else tensors
        if layout is not None:
            held = _core.batch([_core.tensor(t, layout=layout) for t in held])
    elif isinstance(tensors, (list, tuple)):
        held = _core.batch(_alike([_held(t, layout) for t in tensors]))
    else:
        held = _core.batch([t.held for t in as_tensor(tensors)])
        held = held if layout is None else _core.batch([_core.tensor(t, layout=layout) for t in held])
    made = Batch(held)
    if dtype is not None and element_types.dtype(dtype) != made.dtype:
        made = Batch(fn.cast(made.held, dtype=element_types.type_id(dtype)))
    return made if device is None else made.to_device(device)


def batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """A Batch with memory of its own.

    Args:
        tensors, dtype, device, layout: As those of as_batch().

    Returns:
        The Batch.

    Raises:
        TypeError, ValueError: As those of as_batch().

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> ndd.batch([[1, 2], [3]]).batch_size
        2
    """
    return Batch(fn.copy(as_batch(tensors, dtype, device, layout).held))


later.functions["as_batch"] = as_batch
