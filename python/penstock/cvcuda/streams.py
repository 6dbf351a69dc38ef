# SPDX-License-Identifier: Apache-2.0
"""Streams: queues of a GPU. On a machine without a GPU, calls have ended when they return."""

from __future__ import annotations

import threading

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_current = threading.local()


class _Current(type):
    @property
    def current(cls) -> Stream:
        """The stream of calls that name none."""
        stack = _stack()
        return stack[-1] if stack else cls.default


class Stream(metaclass=_Current):
    """A queue of a GPU; `with stream:` makes it the current one of the thread.

    Example:
        >>> import penstock.cvcuda as cvcuda
        >>> with cvcuda.Stream() as stream:
        ...     stream.sync()
    """

    def __init__(self) -> None:
        self._gpu = 0 if _core.gpu_count() > 0 else None
        self._owned = self._gpu is not None
        self._handle = _core.make_stream(self._gpu) if self._owned else 0
        self._keeps = None

    @classmethod
    def _over(cls, handle, keeps):
        """A stream of somebody else."""
        self = cls.__new__(cls)
        self._gpu, self._owned, self._handle, self._keeps = (0 if _core.gpu_count() > 0 else None), False, handle, keeps
        return self

    @property
    def handle(self) -> int:
        """CUDA's handle, as a number; 0: the default stream."""
        return self._handle

    @property
    def id(self) -> int:
        """A number that no other stream has."""
        return id(self)

    def sync(self) -> None:
        """Waits on the host until all work is done."""
        if self._gpu is not None:
            _core.wait_for_stream(self._gpu, self._handle)

    def wait_stream(self, other: Any) -> None:
        """Work from now on begins after what is on the other stream.

        Args:
            other: A Stream.
        """
        if self._gpu is not None:
            _core.order_streams(self._gpu, other.handle, self._handle)

    def __enter__(self) -> Stream:
        _stack().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _stack().pop()

    def __int__(self) -> int:
        return self._handle

    def __repr__(self):
        return f"<cvcuda.Stream handle={self._handle}>"

    def __del__(self):
        if getattr(self, "_owned", False):
            _core.drop_stream(self._gpu, self._handle)


def _stack():
    if not hasattr(_current, "streams"):
        _current.streams = []
    return _current.streams


def chosen(stream):
    """What a call gets as stream=. Calls that name none go to CUDA's default stream, as torch's do."""
    return (Stream.current if stream is None else stream).handle if _core.gpu_count() > 0 else None


def as_stream(stream: Any) -> Stream:
    """A stream of torch, of CuPy, a number or a ctypes pointer as a Stream; it is not copied.

    Args:
        stream: The other library's stream.

    Returns:
        A Stream over it, which keeps it alive.
    """
    for name in ("cuda_stream", "ptr", "handle", "value"):
        if hasattr(stream, name):
            handle = getattr(stream, name)
            return Stream._over(int(getattr(handle, "value", handle) or 0), stream)
    if isinstance(stream, int):
        return Stream._over(stream, None)
    raise TypeError(
        f"as_stream takes a stream of torch or CuPy, a number or a ctypes pointer, got {type(stream).__name__}"
    )


Stream.default = Stream._over(0, None)
