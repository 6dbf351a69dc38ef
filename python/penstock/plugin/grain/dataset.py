# SPDX-License-Identifier: Apache-2.0
"""PipelineIterDataset."""

from __future__ import annotations

import itertools

from ..._pipeline.recipe import recipe_of
from ...torch import DataLoader
from ...torch.arrays import FRAMEWORKS

try:
    import grain
except ImportError as error:
    raise ImportError("penstock.plugin.grain needs Grain: pip install grain") from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from ..._pipeline import Pipeline

_AHEAD = 32  # numbers of batches that a worker gives its pipeline at once


class _InOrder(DataLoader):
    """All batches, one epoch after another, as arrays of NumPy."""

    _arrays = FRAMEWORKS["numpy"]

    def begin(self, epochs):
        self._limit, self._done, self._rest = epochs, 0, None
        self._counted = False  # the epoch of `_rest`: it had ended where it was saved

    def next(self):
        empty = 0
        while self._limit is None or self._done < self._limit:
            if self._rest is None:
                self._rest = iter(self)
            try:
                batch = next(self._rest)
            except StopIteration:
                self._rest, self._done, empty = None, self._done + (not self._counted), empty + 1
                self._counted = False
                if empty > 2 and self._limit is None:
                    raise ValueError("the epochs of this pipeline have no batch: there is no next one") from None
            else:
                self._counted = False
                return batch
        raise StopIteration

    def get_state(self):
        ended = self._counted or (self._rest is not None and self._position().complete())
        return {**self.state_dict(), "epochs": self._done + (ended and not self._counted), "ended": ended}

    def set_state(self, state):
        self._rest, self._done, self._counted = None, state["epochs"], state.get("ended", False)
        self.load_state_dict(state)


class _EveryNth(DataLoader):
    """The batches of one of several workers, by their numbers: nothing of the others is read or decoded."""

    _arrays = FRAMEWORKS["numpy"]

    def begin(self, epochs, worker, workers):
        if (count := self._driver.batches_per_epoch()) is None:
            raise ValueError("mp_prefetch needs a pipeline with a reader, whose batches have numbers: there is none")
        self._total, self._worker, self._workers = None if epochs is None else epochs * count, worker, workers
        self._go_to(worker)

    def _go_to(self, number):
        end = 2**62 if self._total is None else self._total
        self._left = iter(range(number, end, self._workers))  # not scheduled yet
        self._number, self._scheduled = number, 0
        self.pipeline.seek(batch=number)

    def next(self):
        if self._scheduled < _AHEAD // 2:
            more = list(itertools.islice(self._left, _AHEAD))
            if more:
                self.pipeline.schedule(more)
            self._scheduled += len(more)
        if not self._scheduled:
            raise StopIteration
        self._scheduled, self._number = self._scheduled - 1, self._number + self._workers
        return self._tensors(self._driver.run().outputs)

    def get_state(self):
        return {**self._driver.state(), "epochs": 0, "batch": [self._number, self._workers]}

    def set_state(self, state):
        number, workers = state.get("batch", (None, None))
        if workers != self._workers or number % workers != self._worker:
            raise ValueError(
                f"the state is not that of worker {self._worker} of {self._workers}: num_workers was another one"
            )
        self._driver.load_state(state)
        self._go_to(number)


class PipelineIterDataset(grain.IterDataset):
    """Gives the batches of a pipeline as a grain.IterDataset; an element holds NumPy arrays.

    Arrays are over the memory of the pipeline. Every iterator has a pipeline of its own, and begins with the first
    batch of the first epoch; its state is exact. Grain's stages go on it: map, filter, batch, prefetch, mp_prefetch.

    With mp_prefetch each worker makes the pipeline again and its every num_workers-th batch. The batches and their order
    are those without workers, bit for bit. The pipeline must have a reader and batches with numbers, as Pipeline.seek()
    needs them. Several processes of JAX take shards of the reader, as without workers.

    Args:
        pipeline: A Pipeline that has not run yet, of a function with @pipeline_def.
        output_map: Names of the outputs: elements are dicts then. None: they are tuples, or have the form in which
            the pipeline's function returns its outputs.
        num_epochs: How many epochs an iterator gives, each with a shuffle and random numbers of its own; None: it does
            not end. Grain's repeat() gives the same epochs again.
        last_batch: "partial" (shorter), "drop", or "fill" (full: it continues with samples of the next epoch).
        labels, pad, ragged: As those of penstock.torch.DataLoader.

    Raises:
        TypeError: It is not a pipeline.
        ValueError: A function with @pipeline_def did not make it, an argument has a value that it cannot have, or there
            are workers and the batches have no numbers.

    Example:
        >>> from penstock.plugin.grain import PipelineIterDataset
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers():
        ...     return fn.readers.indices(size=5, name="reader")
        >>> dataset = PipelineIterDataset(numbers(), ["index"]).filter(lambda batch: batch["index"].sum() != 5)
        >>> [batch["index"].tolist() for batch in dataset]
        [[0, 1], [4]]
    """

    def __init__(
        self,
        pipeline: Pipeline[Any],
        output_map: Sequence[str] | None = None,
        *,
        num_epochs: int | None = 1,
        last_batch: Literal["partial", "drop", "fill"] = "partial",
        labels: Any = True,
        pad: Any = None,
        ragged: Any = None,
    ) -> None:
        super().__init__()
        if num_epochs is not None and (not hasattr(num_epochs, "__index__") or num_epochs < 1):
            raise ValueError(f"num_epochs must be a number of at least 1, or None, got {num_epochs!r}")
        if last_batch not in ("partial", "drop", "fill"):
            raise ValueError(f"last_batch must be 'partial', 'drop' or 'fill', got {last_batch!r}")
        self._recipe, self._epochs = recipe_of(pipeline, "PipelineIterDataset"), num_epochs
        self._options = dict(output_map=output_map, last_batch=last_batch, labels=labels, pad=pad, ragged=ragged)
        self._worker, self._workers = 0, 1

    def __iter__(self) -> PipelineDatasetIterator:
        return PipelineDatasetIterator(self._source)

    def set_slice(self, sl: slice, sequential_slice: bool = False) -> None:
        """Makes this the data set of one of several workers; Grain calls it in each of them.

        Args:
            sl: slice(worker, None, workers).
            sequential_slice: Accepted without effect: the order is that without workers.

        Raises:
            ValueError: It is another slice.
        """
        begin, step = sl.start or 0, 1 if sl.step is None else sl.step
        if sl.stop is not None or not 0 <= begin < step:
            raise ValueError(f"a pipeline is divided by slice(worker, None, workers), got {sl}")
        self._worker, self._workers = self._worker + self._workers * begin, self._workers * step

    def _source(self):
        """The batches of this worker."""
        if self._workers == 1:
            made = _InOrder(self._recipe.pipeline(), **self._options)
            made.begin(self._epochs)
        else:
            made = _EveryNth(self._recipe.pipeline(), **self._options)
            made.begin(self._epochs, self._worker, self._workers)
        return made


class PipelineDatasetIterator(grain.DatasetIterator):
    """An iterator of a PipelineIterDataset.

    The pipeline is made at the first element, or by set_state() with a state after one.

    Args:
        make: Makes the batches.
    """

    def __init__(self, make: Any) -> None:
        super().__init__()
        self._make, self._source = make, None

    def __next__(self) -> Any:
        return self._opened().next()

    def _opened(self):
        if self._make is None:
            raise ValueError("the iterator is closed")
        if self._source is None:
            self._source = self._make()
        return self._source

    def get_state(self) -> dict[str, Any]:
        """Returns the position after the last element.

        Without workers it is the same on all processes that have taken as many.

        Returns:
            A dict of numbers and short texts, which JSON takes.
        """
        return {"pipeline": None, "epochs": 0} if self._source is None else self._source.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues from a state, bit for bit.

        Without workers the number of shards and the batch size may be others.

        Args:
            state: What get_state() returned.

        Raises:
            ValueError: It is not a state of such an iterator.
        """
        if not isinstance(state, dict) or not {"pipeline", "epochs"} <= state.keys():
            raise ValueError("this is not a state of an iterator of PipelineIterDataset")
        if state["pipeline"] is None:
            self._source = None
        else:
            self._opened().set_state(state)

    def close(self) -> None:
        """Ends the iterator and gives its pipeline back."""
        super().close()
        self._make = self._source = None
