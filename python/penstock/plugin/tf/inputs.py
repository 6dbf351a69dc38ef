# SPDX-License-Identifier: Apache-2.0
"""Data sets that are inputs of pipelines."""

from __future__ import annotations

import tensorflow as tf

from ..interface import user_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Input:
    """A data set that is an input of a pipeline, with what the pipeline does not say of it.

    Args:
        dataset: A tf.data.Dataset with one tensor in each element.
        layout: The layout of samples, such as "HWC"; None: that of the external source.
        batch: True: its elements are batches. False: they are samples.

    Example:
        >>> from penstock.plugin.tf import Input
        >>> Input(tf.data.Dataset.range(3), batch=False).batch
        False
    """

    def __init__(self, dataset: Any, layout: str | None = None, batch: bool | None = False) -> None:
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError(f"dataset must be a tf.data.Dataset, got {type(dataset).__name__}")
        self.dataset, self.layout, self.batch = dataset, layout, batch


class Inputs:
    """The inputs of a pipeline as one data set of tuples of tensors, batch after batch."""

    def __init__(self, given, source):
        given = {} if given is None else given
        if not isinstance(given, dict):
            raise TypeError(
                f"input_datasets must be a dict from names of inputs to data sets, got {type(given).__name__}"
            )
        self._check_names(given, source.inputs)
        if source.inputs and source.batches_per_epoch is not None:
            raise ValueError(
                f"the pipeline has a reader beside the inputs {source.inputs}, and both would say which batch is the next: "
                f"zip the input with a PenstockDataset of the reader\n  at {user_line()}"
            )
        entries = [(name, given[name]) for name in source.inputs]
        entries = [(name, value if _is_input(value) else self._input(name, value)) for name, value in entries]
        self.names = [name for name, _ in entries]
        self.layouts = [value.layout or "" for _, value in entries]
        made = [self._batches(name, value, source.batch_size) for name, value in entries]
        self.datasets = [dataset for dataset, _ in made]
        self.ragged = [ragged for _, ragged in made]

    @staticmethod
    def _check_names(given, names):
        for name in given:
            if name not in names:
                there = ", ".join(map(repr, names)) or "none: fn.external_source(name=...) makes one"
                raise ValueError(
                    f"input_datasets names '{name}', which is not an input of the pipeline; its inputs are {there}\n"
                    f"  at {user_line()}"
                )
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(
                f"the pipeline has the inputs {missing}, and input_datasets has no data set for them\n  at {user_line()}"
            )

    @staticmethod
    def _input(name, value):
        try:
            return Input(value)
        except TypeError:
            raise TypeError(
                f"input_datasets['{name}'] must be a tf.data.Dataset or an Input, got {type(value).__name__}"
            ) from None

    def _batches(self, name, value, batch_size):
        """(a data set of the tensors of whole batches, whether their samples differ in shape)"""
        spec = value.dataset.element_spec
        if not isinstance(spec, tf.TensorSpec):
            raise TypeError(
                f"input_datasets['{name}'] must have one dense tensor in each element, it has {spec}: select it with map()"
            )
        if value.batch:
            if spec.shape.rank == 0:
                raise ValueError(f"input_datasets['{name}'] has numbers, no batches: say batch=False")
            return value.dataset, False
        if spec.shape.is_fully_defined():
            return value.dataset.batch(batch_size), False
        if spec.dtype == tf.string or spec.shape.rank is None:
            raise ValueError(
                f"input_datasets['{name}'] has the shape {spec.shape}: strings are scalars, and of others the number of "
                "dimensions must be known (tf.ensure_shape says it)"
            )
        split = value.dataset.map(lambda sample: (tf.reshape(sample, [-1]), tf.shape(sample, tf.int64)))
        return split.ragged_batch(batch_size).map(lambda flat, shapes: (flat.flat_values, shapes)), True


def _is_input(value):
    return isinstance(value, Input)
