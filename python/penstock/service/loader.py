# SPDX-License-Identifier: Apache-2.0
"""The trainer's loader: batches of workers in their order, and of the pipeline itself where there is no worker."""

from __future__ import annotations

import weakref

from .._pipeline.recipe import recipe_of
from .cut import cut_of, head_of
from .deliveries import Deliveries
from .agreement import job_of
from .keys import key_of
from .maker import Ended
from .patience import Patience
from .positions import number_of_state
from .worker_link import address_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike
    from ssl import SSLContext
    from typing import Any, Literal

    from .._pipeline import Pipeline
    from .._pipeline.driver import Driver
    from .cut import Cut


class Loader:
    """Hands out the batches of a pipeline that workers make. loader() makes it.

    Args:
        driver: Runs the pipeline.
        deliveries: What gives the batches.
        rank, ranks: Which batches of a round this trainer gets.
        cut: What of the graph runs here.
    """

    def __init__(self, driver: Driver, deliveries: Deliveries, rank: int, ranks: int, cut: Cut | None = None) -> None:
        self._driver, self._deliveries, self._rank, self._ranks = driver, deliveries, rank, ranks
        self._cut = cut
        self._per_epoch = driver.batches_per_epoch()
        weakref.finalize(self, deliveries.close)  # its threads do not know of this object

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
        content = self._deliveries.next()
        if isinstance(content, Ended):
            raise StopIteration
        if isinstance(content, Exception):
            raise content
        return self._driver.formed(content if self._cut is None else self._cut.rest(content))

    def __len__(self) -> int:
        """Batches of an epoch of the reader for this rank: a last round that not all ranks would get full counts."""
        if self._per_epoch is None:
            raise TypeError("without a reader an epoch has no length")
        return -(-self._per_epoch // self._ranks)

    def __iter__(self) -> Iterator[Any]:
        """Gives the batches of an epoch, or the rest of the one in which a state was saved; without a reader, until the
        data end."""
        left = None
        if self._per_epoch is not None:
            left = -(-(self._per_epoch - self._round() % self._per_epoch) // self._ranks)
        while left is None or left > 0:
            try:
                batch = self.run()
            except StopIteration:
                return
            if left is not None:
                left -= 1
            yield batch

    def _round(self):
        """The number of the first batch of the round that comes next."""
        return max(self._deliveries.place() - self._rank, 0)

    def state(self) -> dict[str, Any]:
        """Returns the position after the last batch that was handed out: the state of the pipeline after it.

        It does not know of the service: Pipeline.load_state() goes on without workers, and loader(state=) goes on with
        any number of workers and ranks. With ranks it is the position after the round; all ranks have the same one.

        Returns:
            What Pipeline.state() returns.
        """
        self._deliveries.home.clear()
        return self._driver.pipeline.seek(batch=self._round()).state()

    def state_dict(self) -> dict[str, Any]:
        """Returns state(), under the name that torch's loaders have for it."""
        return self.state()

    def seek(self, batch: int) -> None:
        """Makes round number `batch` the next one: without ranks, the batch with this number.

        Args:
            batch: A number from 0.

        Raises:
            ValueError: It is negative.
        """
        if batch < 0:
            raise ValueError(f"batch must not be negative, got {batch}")
        self._deliveries.seek(batch * self._ranks + self._rank)

    def statistics(self) -> dict[str, Any]:
        """Returns what happened so far.

        Returns:
            workers: how many are there. waited: the share of the time, of late, in which the trainer waited for a
            batch, from 0 to 1: where it stays above some percent, more workers help. waited_seconds: altogether.
            made_twice: batches that arrived a second time. asked_again: batches that were late. received_bytes.
            at_trainer: the operators that run here (cut="auto").
        """
        return {**self._deliveries.statistics(), "at_trainer": [] if self._cut is None else self._cut.at_trainer}

    def workers_wanted(self) -> int:
        """Returns how many workers would let the trainer wait no more, judged by how long it waited of late."""
        return self._deliveries.workers_wanted()

    def close(self) -> None:
        """Ends the connections; batches that were handed out stay."""
        self._deliveries.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def loader(
    addresses: Iterable[str] | Callable[[], Iterable[str]],
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
    cut: Literal["auto"] | None = None,
) -> Loader:
    """Makes a loader whose batches are made by workers, which `penstock serve` starts.

    The batches, their bytes and their order are those of the pipeline without a service, whatever workers do: they may
    come, go, be killed and be slow. docs/how_to/make_batches_on_other_machines.md explains it.

    Args:
        addresses: "host:port" of each worker. None of them has to be there yet. An empty list: this process makes all
            batches. Or a function that returns such a list: a thread calls it each second, so that workers may come at
            addresses that nobody knew before.
        pipeline: The pipeline that the workers serve, with the same arguments; paths, threads and the folder of the
            data may differ. The loader uses it, and nothing else may run it.
        rank, ranks: This trainer gets the batches rank, rank + ranks, ... Without them each trainer gets all batches.
        epochs: How the reader cuts its epochs, as Pipeline.driver() takes it.
        state: Where to begin: what state() of a loader or of a pipeline returned.
        window: Batches that are ready or on their way at most.
        at_once: Batches that are requested of a worker ahead.
        shared: Several trainers get the same batches: all ask one worker first for a batch, and `penstock serve --keep`
            says how many it keeps.
        without_workers: "make": this process makes batches while no worker is there, with a warning. "wait": it waits.
            "error": it raises ServiceError.
        key: What the workers got by --key: bytes, or a file that holds it.
        tls: A context of ssl; the workers need --certificate then.
        max_batch_bytes: A batch of more is refused before memory is taken.
        patience: Seconds, at least and at most, after which a batch that is late is requested of another worker too.
        cut: "auto": operators at the end of the graph that make a batch larger and draw no random numbers, such as a
            conversion to float32, run in this process, and workers send what these take. The first batch, which is made
            here, says which. None: workers run all operators.

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
        ("cut", cut, ("auto", None)),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(str, known))}; got {value!r}")
    where = addresses if callable(addresses) else [address_of(address) for address in addresses]
    secret = key_of(key)
    recipe = None if cut is None else recipe_of(pipeline, "loader(cut=...)")
    divided = None if recipe is None else cut_of(recipe)
    driver, first = pipeline.driver(epochs=epochs), 0
    made = driver if divided is None else head_of(recipe, divided.values).driver(epochs=epochs)
    if state is not None:
        made.pipeline.load_state(state)
        pipeline.load_state(state)
        first = number_of_state(pipeline, state)
    job = job_of(made.pipeline, epochs)
    if divided is not None:
        job["cut"] = [list(value) for value in divided.values]
    options = {"size": window, "at_once": at_once, "patience": Patience(*patience), "shared": shared, "step": ranks}
    deliveries = Deliveries(made, job, first + rank, options, without_workers)
    deliveries.start(where, key=secret, tls=tls, most=max_batch_bytes)
    return Loader(driver, deliveries, rank, ranks, divided)
