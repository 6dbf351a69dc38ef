# SPDX-License-Identifier: Apache-2.0
"""The trainer's side: which batches it needs, who makes each, and which one is handed out next.

It has no sockets and no clock: what happens is a call with the time, and what to send is returned. A batch is a function of its
number, so any worker may make any batch, two may make the same one, and the first that arrives is taken.
"""

from __future__ import annotations

import hashlib

from .messages import Ask, Drop
from .patience import Patience

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any

    Sent = list[tuple[Hashable, Ask | Drop]]


class Request:
    """A number that was requested: of whom, when first and last, and how often."""

    __slots__ = ("workers", "first", "last", "times")

    def __init__(self, worker, now):
        self.workers, self.first, self.last, self.times = [worker], now, now, 1

    def again(self, worker, now):
        if worker in self.workers:
            self.workers.remove(worker)
        self.workers.append(worker)  # the one that was asked last is the last one
        self.last, self.times = now, self.times + 1


class Window:
    """The batches first, first + step, ... of a pipeline, in this order, each once.

    Args:
        first, step: Numbers of batches.
        size: Batches that are ready or on their way at most.
        at_once: Batches that are requested of a worker ahead of what it has sent.
        patience: How long to wait before another worker is asked too.
        shared: Other trainers need the same batches: each number has one worker at which all of them ask first, whose cache then
            has it.
    """

    def __init__(
        self,
        first: int = 0,
        step: int = 1,
        size: int = 8,
        at_once: int = 2,
        patience: Patience | None = None,
        shared: bool = False,
    ) -> None:
        self.next, self.step, self.size, self.at_once, self.shared = first, step, size, at_once, shared
        self.patience = patience or Patience()
        self.ready: dict[int, Any] = {}
        self.requests: dict[int, Request] = {}
        self.load: dict[Hashable, set[int]] = {}  # of each worker: what was requested of it and is not there
        self.silent: set[Hashable] = set()  # workers that let a batch become late and have sent nothing since
        self.made_twice = self.asked_again = 0

    # --- what happens -----------------------------------------------------------------------------------------------

    def joined(self, worker: Hashable, now: float) -> Sent:
        """A worker is there."""
        self.load.setdefault(worker, set())
        return self._deal(now)

    def left(self, worker: Hashable, now: float) -> Sent:
        """A worker has gone, or will send nothing more."""
        for number in self.load.pop(worker, ()):
            request = self.requests.get(number)
            if request is not None:
                request.workers.remove(worker)
                if not request.workers:
                    del self.requests[number]
        self.silent.discard(worker)
        return self._deal(now)

    def wants(self, number: int) -> bool:
        """Whether a batch is neither handed out nor there, but one of those that come next."""
        return self.within(number) and number not in self.ready

    def unanswered(self) -> bool:
        """Whether workers are there and each of them let a batch become late and has sent nothing since."""
        return bool(self.load) and self.silent.issuperset(self.load)

    def within(self, number: int) -> bool:
        """Whether the number is one of the next `size`."""
        return 0 <= number - self.next < self.size * self.step and (number - self.next) % self.step == 0

    def received(self, worker: Hashable, number: int, content: Any, now: float) -> Sent:
        """A batch, or its error, has arrived. It is dropped where it is there already."""
        self.silent.discard(worker)
        if worker in self.load:
            self.load[worker].discard(number)
        if not self.wants(number):
            self.made_twice += 1
            return self._deal(now)
        self.ready[number] = content
        sent = []
        request = self.requests.pop(number, None)
        if request is not None:
            self.patience.saw(now - request.first)
            for other in request.workers:
                if other != worker:
                    self.load[other].discard(number)
                    sent.append((other, Drop((number,))))
        return sent + self._deal(now)

    def take(self, now: float) -> tuple[bool, Any, Sent]:
        """(whether the next batch is there, the batch, what to send)"""
        if self.next not in self.ready:
            return False, None, []
        content = self.ready.pop(self.next)
        self.next += self.step
        return True, content, self._deal(now)

    def tick(self, now: float) -> Sent:
        """Time has passed: late batches are requested once more."""
        sent = []
        for number, request in sorted(self.requests.items()):
            if now - request.last < self.patience.limit(request.times):
                continue
            self.silent.update(w for w in request.workers if min(self.load[w]) == number)
            worker = self._another(number, request)
            if worker is not None:
                self.asked_again += 1
                request.again(worker, now)
                self.load[worker].add(number)
                sent.append((worker, Ask((number,))))
        return sent + self._deal(now)

    def due(self, now: float) -> float | None:
        """Seconds until tick() has something to do; None: nothing is on its way."""
        return min((r.last + self.patience.limit(r.times) - now for r in self.requests.values()), default=None)

    # --- who makes what ---------------------------------------------------------------------------------------------

    def numbers(self) -> range:
        """The numbers of the batches that come next."""
        return range(self.next, self.next + self.size * self.step, self.step)

    def _deal(self, now):
        """Requests what nobody makes yet, as far as workers have room."""
        asked: dict[Hashable, list[int]] = {}
        for number in self.numbers():
            if number in self.ready or number in self.requests:
                continue
            worker = self._free(number)
            if worker is None:
                if self.shared:
                    continue  # the worker of the next number may have room
                break
            self.requests[number] = Request(worker, now)
            self.load[worker].add(number)
            asked.setdefault(worker, []).append(number)
        return [(worker, Ask(tuple(numbers))) for worker, numbers in asked.items()]

    def _free(self, number):
        present = [w for w in self.load if w not in self.silent] or list(self.load)
        if self.shared and present:
            present = [max(present, key=lambda worker: _weight(worker, number))]
        # The batch that the trainer waits for goes to a worker without room too: requests to that one may be lost.
        free = [w for w in present if len(self.load[w]) < self.at_once or number == self.next]
        return min(free, key=lambda w: len(self.load[w]), default=None)

    def _another(self, number, request):
        """Who makes a late batch too: one that was not asked and has room, and for the batch that the trainer waits for, anyone."""
        others = [w for w in self.load if w not in request.workers]
        free = [w for w in others if w not in self.silent and len(self.load[w]) < self.at_once]
        if free:
            return min(free, key=lambda w: len(self.load[w]))
        if number != self.next:
            return None
        return others[0] if others else request.workers[0] if request.workers else None


def _weight(worker, number):
    """Decides which worker is the first for a number, the same in all trainers; when workers come or go, few numbers move."""
    return hashlib.blake2b(f"{worker}/{number}".encode(), digest_size=8).digest()
