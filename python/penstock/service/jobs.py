# SPDX-License-Identifier: Apache-2.0
"""A worker's pipeline, what trainers have asked of it, and the thread that makes it."""

from __future__ import annotations

import threading

from .errors import told
from .maker import Maker, content_of
from .queue_of_work import QueueOfWork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .._pipeline.driver import Driver
    from .trainer_link import TrainerLink


class Job:
    """Batches of one pipeline for all trainers that need the same.

    Args:
        driver: Runs the pipeline, which is closed with the job.
        keep: Batches that stay after they were sent.
        say: Takes a line for each batch that cannot be made.
    """

    def __init__(self, driver: Driver, keep: int, say: Callable[[str], None]) -> None:
        self.maker, self.queue, self.say = Maker(driver), QueueOfWork(keep), say
        self.changed, self.trainers, self.ends = threading.Condition(), {}, False
        threading.Thread(target=self._work, name="penstock.service: makes", daemon=True).start()

    def join(self, trainer: TrainerLink) -> None:
        with self.changed:
            self.trainers[trainer.number] = trainer

    def leave(self, trainer: TrainerLink) -> None:
        with self.changed:
            self.trainers.pop(trainer.number, None)
            self.queue.gone(trainer.number)

    def asked(self, trainer: TrainerLink, numbers: tuple[int, ...]) -> None:
        with self.changed:
            self._send(self.queue.asked(trainer.number, numbers))
            self.changed.notify()

    def dropped(self, trainer: TrainerLink, numbers: tuple[int, ...]) -> None:
        with self.changed:
            self.queue.dropped(trainer.number, numbers)

    def close(self) -> None:
        with self.changed:
            self.ends = True
            self.changed.notify()

    def _send(self, messages):
        for number, message in messages:
            trainer = self.trainers.get(number)
            if trainer is not None:
                trainer.outgoing.put(message)

    def _work(self):
        given = self.maker.given
        while True:
            with self.changed:
                while not self.ends and not self._begin() and not given:
                    self.changed.wait()
                if self.ends:
                    break
                if not given:
                    continue
            number, made = self.maker.run()
            content = content_of(made)
            del made
            self._tell(number, content)
            with self.changed:
                self._send(self.queue.made(number, content))
            del content
        self.maker.driver.pipeline.close()

    def _begin(self):
        """Gives the pipeline as much as it works on at once."""
        begun = False
        while len(self.maker.given) < self.maker.depth and (number := self.queue.begin()) is not None:
            begun = True
            try:
                self.maker.give([number])
            except Exception as error:  # a number that the pipeline does not take
                content = told(error)
                self._tell(number, content)
                self._send(self.queue.made(number, content))
        return begun

    def _tell(self, number, content):
        if isinstance(content, dict):
            self.say(f"batch {number}: {content['name']}: {content['text']}")
