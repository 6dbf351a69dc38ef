# SPDX-License-Identifier: Apache-2.0
"""Tensors of the dynamic mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import _core, fn
from ...errors import also_runtime_errors
from . import element_types, later
from .values import Value


class Tensor(Value):
    """Holds one tensor: data, an element type, a layout, a device. tensor() and as_tensor() make it.

    Args:
        data, dtype, device, layout: As those of as_tensor().
    """

    def __init__(self, data: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> None:
        plain = isinstance(data, _core.Tensor) and dtype is device is layout is None
        self.held = data if plain else as_tensor(data, dtype, device, layout).held

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(self.held.shape())

    @property
    def dtype(self) -> element_types.DType:
        """The element type."""
        return element_types.dtype(self.held.dtype)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.dtype.bytes

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.itemsize

    def item(self) -> Any:
        """The only element, as a number of Python."""
        return self.held.item()

    def torch(self, copy: bool = False) -> Any:
        """A tensor of torch.

        Args:
            copy: Over memory of its own.
        """
        made = self.held.torch()
        return made.clone() if copy else made

    def __array__(self, dtype=None, copy=None):
        made = np.asarray(self.held.as_cpu().numpy(), dtype)
        return made.copy() if copy else made

    def __dlpack__(self, **given):
        return self.held.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()

    def __bool__(self):
        return bool(self.held.item())

    def __int__(self):
        return int(self.held.item())

    __index__ = __int__

    def __float__(self):
        return float(self.held.item())

    def __len__(self):
        if not self.shape:
            raise TypeError("a Tensor without dimensions has no length")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Tensor:
        keys = key if isinstance(key, tuple) else (key,)
        keys = tuple(k.item() if isinstance(k, Tensor) else k for k in keys)
        part = self.held[keys if len(keys) != 1 or keys[0] is None else keys[0]]
        made = part if isinstance(part, _core.Tensor) else _core.tensor(part)
        layout = _layout_of_part(self.layout, keys)
        return Tensor(_core.tensor(made, layout=layout) if layout and len(layout) == len(made.shape()) else made)

    def __repr__(self):
        text = np.array2string(self.__array__(), prefix="    ")
        layout = f', layout="{self.layout}"' if self.layout else ""
        return f'Tensor({text}, dtype={self.dtype.name}{layout}, device="{self.device}", shape={self.shape})'


def _layout_of_part(layout, keys):
    """The letters of the axes that are left, "" where there are new ones."""
    if not layout or any(k is None for k in keys):
        return ""
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys = (*keys[:at], *[slice(None)] * (len(layout) - len(keys) + 1), *keys[at + 1 :])
    keys = (*keys, *[slice(None)] * (len(layout) - len(keys)))
    return "".join(letter for letter, key in zip(layout, keys) if isinstance(key, slice))


def _held(data, layout):
    if isinstance(data, Tensor):
        return data.held if layout is None else _core.tensor(data.held, layout=layout)
    if isinstance(data, _core.Tensor):
        return data if layout is None else _core.tensor(data, layout=layout)
    if isinstance(data, (bool, int, float, list, tuple)):
        array = np.asarray([np.asarray(d) for d in data] if isinstance(data, (list, tuple)) else data)
        data = array.astype({"int64": np.int32, "float64": np.float32}.get(array.dtype.name, array.dtype))
    return _core.tensor(data) if layout is None else _core.tensor(data, layout=layout)


@also_runtime_errors
def as_tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False) -> Tensor:
    """A Tensor over data, without a copy where that is possible.

    Args:
        data: An array, a tensor of a framework, a number or a list of numbers (32 bits), a Tensor; a Batch of samples of one
            shape, whose samples become the first axis.
        dtype: Another element type.
        device: Where it shall be.
        layout: The letters of the axes.
        pad: The samples of a Batch may differ in shape, and are padded with 0.

    Returns:
        The Tensor.

    Raises:
        TypeError: This is not an array.
        ValueError: The samples of a Batch differ in shape, and pad is False.

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> ndd.as_tensor([[1, 2], [3, 4]]).shape
        (2, 2)
    """
    if isinstance(data, Value) and not isinstance(data, Tensor):
        held = fn.pad(data.held) if pad else data.held
        if not held.is_uniform():
            raise ValueError(f"the samples differ in shape, {data.shape[:3]}: pad=True fills them up with 0")
        data = held.as_tensor()
    made = Tensor(_held(data, layout))
    if dtype is not None and element_types.dtype(dtype) != made.dtype:
        made = Tensor(fn.cast(made.held, dtype=element_types.type_id(dtype)))
    return made if device is None else made.to_device(device)


def tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False) -> Tensor:
    """A Tensor with memory of its own.

    Args:
        data, dtype, device, layout, pad: As those of as_tensor().

    Returns:
        The Tensor.

    Raises:
        TypeError, ValueError: As those of as_tensor().

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> (ndd.tensor([1.0, 2.0]) + 1).dtype
        DType(float32)
    """
    made = as_tensor(data, dtype, device, layout, pad)
    return Tensor(fn.copy(made.held))


later.functions["as_tensor"] = as_tensor
