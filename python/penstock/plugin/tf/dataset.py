# SPDX-License-Identifier: Apache-2.0
"""PenstockDataset."""

from __future__ import annotations

import tensorflow as tf

from ..interface import put_together, user_line
from . import ragged as raggedness
from .batches import Batches
from .inputs import Inputs
from .source import EPOCHS, Source, per_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal


def _names_of(output_map, count):
    if output_map is None:
        return list(range(count))
    if isinstance(output_map, str) or len(set(output_map)) != len(output_map):
        raise ValueError(f"output_map must be a list of different names, got {output_map!r}\n  at {user_line()}")
    if len(output_map) != count:
        raise ValueError(f"output_map names {len(output_map)} outputs, the pipeline has {count}\n  at {user_line()}")
    return list(output_map)


def _is_shape(value):
    if isinstance(value, tf.TensorShape):
        return True
    return all(isinstance(extent, (int, type(None))) for extent in value)


def _without_lists(form):
    """The form of elements: tf.data makes one tensor of a list."""
    if isinstance(form, dict):
        return {key: _without_lists(part) for key, part in form.items()}
    if isinstance(form, int) or hasattr(form, "_fields"):
        return form
    return tuple(_without_lists(part) for part in form)


def _ordered():
    """Calls of the operator come in order: it works ahead, and would go back for each one that is out of order."""
    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = False
    return options


class PenstockDataset(tf.data.Dataset):
    """Gives the batches of a pipeline as a tf.data.Dataset.

    The batches are those of Pipeline.run(), over the same memory. Every iterator begins with batch 0 and has a
    pipeline of its own, which works ahead. Batch number i is a function of i: tf.train.Checkpoint saves an iterator
    exactly, and skip() and shard() make nothing of what they leave out. The pipeline is saved as Pipeline.save() does,
    so the data set can be sent to other processes; files must have the same paths there.

    Args:
        pipeline: A Pipeline, or what Pipeline.serialize() returned.
        output_dtypes: Types that the outputs must have, one for all or one for each; needed only where the pipeline
            does not know them before data flow. A tuple of one type makes elements that are tuples of one tensor.
        output_shapes: Shapes with the samples in front, None for an extent that is not known; they add to what the
            pipeline knows.
        fail_on_device_mismatch: Accepted without effect.
        output_map: Names of the outputs: elements are dicts then. None: elements have the form in which the pipeline
            returns its outputs.
        epochs: How many epochs of the reader an iterator gives. None: it does not end.
        last_batch: "fill" (full: it goes on with samples of the next epoch), "drop" or "partial" (shorter). None:
            "fill" where epochs is None, else "partial".
        ragged: What becomes a tf.RaggedTensor: True: outputs whose extents are not all known before data flow. Names,
            or numbers without output_map: these. Of others, samples of one batch must have one shape.
        input_datasets: For each fn.external_source of the pipeline, by its name: a tf.data.Dataset of samples, or an
            Input. Strings are bytes, as those of a TFRecordDataset. The pipeline must have no reader then.
        batch_size, num_threads, device_id, prefetch_queue_depth: Arguments of Pipeline that replace its own.
        exec_separated, exec_dynamic, cpu_prefetch_queue_depth, gpu_prefetch_queue_depth: Accepted without effect.
        dtypes, shapes: Former names of output_dtypes and output_shapes.

    Raises:
        TypeError: It is not a pipeline; a type is not known or another one.
        ValueError: The pipeline calls functions of this program, or an argument does not fit to it.

    Example:
        >>> from penstock.plugin.tf import PenstockDataset
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers():
        ...     return fn.readers.indices(size=3, name="reader")
        >>> dataset = PenstockDataset(numbers(), epochs=1)
        >>> [batch.numpy().tolist() for batch in dataset], len(dataset)
        ([[0, 1], [2]], 2)
    """

    def __init__(
        self,
        pipeline: Any,
        output_dtypes: Any = None,
        output_shapes: Any = None,
        fail_on_device_mismatch: bool = True,
        *,
        output_map: Sequence[str] | None = None,
        epochs: int | None = None,
        last_batch: Literal["fill", "drop", "partial"] | None = None,
        ragged: Any = False,
        input_datasets: dict[str, Any] | None = None,
        batch_size: int | None = None,
        num_threads: int | None = None,
        device_id: int | None = None,
        prefetch_queue_depth: int | None = None,
        exec_separated: bool = False,
        exec_dynamic: bool | None = None,
        cpu_prefetch_queue_depth: int | None = None,
        gpu_prefetch_queue_depth: int | None = None,
        dtypes: Any = None,
        shapes: Any = None,
    ) -> None:
        output_dtypes = dtypes if output_dtypes is None else output_dtypes
        output_shapes = shapes if output_shapes is None else output_shapes
        if epochs is not None and (not isinstance(epochs, int) or epochs < 1):
            raise ValueError(f"epochs must be a number of at least 1, or None, got {epochs!r}\n  at {user_line()}")
        last_batch = last_batch or ("fill" if epochs is None else "partial")
        if last_batch not in EPOCHS:
            raise ValueError(f"last_batch must be 'fill', 'drop' or 'partial', got {last_batch!r}\n  at {user_line()}")
        options = dict(batch_size=batch_size, num_threads=num_threads, device_id=device_id)
        source = Source(pipeline, last_batch, {**options, "prefetch_queue_depth": prefetch_queue_depth})
        count = len(source.infos)
        names = _names_of(output_map, count)
        types = source.types(
            per_output(output_dtypes, count, "output_dtypes", lambda v: not isinstance(v, (tuple, list)))
        )
        static = source.shapes(per_output(output_shapes, count, "output_shapes", _is_shape))
        inputs = Inputs(input_datasets, source)
        wishes = raggedness.chosen(ragged, names, source.infos)
        self.batches_per_epoch = source.batches_per_epoch
        self._form = {n: k for k, n in enumerate(names)} if output_map is not None else _without_lists(source.form)
        if output_map is None and isinstance(output_dtypes, (tuple, list)) and self._form == 0:
            self._form = (0,)
        self._batches = Batches(source, names, types, static, wishes, inputs)
        self._inputs_of_pipeline, self._source = inputs.datasets, source
        self._given_epochs = epochs
        self._begin(self._positions(), 1)

    # --- the data set of positions, and what maps it to batches -----------------------------------------------------

    def _positions(self):
        """The first sample of each batch, counted through all epochs."""
        batch, per_epoch = self._source.batch_size, self._source.batches_per_epoch
        if self._given_epochs is None:
            return tf.data.Dataset.range(0, 2**62 // batch * batch, batch)
        if per_epoch is None:
            raise ValueError(
                "epochs= needs a pipeline with a reader, whose epochs have a known length: leave it out, or use take()\n"
                f"  at {user_line()}"
            )
        end = self._given_epochs * per_epoch * batch
        if end >= 2**63:
            raise ValueError(f"epochs={self._given_epochs} of {per_epoch} batches are too many: None has no end")
        return tf.data.Dataset.range(0, end, batch)

    def _begin(self, positions, stride):
        self._at, self._stride = positions, stride
        made = self._with_inputs() if self._inputs_of_pipeline else self._alone()
        self._made = made.with_options(_ordered())
        super().__init__(self._made._variant_tensor)

    def _alone(self):
        @tf.autograph.experimental.do_not_convert
        def batch(position):
            _, outputs = self._batches.at(position, stride=self._stride)
            return self._formed(outputs)

        made = self._at.map(batch)
        if self._given_epochs is None:
            made = made.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
        return made

    def _with_inputs(self):
        @tf.autograph.experimental.do_not_convert
        def batch(position, *inputs):
            return self._formed(self._batches.at(position, tf.nest.flatten(inputs))[1])

        joined = tf.data.Dataset.zip((self._at, *self._inputs_of_pipeline))
        made = joined.map(batch, num_parallel_calls=self._source.threads, deterministic=True)
        lengths = {int(dataset.cardinality()) for dataset in self._inputs_of_pipeline}
        if lengths == {tf.data.INFINITE_CARDINALITY}:
            made = made.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
        return made

    def _formed(self, outputs):
        return put_together(self._form, outputs)

    def _part(self, positions, stride):
        made = PenstockDataset.__new__(PenstockDataset)
        made.__dict__.update(
            {
                k: self.__dict__[k]
                for k in ("batches_per_epoch", "_form", "_batches", "_inputs_of_pipeline", "_source", "_given_epochs")
            }
        )
        made._begin(positions, stride)
        return made

    # --- tf.data.Dataset ----------------------------------------------------------------------------------------------

    def _inputs(self):
        return [self._made]

    @property
    def element_spec(self) -> Any:
        """The types and static shapes of an element."""
        return self._made.element_spec

    def skip(self, count: Any, name: str | None = None) -> Any:
        """Leaves out the first batches; nothing of them is read or decoded.

        Args:
            count: How many.
            name: A name for the operation.
        """
        if self._inputs_of_pipeline:
            return super().skip(count, name=name)
        return self._part(self._at.skip(count, name=name), self._stride)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Leaves every num_shards-th batch; nothing of the others is read or decoded.

        Args:
            num_shards: The number of shards.
            index: Which of them.
            name: A name for the operation.
        """
        if self._inputs_of_pipeline or not isinstance(num_shards, int):
            return super().shard(num_shards, index, name=name)
        return self._part(self._at.shard(num_shards, index, name=name), self._stride * num_shards)


DALIDataset = PenstockDataset
