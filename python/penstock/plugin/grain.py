# SPDX-License-Identifier: Apache-2.0
"""Pipelines as data sets of Grain; docs/how_to/use_with_other_loaders.md shows them at work."""

from __future__ import annotations

import inspect

from ..pipeline.recipe import recipe_of
from ..torch import DataLoader
from ..torch.arrays import FRAMEWORKS

try:
    import grain
except ImportError as error:
    raise ImportError("penstock.plugin.grain needs Grain: pip install grain") from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from ..pipeline import Pipeline

__all__ = ["PipelineDatasetIterator", "PipelineIterDataset"]


class _Batches(DataLoader):
    """Epochs of one pipeline as arrays of NumPy, which Grain sends between processes."""

    _arrays = FRAMEWORKS["numpy"]

    def check_shards(self, expected):
        """Raises ValueError where a reader does not divide its samples: each worker would make all of them."""
        if self._driver.batches_per_epoch() is not None and self._driver.number_of_shards() != expected:
            raise ValueError(
                f"the reader has {self._driver.number_of_shards()} shards instead of {expected}: give it the arguments "
                "shard_id and num_shards of the pipeline's function"
            )


class PipelineIterDataset(grain.IterDataset):
    """Gives the batches of a pipeline as a grain.IterDataset; an element holds NumPy arrays.

    Arrays are over the memory of the pipeline. Every iterator has a pipeline of its own, and begins with the first
    batch of the first epoch; its state is exact. Grain's stages go on it: map, filter, batch, prefetch, mp_prefetch.

    With mp_prefetch each worker makes the pipeline again, as one of num_workers shards, and batches come from the
    workers in turn. The function of the pipeline then takes shard_id and num_shards and gives them to its reader, as it
    does for several processes of JAX. With deal="batch" of the reader the batches and their order are those without
    workers, bit for bit; without it each worker divides its own samples into batches. In each case an epoch has every
    sample once.

    Args:
        pipeline: A Pipeline that has not run yet, of a function with @pipeline_def.
        output_map: Names of the outputs: elements are dicts then. None: elements have the form in which the pipeline
            returns its outputs.
        num_epochs: How many epochs an iterator gives, each with a shuffle and random numbers of its own; None: it does
            not end. Grain's repeat() gives the same epoch again.
        last_batch: "partial" (shorter), "drop", or "fill" (full: it continues with samples of the next epoch).
        labels, pad, ragged: As those of penstock.torch.DataLoader.

    Raises:
        TypeError: It is not a pipeline, or its function does not take shard_id and num_shards where there are workers.
        ValueError: A function with @pipeline_def did not make it, an argument has a value that it cannot have, or the
            reader does not divide its samples among the workers.

    Example:
        >>> from penstock.plugin.grain import PipelineIterDataset
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers(shard_id=0, num_shards=1):
        ...     return fn.readers.indices(size=5, name="reader", shard_id=shard_id, num_shards=num_shards, deal="batch")
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
        return PipelineDatasetIterator(self._loader, self._epochs)

    def set_slice(self, sl: slice, sequential_slice: bool = False) -> None:
        """Makes this the data set of one of several workers; Grain calls it in each of them.

        Args:
            sl: slice(worker, None, workers).
            sequential_slice: Accepted without effect: the reader says how samples are divided.

        Raises:
            ValueError: It is another slice.
        """
        begin, step = sl.start or 0, 1 if sl.step is None else sl.step
        if sl.stop is not None or not 0 <= begin < step:
            raise ValueError(f"a pipeline is divided by slice(worker, None, workers), got {sl}")
        self._worker, self._workers = self._worker + self._workers * begin, self._workers * step

    def _loader(self):
        """The loader of this worker."""
        if self._workers == 1:
            return _Batches(self._recipe.pipeline(), **self._options)
        shard, shards = self._given("shard_id", 0), self._given("num_shards", 1)
        own = {"shard_id": shard + shards * self._worker, "num_shards": shards * self._workers}
        # Shards of one process may differ by a batch; those of several end together, for which some repeat a sample.
        uneven = shards == 1 and self._options["last_batch"] == "partial"
        made = _Batches(self._recipe.pipeline(**own), uneven=uneven, **self._options)
        made.check_shards(own["num_shards"])
        return made

    def _given(self, name, default):
        """What an argument of the pipeline's function is without workers."""
        function = inspect.unwrap(self._recipe.create)
        parameters = inspect.signature(function).parameters
        if name not in parameters:
            if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
                raise TypeError(
                    f"'{function.__name__}' must take shard_id and num_shards and give them to its reader, because there "
                    "are several workers"
                )
            return self._recipe.keywords.get(name, default)
        if list(parameters).index(name) < len(self._recipe.arguments):
            raise TypeError(f"'{function.__name__}' must get {name} by its name, because there are several workers")
        own = parameters[name].default
        return self._recipe.keywords.get(name, default if own is inspect.Parameter.empty else own)


class PipelineDatasetIterator(grain.DatasetIterator):
    """An iterator of a PipelineIterDataset.

    The pipeline is made at the first element or at the first state after one.

    Args:
        make: Makes the loader.
        num_epochs: How many epochs it gives; None: it does not end.
    """

    def __init__(self, make: Any, num_epochs: int | None) -> None:
        super().__init__()
        self._make, self._epochs = make, num_epochs
        self._loader = self._loop = None
        self._begin: dict[str, Any] = {"pipeline": None, "epochs": 0}  # where it goes on, as long as there is no loader
        self._ended = 0  # epochs

    def __next__(self) -> Any:
        if self._make is None:
            raise ValueError("the iterator is closed")
        empty = 0
        while self._epochs is None or self._epochs_ended() < self._epochs:
            loader = self._opened()
            if self._loop is None:
                self._loop = iter(loader)
            try:
                return next(self._loop)
            except StopIteration:
                self._loop, self._ended, empty = None, self._ended + 1, empty + 1
                if empty > 2 and self._epochs is None:
                    raise ValueError("the epochs of this pipeline have no batch: there is no next one") from None
        raise StopIteration

    def _epochs_ended(self):
        return self._begin["epochs"] if self._loader is None else self._ended

    def _opened(self):
        if self._loader is None:
            self._loader = self._make()
            self._go_to(self._begin)
        return self._loader

    def _go_to(self, state):
        self._loop, self._ended = None, state["epochs"]
        if state["pipeline"] is not None:
            self._loader.load_state_dict(state)

    def get_state(self) -> dict[str, Any]:
        """Returns the position after the last element, the same on all processes that have taken as many.

        Returns:
            A dict of numbers and short texts, which JSON takes.
        """
        return dict(self._begin) if self._loader is None else {**self._loader.state_dict(), "epochs": self._ended}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues from a state, bit for bit; the number of shards and the batch size may be others.

        Args:
            state: What get_state() returned.

        Raises:
            ValueError: It is not a state of such an iterator.
        """
        if not isinstance(state, dict) or not {"pipeline", "epochs"} <= state.keys():
            raise ValueError("this is not a state of an iterator of PipelineIterDataset")
        if self._loader is not None and state["pipeline"] is not None:
            return self._go_to(state)
        self._loader, self._begin = None, dict(state)
        if state["pipeline"] is not None:
            self._opened()

    def close(self) -> None:
        """Ends the iterator and gives its pipeline back."""
        super().close()
        self._make = self._loader = self._loop = None
