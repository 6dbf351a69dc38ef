# SPDX-License-Identifier: Apache-2.0
"""What a trainer is owed: the window of its batches, the workers that fill it, and the pipeline where there is no worker."""

from __future__ import annotations

import threading
import time

from .._base.log import INFO, log, warn
from .addresses import Addresses
from .errors import ServiceError
from .maker import Ended, Maker
from .memory import ReceivedMemory
from .waits import Waits
from .window import Window
from .worker_link import WorkerLink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    from .._pipeline.driver import Driver


class Deliveries:
    """Gives the batches of a window in their order. Links call it in threads of theirs, the trainer in its own.

    Args:
        driver: Runs the pipeline, which makes batches while no worker is there.
        job: What the workers must make.
        first: The number of the first batch.
        options: Of Window; `step` among them.
        without_workers: As loader() takes it.
    """

    def __init__(
        self,
        driver: Driver,
        job: dict[str, Any],
        first: int,
        options: dict[str, Any],
        without_workers: Literal["make", "wait", "error"],
    ) -> None:
        self.job, self.home, self.waits = job, Maker(driver), Waits()
        self.options, self.without_workers = options, without_workers
        self.window = Window(first, **options)
        self.changed, self.closed, self.warned = threading.Condition(), False, False
        self.refused = set()  # names of workers that a warning has named
        self.memory, self.links = ReceivedMemory(options["size"] + 2), []
        self.link, self.addresses, self.bytes_before = {}, None, 0

    def start(self, addresses: Iterable[tuple[str, int]] | Callable[[], Iterable[str]], **link: Any) -> None:
        """Begins to connect. `link`: arguments of WorkerLink."""
        self.link = link
        if callable(addresses):
            self.addresses = Addresses(addresses, self.set_addresses)
            self.addresses.start()
        else:
            self.set_addresses(addresses)

    def set_addresses(self, addresses: Iterable[tuple[str, int]]) -> None:
        """Connects to those workers that are new and leaves those that are not named any more."""
        with self.changed:
            if self.closed:
                return
            before = {link.address: link for link in self.links}
            self.links = [
                before.pop(address, None) or WorkerLink(self, address, **self.link)
                for address in dict.fromkeys(addresses)
            ]
            new = [link for link in self.links if not link.started]
            self.bytes_before += sum(link.bytes for link in before.values())
        for gone in before.values():
            gone.close()
        for each in new:
            each.start()

    # --- what links say ---------------------------------------------------------------------------------------------

    def joined(self, link: WorkerLink) -> None:
        """A worker is there."""
        log("service", INFO, "the worker %s is there", link.name)
        with self.changed:
            self._send(self.window.joined(link, time.monotonic()))
            self.changed.notify_all()

    def left(self, link: WorkerLink) -> None:
        """A worker has gone, or could not be reached."""
        with self.changed:
            if link in self.window.load:
                others = len(self.window.load) - 1
                log("service", INFO, "the worker %s: %s; others: %d", link.name, link.trouble or "it was left", others)
            self._send(self.window.left(link, time.monotonic()))
            self.changed.notify_all()

    def wants(self, number: int) -> bool:
        """Whether a batch that begins to arrive is needed."""
        with self.changed:
            return self.window.wants(number)

    def received(self, link: WorkerLink | None, number: int, content: Any) -> None:
        """A batch, or what stands in its place, is there."""
        with self.changed:
            self._send(self.window.received(link, number, content, time.monotonic()))
            self.changed.notify_all()

    def _send(self, messages):
        for link, message in messages:
            link.send(message)

    # --- what the trainer asks --------------------------------------------------------------------------------------

    def next(self) -> Any:
        """Waits for the next batch: its outputs, an error or Ended."""
        begin = self.waits.since = time.monotonic()
        content = self._next()
        self.waits.add(begin, time.monotonic())
        return content

    def _next(self):
        while True:
            with self.changed:
                if self.closed:
                    raise ServiceError("this loader is closed")
                for link in self.links:
                    link.give_back()
                self._warn_of_refusals()
                now = time.monotonic()
                self._send(self.window.tick(now))
                there, content, messages = self.window.take(now)
                self._send(messages)
                if there:
                    return self._kept_at_end(content)
                if not self._at_home():
                    due = self.window.due(now)
                    self.changed.wait(0.25 if due is None else min(max(due, 0.001), 0.25))
                    continue
                number = self.window.next
                ahead = [n for n in self.window.numbers() if n != number and self.window.wants(n)]
            self.received(None, number, self._made_at_home(number, ahead))

    def _kept_at_end(self, content):
        """The end of the data stays the end."""
        if isinstance(content, Ended):
            self.window.next -= self.window.step
            self.window.ready[self.window.next] = content
        return content

    def _at_home(self):
        """Whether this process makes the next batch itself: no worker is there, or none answers."""
        if self.window.load:
            if self.without_workers != "make" or not self.window.unanswered():
                return False
            self._warn("no worker answers")
            return True
        if not self.links and self.addresses is None:
            return True
        if any(link.trying for link in self.links):
            return False  # the first attempts are under way
        refusals = [link.refusal for link in self.links if link.refusal is not None]
        if refusals and len(refusals) == len(self.links):
            raise ServiceError("\n".join(map(str, refusals)))
        if not self.links and self.addresses.early():
            return self.without_workers == "make"
        if self.without_workers == "error":
            raise ServiceError(f"no worker can be reached: {self._trouble()}")
        if self.without_workers == "make":
            self._warn("no worker is there", f" ({self._trouble()})")
        return self.without_workers == "make"

    def _warn_of_refusals(self):
        """Where others make batches, nothing else says that a worker does not."""
        for link in self.links:
            if link.refusal is not None and self.window.load and link.name not in self.refused:
                self.refused.add(link.name)
                warn("service", f"the worker {link.name} makes no batches: {link.refusal}")

    def _warn(self, what, why=""):
        if not self.warned:
            self.warned = True
            warn("service", f"{what}, so this process makes the batches itself{why}")

    def _trouble(self):
        found = [f"{link.name}: {link.trouble}" for link in self.links]
        if self.addresses is not None and (self.addresses.trouble or not found):
            found.append(self.addresses.trouble or "the function of addresses names none")
        return "; ".join(found)

    def _made_at_home(self, number, ahead):
        home = self.home
        if not home.given or home.given[0] != number:
            home.clear()
            home.give([number])
        home.give([n for n in ahead if n not in home.given][: max(0, home.depth - len(home.given))])
        made = home.run()[1]
        return made if isinstance(made, (Exception, Ended)) else made.outputs

    def place(self) -> int:
        """The number of the next batch."""
        with self.changed:
            return self.window.next

    def seek(self, number: int) -> None:
        """Makes another batch the next one."""
        with self.changed:
            links = list(self.window.load)
            for link in links:
                link.drop(self.window.load[link])
            self.window = Window(number, **self.options)
            for link in links:
                self._send(self.window.joined(link, time.monotonic()))

    def statistics(self) -> dict[str, Any]:
        """What happened so far."""
        with self.changed:
            return {
                "workers": len(self.window.load),
                "waited": self.waits.share(time.monotonic()),
                "waited_seconds": self.waits.seconds,
                "made_twice": self.window.made_twice,
                "asked_again": self.window.asked_again,
                "received_bytes": self.bytes_before + sum(link.bytes for link in self.links),
            }

    def workers_wanted(self) -> int:
        """How many workers would let the trainer wait no more."""
        with self.changed:
            return self.waits.wanted(len(self.window.load), time.monotonic())

    def close(self) -> None:
        """Ends the connections."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
            links = self.links
        if self.addresses is not None:
            self.addresses.close()
        for link in links:
            link.close()
