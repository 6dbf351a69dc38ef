# SPDX-License-Identifier: Apache-2.0
"""The worker's side: which batches trainers requested, which it makes next, and who gets them. No sockets and no clock."""

from __future__ import annotations

from collections import OrderedDict

from .messages import Made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import Any

    Sent = list[tuple[Hashable, Made]]


class QueueOfWork:
    """What trainers have asked for.

    Args:
        keep: Batches that stay after they were sent, for other trainers of the same job.
        most: Batches that one trainer may have asked for and not received.
    """

    def __init__(self, keep: int = 0, most: int = 64) -> None:
        self.keep, self.most = keep, most
        self.waiting: OrderedDict[Hashable, dict[int, None]] = (
            OrderedDict()
        )  # of each trainer; who was served last is last
        self.begun: dict[int, set[Hashable]] = {}  # what is being made, and for whom
        self.kept: OrderedDict[int, Any] = OrderedDict()
        self.found_kept = 0

    def asked(self, trainer: Hashable, numbers: Iterable[int]) -> Sent:
        """A trainer asks. What is kept is sent at once.

        Raises:
            ValueError: It asks for more than it may.
        """
        own, sent = self.waiting.setdefault(trainer, {}), []
        for number in numbers:
            if number in self.kept:
                self.found_kept += 1
                self.kept.move_to_end(number)
                sent.append((trainer, Made(number, self.kept[number])))
            elif number in self.begun:
                self.begun[number].add(trainer)
            else:
                own[number] = None
        if len(own) > self.most:
            raise ValueError(f"a trainer asks for {len(own)} batches ahead; a worker takes {self.most}")
        return sent

    def dropped(self, trainer: Hashable, numbers: Iterable[int]) -> None:
        """A trainer does not need these any more. What is being made is not stopped."""
        for number in numbers:
            self.waiting.get(trainer, {}).pop(number, None)
            self.begun.get(number, set()).discard(trainer)

    def gone(self, trainer: Hashable) -> None:
        """A trainer is not there any more."""
        self.waiting.pop(trainer, None)
        for trainers in self.begun.values():
            trainers.discard(trainer)

    def begin(self) -> int | None:
        """The number of the batch to make next: trainers take turns, each gets its lowest number first. None: no work."""
        for trainer, own in self.waiting.items():
            if own:
                number = min(own)
                self.waiting.move_to_end(trainer)
                self.begun[number] = {t for t, numbers in self.waiting.items() if number in numbers}
                for numbers in self.waiting.values():
                    numbers.pop(number, None)
                return number
        return None

    def made(self, number: int, content: Any) -> Sent:
        """A batch is there: who gets it."""
        if self.keep:
            self.kept[number] = content
            while len(self.kept) > self.keep:
                self.kept.popitem(last=False)
        return [(trainer, Made(number, content)) for trainer in sorted(self.begun.pop(number, ()), key=str)]
