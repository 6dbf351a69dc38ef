# SPDX-License-Identifier: Apache-2.0
"""What Tensor and Batch share: operators of Python, and where the data is."""

from __future__ import annotations

import operator
from typing import Any

from . import later
from .devices import Device
from .devices import device as device_of


class Value:
    """Holds a Tensor or a Batch of Penstock as `held`."""

    held: Any

    @property
    def device(self) -> Device:
        """Where the data is."""
        return Device("cpu") if self.held.device_type == "cpu" else Device("gpu", self.held.device_id)

    @property
    def ndim(self) -> int:
        """The number of dimensions of a sample."""
        return self.held.ndim if not callable(self.held.ndim) else self.held.ndim()

    @property
    def layout(self) -> str | None:
        """The letters of the axes, None if they are not known."""
        return self.held.layout() or None

    def evaluate(self) -> Any:
        """Itself: it has its values already."""
        return self

    def cpu(self) -> Any:
        """The same values on the CPU."""
        return type(self)(self.held.cpu())

    def gpu(self, index: int | None = None) -> Any:
        """The same values on a GPU.

        Args:
            index: The number of the GPU.

        Raises:
            ValueError: No GPU can be used.
        """
        return type(self)(self.held.gpu() if index is None else self.held.gpu(index))

    def to_device(self, device: Any, force_copy: bool = False) -> Any:
        """The same values on a device.

        Args:
            device: "cpu", "gpu", "gpu:1" or a Device.
            force_copy: Copy also if they are there already.

        Raises:
            ValueError: There is no such device.
        """
        wanted = device_of(device)
        moved = (
            self if wanted == self.device else self.cpu() if wanted.device_type == "cpu" else self.gpu(wanted.device_id)
        )
        if force_copy and moved is self:
            return later.functions["call"]("copy", self)
        return moved

    __hash__ = object.__hash__


def _binary(function, swapped):
    def method(self, other):
        pair = (other, self) if swapped else (self, other)
        return later.functions["arithmetic"](function, *pair)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
    _short = _name.rstrip("_")
    setattr(Value, f"__{_short}__", _binary(getattr(operator, _name), False))
    setattr(Value, f"__r{_short}__", _binary(getattr(operator, _name), True))
for _name in ("lt", "le", "eq", "ne", "ge", "gt"):
    setattr(Value, f"__{_name}__", _binary(getattr(operator, _name), False))


def _unary(function):
    def method(self):
        return type(self)(function(self.held))

    return method


def _negative(held):
    return held * -1


Value.__neg__, Value.__pos__ = _unary(_negative), _unary(lambda held: held)
