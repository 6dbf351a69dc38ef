# SPDX-License-Identifier: Apache-2.0
"""Devices, evaluation modes and contexts of the dynamic mode."""

from __future__ import annotations

import enum
import os
import threading
from typing import Any

_local = threading.local()


class Device:
    """A place of data and of operators: the CPU or a GPU.

    Args:
        name: "cpu", "gpu" or "gpu:1".
        device_id: The number of the GPU, where the name has none.

    Raises:
        ValueError: There is no such device.
    """

    CPU: Device

    def __init__(self, name: str, device_id: int | None = None) -> None:
        kind, _, number = name.partition(":")
        if kind not in ("cpu", "gpu", "cuda") or (number and (kind == "cpu" or not number.isdigit())):
            raise ValueError(f'a device is "cpu", "gpu" or "gpu:<number>", got {name!r}')
        if device_id is not None and (number or kind == "cpu"):
            raise ValueError(f"the device {name!r} takes no device_id")
        self.device_type = "cpu" if kind == "cpu" else "gpu"
        self.device_id = None if kind == "cpu" else int(number) if number else device_id or 0

    def __repr__(self):
        return f"Device({self})"

    def __str__(self):
        return self.device_type if self.device_id is None else f"gpu:{self.device_id}"

    def __eq__(self, other):
        return isinstance(other, Device) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    @staticmethod
    def current() -> Device:
        """The device of operators without inputs: the innermost `with ndd.Device(...)`, else the CPU."""
        stack = getattr(_local, "devices", None)
        return stack[-1] if stack else Device.CPU

    def __enter__(self) -> Device:
        _local.devices = [*getattr(_local, "devices", ()), self]
        return self

    def __exit__(self, *error: Any) -> None:
        _local.devices.pop()


Device.CPU = Device("cpu")


def device(value: Any, device_id: int | None = None) -> Device:
    """The Device of a name or a Device.

    Args:
        value: "cpu", "gpu", "gpu:1", or a Device.
        device_id: The number of the GPU, where the name has none.

    Returns:
        The Device.

    Raises:
        ValueError: There is no such device.

    Example:
        >>> import penstock.dali.experimental.dynamic as ndd
        >>> ndd.device("gpu:1").device_id
        1
    """
    return value if isinstance(value, Device) else Device(str(value), device_id)


class EvalMode(enum.Enum):
    """Names when operators run. Here each call runs before it returns, which all modes allow."""

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4
    default = eager

    @staticmethod
    def current() -> EvalMode:
        """The innermost mode of `with`, else the default."""
        stack = getattr(_local, "modes", None)
        return stack[-1] if stack else EvalMode.default

    def __enter__(self) -> EvalMode:
        _local.modes = [*getattr(_local, "modes", ()), self]
        return self

    def __exit__(self, *error: Any) -> None:
        _local.modes.pop()


class EvalContext:
    """Holds what operators run with.

    Args:
        num_threads: The threads of readers that begin while it is active.
        device_id: The GPU of readers.
        cuda_stream, thread_pool: Refused: Penstock has streams and threads of its own.

    Raises:
        ValueError: cuda_stream or thread_pool is given.
    """

    def __init__(
        self,
        *,
        num_threads: int | None = None,
        device_id: int | None = None,
        cuda_stream: Any = None,
        thread_pool: Any = None,
    ) -> None:
        if cuda_stream is not None or thread_pool is not None:
            raise ValueError(
                "an EvalContext takes no cuda_stream and no thread_pool here: Penstock has its own; num_threads sets how many"
            )
        self.num_threads = num_threads or _threads[0] or os.cpu_count() or 1
        self.device_id = device_id

    @staticmethod
    def current() -> EvalContext:
        """The innermost context of `with`, else one with the defaults."""
        stack = getattr(_local, "contexts", None)
        return stack[-1] if stack else EvalContext()

    default = current

    def evaluate_all(self) -> None:
        """Does nothing: each call has run when it returned."""

    def __enter__(self) -> EvalContext:
        _local.contexts = [*getattr(_local, "contexts", ()), self]
        return self

    def __exit__(self, *error: Any) -> None:
        _local.contexts.pop()


_threads: list[int | None] = [None]


def set_num_threads(n: int | None) -> None:
    """Sets the threads of readers that begin later.

    Args:
        n: How many; None: one for each processor.

    Raises:
        ValueError: n is not positive.
    """
    if n is not None and n < 1:
        raise ValueError(f"the number of threads must be positive, got {n!r}")
    _threads[0] = n


def get_num_threads() -> int:
    """How many threads readers have that begin now."""
    return EvalContext.current().num_threads
