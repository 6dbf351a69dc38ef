# SPDX-License-Identifier: Apache-2.0
"""Batches of a pipeline as tensors of a graph: what scripts for DALI call DALIIterator."""

from __future__ import annotations

import tensorflow as tf

from .dataset import PenstockDataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_iterators: dict[Any, Any] = {}  # outside graphs: where each pipeline is


def DALIIteratorWrapper(
    pipeline: Any = None,
    serialized_pipeline: Any = None,
    sparse: Sequence[bool] = (),
    shapes: Sequence[Any] = (),
    dtypes: Sequence[Any] = (),
    batch_size: int = -1,
    prefetch_queue_depth: Any = 2,
    **options: Any,
) -> list[Any]:
    """Returns the outputs of the next batch as a list of tensors.

    In a graph each run of the tensors gives the next batch. Outside graphs each call with the same pipeline does.

    Args:
        pipeline: A Pipeline.
        serialized_pipeline: What Pipeline.serialize() returned, instead of it.
        sparse: Must not ask for sparse tensors: PenstockDataset(ragged=True) gives samples of unlike shapes.
        shapes: Static shapes of the outputs, with the samples in front.
        dtypes: Types of the outputs.
        batch_size: Samples of a batch; -1: those of the pipeline.
        prefetch_queue_depth: Batches that are made ahead.
        **options: num_threads and device_id, as those of Pipeline; others are accepted without effect.

    Raises:
        ValueError: There is no pipeline, or sparse tensors are requested.
        TypeError: A type is not known or another one.

    Example:
        from penstock.plugin.tf import DALIIterator
        images, labels = DALIIterator()(pipeline=pipe, shapes=[(32, 224, 224, 3), ()], dtypes=[tf.float32, tf.int32])
    """
    given = serialized_pipeline if serialized_pipeline is not None else pipeline
    if given is None:
        raise ValueError("give pipeline or serialized_pipeline")
    if any(sparse):
        raise ValueError("there are no sparse outputs: PenstockDataset(ragged=True) gives samples of unlike shapes")
    arguments = dict(
        output_dtypes=tuple(dtypes) or None,
        output_shapes=[tuple(shape) if shape else None for shape in shapes] or None,
        batch_size=None if batch_size < 0 else batch_size,
        prefetch_queue_depth=prefetch_queue_depth,
        num_threads=options.get("num_threads"),
        device_id=options.get("device_id"),
    )
    if not tf.executing_eagerly():
        made = tf.compat.v1.data.make_one_shot_iterator(PenstockDataset(given, **arguments)).get_next()
        return tf.nest.flatten(made)
    key = given if isinstance(given, (str, bytes)) else id(given)
    if key not in _iterators:  # the data set keeps the pipeline, so that the number of its id is not given again
        _iterators[key] = given, iter(PenstockDataset(given, **arguments))
    return tf.nest.flatten(next(_iterators[key][1]))


def DALIIterator() -> Any:
    """Returns DALIIteratorWrapper, as scripts for DALI ask for it."""
    return DALIIteratorWrapper


DALIRawIterator = DALIIterator
