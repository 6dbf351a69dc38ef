# SPDX-License-Identifier: Apache-2.0
"""The trainer's loader: batches of workers in their order, and of the pipeline itself where there is no worker."""

from __future__ import annotations

import threading
import time
import warnings

from .errors import ServiceError, raised
from .job import job_of
from .keys import key_of
from .maker import Ended, Maker
from .memory import ReceivedMemory
from .patience import Patience
from .positions import number_of_state
from .waits import Waits
from .window import Window
from .worker_link import WorkerLink, address_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike
    from ssl import SSLContext
    from typing import Any, Literal

    from ..pipeline import Pipeline
    from ..pipeline.driver import Step


class Loader:
    """Hands out the batches of a pipeline that workers make. loader() makes it and has the arguments."""

    def __init__(
        self, addresses, pipeline, rank, ranks, epochs, state, window, at_once, shared, without_workers, link, patience
    ):
        self.pipeline, self.rank, self.ranks = pipeline, rank, ranks
        self._driver = pipeline.driver(epochs=epochs)
        first = 0
        if state is not None:
            pipeline.load_state(state)
            first = number_of_state(pipeline, state)
        self.job = job_of(pipeline, epochs)
        self._home, self._waits, self._without = Maker(self._driver), Waits(), without_workers
        self._options = {"size": window, "at_once": at_once, "patience": patience, "shared": shared}
        self._window = Window(first + rank, ranks, **self._options)
        self._changed, self._closed, self._warned = threading.Condition(), False, False
        self.memory = ReceivedMemory(window + 2)
        self._per_epoch = self._driver.batches_per_epoch()
        self._links = [WorkerLink(self, address, **link) for address in dict.fromkeys(addresses)]
        for each in self._links:
            each.start()

    # --- what links say ---------------------------------------------------------------------------------------------

    def joined(self, link: WorkerLink) -> None:
        with self._changed:
            self._send(self._window.joined(link, time.monotonic()))
            self._changed.notify_all()

    def left(self, link: WorkerLink) -> None:
        with self._changed:
            self._send(self._window.left(link, time.monotonic()))
            self._changed.notify_all()

    def wants(self, number: int) -> bool:
        with self._changed:
            return self._window.wants(number)

    def received(self, link: WorkerLink | None, number: int, content: Any) -> None:
        with self._changed:
            self._send(self._window.received(link, number, content, time.monotonic()))
            self._changed.notify_all()

    def _send(self, messages):
        for link, message in messages:
            link.send(message)

    # --- batches ----------------------------------------------------------------------------------------------------

    def run(self) -> Any:
        """Returns the next batch, as Pipeline.run() of the pipeline does.

        Returns:
            A tuple of Batches, or the dictionaries, lists and tuples that the outputs were given in.

        Raises:
            StopIteration: The data have ended.
            DataError: A file or record cannot be read or decoded; the next call goes on with the batch after it. Other
                errors of the pipeline come as they do without a service.
            ServiceError: All workers refuse this trainer, or there is none and without_workers="error".
        """
        begin = time.monotonic()
        content = self._next()
        self._waits.add(begin, time.monotonic())
        if isinstance(content, Ended):
            raise StopIteration
        if isinstance(content, Exception):
            raise content
        return self._driver.formed(content)

    def _next(self):
        while True:
            with self._changed:
                if self._closed:
                    raise ServiceError("this loader is closed")
                for link in self._links:
                    link.give_back()
                now = time.monotonic()
                self._send(self._window.tick(now))
                there, content, messages = self._window.take(now)
                self._send(messages)
                if there:
                    return self._kept_at_end(content)
                if not self._at_home():
                    due = self._window.due(now)
                    self._changed.wait(0.25 if due is None else min(max(due, 0.001), 0.25))
                    continue
                number = self._window.next
                ahead = [n for n in self._window.numbers() if n != number and self._window.wants(n)]
            self.received(None, number, self._made_at_home(number, ahead))

    def _kept_at_end(self, content):
        """The end of the data stays the end."""
        if isinstance(content, Ended):
            self._window.next -= self.ranks
            self._window.ready[self._window.next] = content
        return content

    def _at_home(self):
        """Whether this process makes the next batch itself: no worker is there."""
        if self._window.load:
            return False
        if not self._links:
            return True
        if any(link.trying for link in self._links):
            return False  # the first attempts are under way
        refusals = [link.refusal for link in self._links if link.refusal is not None]
        if len(refusals) == len(self._links):
            raise ServiceError("\n".join(map(str, refusals)))
        if self._without == "error":
            raise ServiceError("no worker can be reached: " + "; ".join(f"{k.name}: {k.trouble}" for k in self._links))
        if self._without == "make" and not self._warned:
            self._warned = True
            text = "; ".join(f"{link.name}: {link.trouble}" for link in self._links)
            warnings.warn(f"no worker is there, so this process makes the batches itself ({text})", stacklevel=4)
        return self._without == "make"

    def _made_at_home(self, number, ahead):
        home = self._home
        if not home.given or home.given[0] != number:
            home.clear()
            home.give([number])
        home.give([n for n in ahead if n not in home.given][: max(0, home.depth - len(home.given))])
        made = home.run()[1]
        return made if isinstance(made, (Exception, Ended)) else made.outputs

    def __len__(self) -> int:
        """Batches of an epoch of the reader for this rank: a last round that not all ranks would get full counts."""
        if self._per_epoch is None:
            raise TypeError("without a reader an epoch has no length")
        return -(-self._per_epoch // self.ranks)

    def __iter__(self) -> Iterator[Any]:
        """Gives the batches of an epoch, or the rest of the one in which a state was saved; without a reader, until the
        data end."""
        left = None
        if self._per_epoch is not None:
            left = -(-(self._per_epoch - (self._window.next - self.rank) % self._per_epoch) // self.ranks)
        while left is None or left > 0:
            try:
                batch = self.run()
            except StopIteration:
                return
            if left is not None:
                left -= 1
            yield batch

    # --- positions --------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Returns the position after the last batch that was handed out: the state of the pipeline after it.

        It does not know of the service: Pipeline.load_state() goes on without workers, and loader(state=) goes on with
        any number of workers and ranks. With ranks it is the position after the round; all ranks have the same one.

        Returns:
            What Pipeline.state() returns.
        """
        with self._changed:
            self._home.clear()
            return self.pipeline.seek(batch=max(self._window.next - self.rank, 0)).state()

    state_dict = state

    def seek(self, batch: int) -> None:
        """Makes round number `batch` the next one: without ranks, the batch with this number.

        Args:
            batch: A number from 0.
        """
        with self._changed:
            links = list(self._window.load)
            for link in links:
                link.drop(self._window.load[link])
            self._window = Window(batch * self.ranks + self.rank, self.ranks, **self._options)
            for link in links:
                self._send(self._window.joined(link, time.monotonic()))

    # --- what happened ----------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, Any]:
        """Returns what happened so far.

        Returns:
            workers: how many are there. waited: the share of the time, of late, in which the trainer waited for a
            batch, from 0 to 1: where it stays above some percent, more workers help. waited_seconds: altogether.
            made_twice: batches that arrived a second time. asked_again: batches that were late. received_bytes.
        """
        with self._changed:
            return {
                "workers": len(self._window.load),
                "waited": self._waits.share(),
                "waited_seconds": self._waits.seconds,
                "made_twice": self._window.made_twice,
                "asked_again": self._window.asked_again,
                "received_bytes": sum(link.bytes for link in self._links),
            }

    def workers_wanted(self) -> int:
        """Returns how many workers would let the trainer wait no more, judged by how long it waited of late."""
        with self._changed:
            return self._waits.wanted(len(self._window.load))

    def close(self) -> None:
        """Ends the connections. Batches that were handed out stay."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for link in self._links:
            link.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def loader(
    addresses: Iterable[str],
    pipeline: Pipeline[Any],
    *,
    rank: int = 0,
    ranks: int = 1,
    epochs: Literal["stream", "partial", "drop"] = "stream",
    state: dict[str, Any] | None = None,
    window: int = 8,
    at_once: int = 2,
    shared: bool = False,
    without_workers: Literal["make", "wait", "error"] = "make",
    key: bytes | str | PathLike[str] | None = None,
    tls: SSLContext | None = None,
    max_batch_bytes: int = 4 << 30,
    patience: tuple[float, float] = (0.5, 10.0),
) -> Loader:
    """Makes a loader whose batches are made by workers, which `penstock serve` starts.

    The batches, their bytes and their order are those of the pipeline without a service, whatever workers do: they may
    come, go, be killed and be slow. docs/how_to/make_batches_on_other_machines.md explains it.

    Args:
        addresses: "host:port" of each worker. None of them has to be there yet. An empty list: this process makes all
            batches.
        pipeline: The pipeline that the workers serve, with the same arguments; paths, threads and the folder of the data may differ.
            The loader uses it, and nothing else may run it.
        rank, ranks: This trainer gets the batches rank, rank + ranks, ... Without them each trainer gets all batches.
        epochs: How the reader cuts its epochs, as Pipeline.driver() takes it.
        state: Where to begin: what state() of a loader or of a pipeline returned.
        window: Batches that are ready or on their way at most.
        at_once: Batches that a worker is asked for ahead.
        shared: Several trainers get the same batches: all ask one worker first for a batch, and `penstock serve --keep`
            says how many it keeps.
        without_workers: "make": this process makes batches while no worker is there, with a warning. "wait": it waits.
            "error": it raises ServiceError.
        key: What the workers got by --key: bytes, or a file that holds it.
        tls: A context of ssl; the workers need --certificate then.
        max_batch_bytes: A batch of more is refused before memory is taken.
        patience: Seconds, at least and at most, after which a batch that is late is asked for at another worker too.

    Returns:
        The loader.

    Raises:
        ValueError: The batches of the pipeline have no numbers, see Pipeline.seek(); an argument has a value that it
            cannot have; the state is of other data or in the middle of a batch.

    Example:
        >>> from penstock import service
        >>> @pipeline_def(batch_size=2, num_threads=1, seed=3)
        ... def numbers():
        ...     return fn.readers.indices(size=6, name="reader")
        >>> with service.loader([], numbers()) as batches:
        ...     [batch.as_array().tolist() for batch, in batches]
        [[0, 1], [2, 3], [4, 5]]
    """
    if isinstance(addresses, str):
        raise TypeError(f'addresses must be a list, such as ["{addresses}"]')
    if not 0 <= rank < ranks:
        raise ValueError(f"rank must be from 0 to ranks - 1, got rank={rank} and ranks={ranks}")
    for name, value in (("window", window), ("at_once", at_once), ("max_batch_bytes", max_batch_bytes)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    for name, value, known in (
        ("epochs", epochs, ("stream", "partial", "drop")),
        ("without_workers", without_workers, ("make", "wait", "error")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    link = {"key": key_of(key), "tls": tls, "most": max_batch_bytes}
    where = [address_of(address) for address in addresses]
    return Loader(
        where, pipeline, rank, ranks, epochs, state, window, at_once, shared, without_workers, link, Patience(*patience)
    )
