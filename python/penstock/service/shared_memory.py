# SPDX-License-Identifier: Apache-2.0
"""Batches between processes of one machine: in memory of both, which a descriptor brings through a UNIX socket once."""

from __future__ import annotations

import functools
import os
import weakref
from collections import deque

import numpy

from .._workers.shared_arrays import anonymous, cannot_shrink, mapped
from .errors import ProtocolError
from .frames import number_of, numbers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .contents import Content

_MOST_SLOTS = 1024


class Slots:
    """The worker's side. A slot is written again when the trainer has released it."""

    def __init__(self) -> None:
        self.memory, self.free, self.retired, self.next = {}, [], [], 0

    def place(self, content: Content) -> tuple[dict[str, Any], list[int]]:
        """Writes a batch. Returns what to say of it, and descriptors to send along and close then."""
        number, files = self._fitting(content.total), []
        if number is None:
            number, file = self._new(content.total)
            files.append(file)
        content.write(self.memory[number])
        retired, self.retired = self.retired, []
        return {"slot": number, "capacity": self.memory[number].nbytes, "retired": retired}, files

    def _fitting(self, size):
        fitting = [n for n in self.free if size <= self.memory[n].nbytes]
        if not fitting:
            return None
        number = min(fitting, key=lambda n: self.memory[n].nbytes)
        self.free.remove(number)
        return number

    def _new(self, size):
        if self.free:  # too small: batches have grown
            self.retired.append(self.free.pop())
            del self.memory[self.retired[-1]]
        capacity = max(size + size // 8, 1 << 16)
        file = anonymous(capacity)
        try:
            if not cannot_shrink(file):
                raise MemoryError("this system has no shared memory that trainers take: its size could change")
            memory = numpy.frombuffer(mapped(file, capacity), numpy.uint8)
        except MemoryError:
            os.close(file)
            raise
        number, self.next = self.next, self.next + 1
        self.memory[number] = memory
        return number, file

    def release(self, numbers: tuple[int, ...]) -> None:
        """The trainer does not use these any more."""
        self.free += [n for n in numbers if n in self.memory and n not in self.free]


class MappedSlots:
    """The trainer's side: a batch over a slot gives it back when it is gone."""

    def __init__(self) -> None:
        self.memory, self.released = {}, deque()

    def take(self, words: dict[str, Any], files: list[int], total: int, most: int) -> Any:
        """The bytes of the batch that a description speaks of; the caller closes `files`."""
        slot = number_of(words.get("slot"), "a slot")
        capacity = number_of(words.get("capacity"), "the size of a slot", 2 * most)
        retired = numbers_of({"numbers": words.get("retired", [])})
        if files:
            if not cannot_shrink(files[0]):  # a worker that cuts it would end the trainer by SIGBUS
                raise ProtocolError("the memory of a slot is not sealed: its sender could make it smaller")
            if not 0 < capacity <= os.fstat(files[0]).st_size or len(self.memory) >= _MOST_SLOTS:
                raise ProtocolError("a slot is smaller than was said, or there are too many")
            self.memory[slot] = mapped(files[0], capacity)
        for number in retired:
            self.memory.pop(number, None)
        if slot not in self.memory or total > len(self.memory[slot]):
            raise ProtocolError("a batch is in a slot that was not sent, or that is too small")
        root = numpy.frombuffer(self.memory[slot], numpy.uint8, total)
        weakref.finalize(root, functools.partial(self.released.append, slot)).atexit = False
        return root

    def taken_back(self) -> list[int]:
        """Slots to tell the worker of."""
        numbers = []
        try:
            while len(numbers) < _MOST_SLOTS:
                numbers.append(self.released.popleft())
        except IndexError:  # two threads may take them
            pass
        return numbers
