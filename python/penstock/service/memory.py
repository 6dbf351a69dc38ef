# SPDX-License-Identifier: Apache-2.0
"""Memory of the trainer that batches are received into: it becomes the batch, and is received into again when that is gone."""

from __future__ import annotations

import threading
import weakref
from collections import deque

import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ALIGNMENT = 64


class ReceivedMemory:
    """Blocks of memory, of which `most` stay for the next batch when nothing uses them.

    Fresh memory costs the system a fault for each page; a block that was used before does not.
    """

    def __init__(self, most: int) -> None:
        self.most, self.free, self.lock = most, [], threading.Lock()
        self.returned = deque()  # an array may end anywhere, also in a thread that has the lock

    def take(self, size: int) -> Any:
        """An array of `size` bytes that begins at a multiple of 64. Its block comes back when no array uses it."""
        with self.lock:
            while self.returned:
                self.free.append(self.returned.popleft())
            del self.free[: -self.most]
            fitting = [k for k, block in enumerate(self.free) if size <= block.nbytes <= 2 * size + 4096]
            block = self.free.pop(fitting[-1]) if fitting else None  # the one that the cache may still have
        if block is None:
            whole = numpy.empty(size + size // 8 + _ALIGNMENT, numpy.uint8)
            begin = -whole.ctypes.data % _ALIGNMENT
            block = whole[begin : begin + size + size // 8]
        taken = numpy.frombuffer(memoryview(block)[:size], numpy.uint8) if size else block[:0]
        if size:
            weakref.finalize(taken, self.returned.append, block).atexit = False
        return taken
