# SPDX-License-Identifier: Apache-2.0
"""Stage: a pipeline as a step of Ray Data."""

from __future__ import annotations

import functools
import hashlib
import os

import numpy as np

from ... import Function
from ..._pipeline.saved import random_operators
from .columns import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import Any, Literal

    from ..._pipeline import Pipeline

_load = functools.lru_cache(16)(Function.load)  # one Function in a process, whatever number of tasks it runs


class Stage:
    """A pipeline as a function of rows, for ray.data.Dataset.map_batches.

    The external sources of the pipeline are columns, by their names; its outputs are new columns. The graph is compiled
    once in each process and runs on the thread of the task or actor. Bytes are those of the pipeline. Columns that are
    not inputs stay as they are.

    Args:
        pipeline: A pipeline whose data come through external sources, the function with @pipeline_def that makes it
            without arguments, or what Pipeline.save() wrote: the path or the text.
        output_map: Names of the output columns. None: those of the dict that the pipeline returns.
        number: The column that says which random numbers a row draws: an integer k, for those of sample k of the
            pipeline, or a text such as its path, of which a number is made. It decides alone: blocks, their order and
            the number of actors do not matter. Pipelines with random operators need it.
        epoch: Other random numbers for each.
        keep: Input columns that stay.
        on_error: "raise": a sample that cannot be read or decoded is an error. "skip": its row is left out.

    Raises:
        TypeError: It is not a pipeline.
        ValueError: The pipeline reads files or calls functions of the program; outputs have no names; it has random
            operators and there is no `number`.

    Example:
        stage = Stage(augment, number="path")
        images = ray.data.read_images("photos", include_paths=True)
        images.map_batches(stage, batch_format="pyarrow", batch_size=64)
    """

    def __init__(
        self,
        pipeline: Pipeline[Any] | Callable[[], Pipeline[Any]] | str | PathLike[str],
        output_map: Sequence[str] | None = None,
        *,
        number: str | None = None,
        epoch: int = 0,
        keep: Sequence[str] = (),
        on_error: Literal["raise", "skip"] = "raise",
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
        self._saved, names = _saved(pipeline)
        function = _load(self._saved)
        self._names = _checked(names if output_map is None else list(output_map), len(function.outputs))
        self._number, self._epoch, self._keep, self._skips = number, epoch, frozenset(keep), on_error == "skip"
        if number is None and (drawn := random_operators(self._saved)):
            raise ValueError(
                f"the pipeline draws random numbers ({', '.join(drawn)}): number= names the column by which a row draws "
                "them, such as that of its path"
            )

    def __call__(self, rows: Any) -> Any:
        """Computes the output columns of rows.

        Args:
            rows: A table of pyarrow, or a dict of arrays.

        Returns:
            Rows of the same form.

        Raises:
            DataError: A sample cannot be read or decoded.
            TypeError: A column holds what is not an array, or another type than the pipeline takes.
            ValueError: A column is missing, or a row has no value.
        """
        table, function = Table(rows), _load(self._saved)
        inputs = [value.name for value in function.inputs]
        given = [table.samples(name) for name in inputs]
        made: list[list[Any]] = [[] for _ in self._names]
        good: list[int] = []
        for begin, end, first in self._runs(table):
            outputs, errors = function.attempt(
                *(samples[begin:end] for samples in given), epoch=self._epoch, first_sample=first
            )
            for k in range(end - begin):
                error = errors[k] if errors else None
                if error is None:
                    good.append(begin + k)
                    for column, batch in zip(made, outputs):
                        column.append(batch.at(k))
                elif not self._skips:
                    if hasattr(error, "add_note"):  # Python 3.11
                        error.add_note(f"row {begin + k} of {table.rows} in a call of Stage")
                    raise error
        columns = {
            name: _together(samples, function.outputs[k]) for k, (name, samples) in enumerate(zip(self._names, made))
        }
        return table.with_columns(columns, set(inputs) - self._keep, good if len(good) < table.rows else None)

    def _runs(self, table):
        """(begin, end, first sample) of rows that follow one another in what they draw."""
        if self._number is None or table.rows == 0:
            return [(0, table.rows, 0)] if table.rows else []
        numbers = [_number_of(self._number, value) for value in table.samples(self._number)]
        ends = [k for k in range(1, len(numbers)) if numbers[k] != numbers[k - 1] + 1] + [len(numbers)]
        return [(begin, end, numbers[begin]) for begin, end in zip([0, *ends[:-1]], ends)]


def _number_of(name, value):
    value = np.asarray(value)
    if value.ndim == 0 and value.dtype.kind in "iu":
        if not 0 <= (made := int(value)) < 2**62:
            raise ValueError(f"[Stage] a number of the column '{name}' must be from 0 to 2**62 - 1, got {made}")
        return made
    if value.ndim == 1 and value.dtype == np.uint8:
        return int.from_bytes(hashlib.blake2b(value.tobytes(), digest_size=8).digest(), "little") >> 2
    raise TypeError(
        f"[Stage] the column '{name}' must hold integers or texts, got {value.dtype} of {value.ndim} dimensions"
    )


def _together(samples, info):
    """Samples as a column: one array where they have one shape."""
    if not samples:
        return np.empty((0,), np.float32 if info.dtype is None else np.dtype(info.dtype.name.lower()))
    if all(sample.shape == samples[0].shape for sample in samples):
        return np.stack(samples)
    return [np.array(sample) for sample in samples]  # a copy: the memory of a batch is large


def _saved(pipeline):
    """(the saved form, the names of its outputs or None)"""
    from ..._pipeline import Pipeline

    if getattr(pipeline, "_is_pipeline_def", False):
        pipeline = pipeline()
    if isinstance(pipeline, Pipeline):
        text, form = pipeline.to_json(), pipeline.definition.form
        return text, [name for name, _ in sorted(form.items(), key=lambda x: x[1])] if _is_flat(form) else None
    if isinstance(pipeline, str) and pipeline.lstrip().startswith("{"):
        return pipeline, None
    if not isinstance(pipeline, (str, os.PathLike)):
        raise TypeError(f"Stage takes a pipeline or a saved one, got {type(pipeline).__name__}")
    with open(pipeline, encoding="utf-8") as file:
        return file.read(), None


def _is_flat(form):
    return isinstance(form, dict) and all(isinstance(place, int) for place in form.values())


def _checked(names, outputs):
    if names is None:
        raise ValueError(
            "the outputs are columns, which need names: give output_map, or return a dict from the pipeline"
        )
    if len(names) != outputs or len(set(names)) != outputs:
        raise ValueError(f"output_map must be {outputs} different names, got {names}")
    return names
