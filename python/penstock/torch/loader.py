# SPDX-License-Identifier: Apache-2.0
"""A loader for PyTorch's training loops."""

from __future__ import annotations

from .._base.other_names import OF_LOADERS, answer_of_loader
from .._pipeline import Pipeline
from .arrays import TORCH
from .epochs import CutEpochs, EpochsOfSource, FilledEpochs
from .forms import Forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from typing import Any, Literal

    from .._pipeline.statistics import Statistics


def _check_pipeline(pipeline):
    if isinstance(pipeline, Pipeline):
        return
    if callable(pipeline) and hasattr(pipeline, "__name__"):
        name = pipeline.__name__
        if (pipeline.__module__ or "").startswith("penstock.loaders"):
            raise TypeError(f"DataLoader takes a Pipeline; penstock.{name}(...) gives a loader by itself")
        if getattr(pipeline, "_is_pipeline_def", False):
            raise TypeError(f"DataLoader takes a Pipeline, and '{name}' makes one: call it, DataLoader({name}(...))")
        raise TypeError(
            f"DataLoader takes a Pipeline, got the function '{name}': decorate it with @penstock.pipeline_def(batch_size=...) "
            f"and call it, DataLoader({name}(...))"
        )
    hint = f"; {OF_LOADERS['dataset']}" if hasattr(pipeline, "__getitem__") else ""
    raise TypeError(f"DataLoader takes a Pipeline, got {type(pipeline).__name__}{hint}")


class DataLoader:
    """Gives epochs of a pipeline as torch tensors that share the memory of the pipeline.

    Epochs are those of the reader of the pipeline; without a reader they end where the external source ends. Each
    `for` is a whole epoch, also where the loop before ended early. After an error next() continues after that batch.
    All shards of a reader give as many batches, whatever their sizes. A tensor keeps the memory of its batch until it
    dies; the pipeline makes new memory for the next one. A batch of samples that differ in shape is a list of
    tensors, unless `pad` or `ragged` say otherwise.

    Args:
        pipeline: A Pipeline that has not run yet.
        output_map: Names of the outputs; then a batch is a dict, else a tuple.
        last_batch: "partial" (shorter), "drop", or "fill" (full: it continues with samples of the next epoch). With
            "partial" a shard that would have one batch fewer repeats a sample.
        uneven: Each sample comes exactly once, and shards may differ by a batch.
        labels: True: an output that holds one integer in each sample, of shape () or (1,), becomes int64 (N,), as
            the losses of torch take it; the first batch decides. False: outputs stay as they are. Names: only of
            these.
        pad: A number: one tensor, filled up with it after each sample to the largest extents of the batch. For all
            outputs, or a dict by name (by number, without output_map).
        ragged: "list": a list, also where shapes are equal; "pad" or a number: as pad, and "<name>_lengths" has the
            extents of the samples, int64; "packed": one tensor of all samples, one after another along their first
            dimension, and beside it what attention of variable length takes: "<name>_offsets", int32 (samples + 1),
            where each sample begins and the last one ends (cu_seqlens), "<name>_positions", int32, the place in its
            sample of each entry, and "<name>_longest", an int (max_seqlen). For all outputs, or a dict. Outputs that
            pad or ragged name are not taken for labels.
        **others: None: an argument of torch's DataLoader is an error that says what does its work here.

    Raises:
        TypeError: It is not a Pipeline, or there is no such argument.
        ValueError: An argument has a value that it cannot have.

    Example:
        >>> from penstock.torch import DataLoader
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers():
        ...     return fn.readers.indices(size=3, name="reader")
        >>> for batch in DataLoader(numbers(), ["index"]):
        ...     print(batch["index"].tolist())
        [0, 1]
        [2]
    """

    _arrays = TORCH

    def __init__(
        self,
        pipeline: Pipeline[Any],
        output_map: Sequence[str] | None = None,
        *,
        last_batch: Literal["partial", "drop", "fill"] = "partial",
        uneven: bool = False,
        labels: Any = True,
        pad: Any = None,
        ragged: Any = None,
        **others: Any,
    ) -> None:
        for name in others:
            raise TypeError(f"DataLoader has no argument '{name}'{answer_of_loader(name)}")
        _check_pipeline(pipeline)
        if isinstance(output_map, (int, str)):
            what = f": {OF_LOADERS['batch_size']}" if isinstance(output_map, int) else f", such as [{output_map!r}]"
            raise TypeError(f"output_map is a list of the outputs' names, got {output_map!r}{what}")
        modes = {"partial": "partial" if uneven else "even", "drop": "drop", "fill": "stream"}
        if last_batch not in modes:
            raise ValueError(f"last_batch must be 'partial', 'drop' or 'fill', got {last_batch!r}")
        if uneven and last_batch != "partial":
            raise ValueError("uneven=True is for last_batch='partial': the other ones give all shards as many batches")
        self.pipeline, self.last_batch = pipeline, last_batch
        self.output_map = None if output_map is None else list(output_map)
        self._driver = pipeline.driver(epochs=modes[last_batch], restart_sources=True)
        if self.output_map is not None and len(self.output_map) != pipeline.num_outputs:
            raise ValueError(
                f"output_map names {len(self.output_map)} outputs, the pipeline has {pipeline.num_outputs}"
            )
        if self.output_map is not None and len(set(self.output_map)) != len(self.output_map):
            raise ValueError(f"output_map names an output twice: {self.output_map}")
        names = self.output_map if self.output_map is not None else list(range(pipeline.num_outputs))
        self._forms = Forms(names, self.output_map is not None, labels, pad, ragged, self._arrays)
        self._epochs = None  # an Epochs, from the first use on
        self._loop = 0  # the number of the newest loop

    @property
    def batch_size(self) -> int:
        """Samples of a full batch."""
        return self.pipeline.max_batch_size

    def __len__(self) -> int:
        """Returns the number of batches of a whole epoch, the same for all shards (uneven=True: of the largest
        one)."""
        n = self._driver.batches_per_epoch()
        if n is None:
            raise TypeError("the length is not known: the pipeline has no reader")
        return n

    def __iter__(self) -> Iterator[Any]:
        self._loop += 1
        self._position().begin()
        return _Loop(self, self._loop)

    def _position(self):
        if self._epochs is None:
            without = self._driver.batches_per_epoch() is None
            self._epochs = (EpochsOfSource if without else FilledEpochs if self.last_batch == "fill" else CutEpochs)(
                self._driver
            )
        return self._epochs

    def _tensors(self, outputs):
        made = self._forms.of(outputs)
        return self._driver.formed(tuple(made.values())) if self.output_map is None else made

    def state_dict(self) -> dict[str, Any]:
        """Returns the position after the last batch that was handed out.

        Returns:
            A dict of a few integers and short texts, which JSON and torch.save take.
        """
        return self._driver.state(self._position().left_over_all())

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resumes from a state: the next loop gives the rest of its epoch.

        The batch size and the number of shards may differ from those of the state.

        Args:
            state: What state_dict() returned.

        Raises:
            ValueError: It is not a state of this version.
        """
        left = self._driver.load_state(state)
        self._epochs = None
        self._position().resume(left)

    def show_batch(self, output: Any = None, **marks: Any) -> Any:
        """Makes a picture of the next batch.

        The position of the loader stays: the next loop gives this batch, too.

        Args:
            output: The name or the number of the output that is shown; omitted: the first one.
            **marks: Arguments of penstock.pictures.show(). labels, boxes, box_labels, masks and points may be names
                of outputs.

        Returns:
            A picture of Pillow.

        Raises:
            ValueError: The epoch has no batch left.

        Example:
            >>> from penstock.torch import DataLoader
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def gray():
            ...     return fn.random.uniform(range=[0.0, 1.0], shape=[8, 12])
            >>> DataLoader(gray(), ["images"]).show_batch(size=24).size
            (60, 24)
        """
        from ..pictures import show

        state = self.state_dict()
        batch = next(iter(self), None)
        self.load_state_dict(state)
        if batch is None:
            raise ValueError("show_batch(): the epoch has no batch left")
        parts = batch if isinstance(batch, dict) else dict(enumerate(batch))
        named = ("labels", "boxes", "box_labels", "masks", "points", "before")
        for name in named:
            if isinstance(marks.get(name), (int, str)):
                marks[name] = _part(parts, marks[name])
        return show(_part(parts, next(iter(parts)) if output is None else output), **marks)

    def stats(self) -> Statistics:
        """Returns where the time went, as Pipeline.stats() does.

        `real_shares` has for each output that `pad` or `ragged` fills up: the share of the elements of its batches
        that are of samples, the rest is padding.
        """
        stats = self.pipeline.stats()
        stats["real_shares"] = self._forms.real_shares()
        return stats

    def report(self, path: str | PathLike[str], title: str | None = None) -> Statistics:
        """Writes a page that shows where the time went, as Pipeline.report() does.

        Args:
            path: The file to write, such as "report.html".
            title: The head of the page; None: the name of the script.

        Returns:
            The Statistics of the page.

        Raises:
            OSError: The file cannot be written.
        """
        stats = self.pipeline.report(path, title)
        stats["real_shares"] = self._forms.real_shares()
        return stats


def _part(parts, name):
    """An output, as a list of its samples."""
    if name not in parts:
        raise ValueError(f"show_batch(): there is no output {name!r}; there are {', '.join(map(repr, parts))}")
    return list(parts[name])


class _Loop:
    """What `for` asks for batches. An error of a batch ends neither the loop nor the epoch: next() continues."""

    def __init__(self, loader, number):
        self._loader, self._number, self._ended = loader, number, False

    def __iter__(self):
        return self

    def __next__(self):
        loader = self._loader
        if self._ended:
            raise StopIteration
        if loader._loop != self._number:
            raise RuntimeError(
                "a newer loop over this DataLoader has begun, and a pipeline has one position: make a loader for each"
            )
        try:
            outputs = loader._position().next()
        except StopIteration:
            self._ended = True
            raise
        return loader._tensors(outputs)
