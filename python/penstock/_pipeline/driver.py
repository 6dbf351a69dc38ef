# SPDX-License-Identifier: Apache-2.0
"""Driver: how a plug-in runs a pipeline."""

from __future__ import annotations

import json

from .._base.element_types import DType
from .._base.log import warn
from .._graph import DataNode
from .._sources import begin_anew
from .saved import text_of_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from .._core import Batch
    from .pipeline import Pipeline

STATE_VERSION = 2
_UNREADABLE = f"this is not a state of this version of Penstock, which reads versions 1 to {STATE_VERSION}"


class OutputInfo:
    """Says what is known of an output before data flow.

    Args:
        dtype: The element type; types.NO_TYPE: not known.
        ndim: Dimensions of a sample; None: not known.
        layout: The layout of a sample; "": not known.
        device: "cpu" or "gpu": where the graph puts it, whether or not this machine has a GPU.
        shape: The extents of a sample, None for one that is not known or that differs; None: `ndim` is not known.
    """

    __slots__ = ("dtype", "ndim", "layout", "device", "shape")

    def __init__(
        self, dtype: DType, ndim: int | None, layout: str, device: str, shape: tuple[int | None, ...] | None = None
    ) -> None:
        self.dtype, self.ndim, self.layout, self.device, self.shape = dtype, ndim, layout, device, shape

    def __repr__(self) -> str:
        return (
            f"OutputInfo(dtype={self.dtype.name}, ndim={self.ndim}, layout={self.layout!r}, device={self.device!r}, "
            f"shape={self.shape})"
        )


def infos_of(pipeline):
    """The OutputInfo of each output of a pipeline that is built."""
    graph = pipeline.definition.graph
    values = [DataNode(pipeline, *place[:2]) for place in json.loads(graph.to_json())["outputs"]]
    shapes = pipeline._pipeline.output_shapes()
    return [
        OutputInfo(value.dtype, value.ndim, value.layout, "gpu" if on_gpu else "cpu", shape)
        for value, on_gpu, shape in zip(values, graph.outputs_on_gpu(), shapes)
    ]


class Step:
    """Holds the result of an iteration.

    Args:
        outputs: A Batch for each output.
        samples: Samples that the iteration took of its source. fn.filter and its kind may have changed their number.
        batches: Batches that the iteration took of its source: more than one where fn.rebatch collects them.
        ends_epoch: Whether this is the last batch of an epoch that the reader cuts.
        origins: For each sample (epoch, position in the order of the epoch, ...); empty where outputs have no common
            samples.
    """

    __slots__ = ("outputs", "samples", "batches", "ends_epoch", "origins")

    def __init__(
        self,
        outputs: tuple[Batch, ...],
        samples: int,
        batches: int,
        ends_epoch: bool,
        origins: Sequence[tuple[int, ...]],
    ) -> None:
        self.outputs, self.samples, self.batches = outputs, samples, batches
        self.ends_epoch, self.origins = ends_epoch, origins


class Driver:
    """Runs a pipeline for a plug-in.

    Pipeline.driver() makes it. A driver has no position of its own: two drivers of a pipeline take turns.

    Args:
        pipeline: The pipeline.
        epochs: How the reader cuts its epochs, see Pipeline.driver().
        refill: See Pipeline.driver().
        restart_sources: See Pipeline.driver().
    """

    def __init__(
        self,
        pipeline: Pipeline[Any],
        epochs: Literal["stream", "drop", "partial", "even"] | None = None,
        refill: bool = False,
        restart_sources: bool = False,
    ) -> None:
        self.pipeline = pipeline
        if restart_sources:
            begin_anew(pipeline.definition)
        if epochs is not None:
            pipeline._set_epoch_mode(epochs)
        pipeline.build()
        if refill:
            pipeline._pipeline.set_refill(pipeline.max_batch_size)

    # --- what the pipeline gives ------------------------------------------------------------------------------------

    @property
    def epochs(self) -> str:
        """How the reader cuts its epochs: "stream", "drop", "partial" or "even"."""
        return self.pipeline._epoch_mode

    def output_infos(self) -> list[OutputInfo]:
        """Returns what is known of each output before a run, as Pipeline.output_spec does.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def images():
            ...     return fn.random.uniform(range=[0.0, 1.0], shape=[4, 4, 3])
            >>> images().driver().output_infos()
            [OutputInfo(dtype=FLOAT, ndim=3, layout='', device='cpu', shape=(4, 4, 3))]
        """
        return infos_of(self.pipeline)

    @property
    def output_form(self) -> Any:
        """The form in which the outputs were given: numbers of outputs in tuples, lists and dicts."""
        form = self.pipeline.definition.form
        if form is not None:
            return form
        count = self.pipeline.num_outputs
        return 0 if count == 1 else tuple(range(count))

    def formed(self, values: Sequence[Any]) -> Any:
        """Returns values in the form in which the outputs were given.

        Args:
            values: One for each output.
        """
        return self.pipeline._formed(values)

    @property
    def inputs(self) -> list[str]:
        """The names of the external sources that the program feeds."""
        return list(self.pipeline.definition.fed)

    def batches_per_epoch(self) -> int | None:
        """Returns how many batches an epoch of the reader has, the same for all shards; None without a reader."""
        count = self.pipeline._pipeline.batches_per_epoch()
        return None if count < 0 else count

    def number_of_shards(self) -> int:
        """Returns the number of shards of the reader whose epochs count; 1 without a reader."""
        meta = self.pipeline._pipeline.reader_meta("")
        return 1 if meta is None else meta["number_of_shards"]

    # --- runs -------------------------------------------------------------------------------------------------------

    def run(self) -> Step:
        """Runs the next iteration, as Pipeline.run() does.

        Raises:
            StopIteration: The data have ended; restart() begins again.
            DataError: A file or record cannot be read or decoded.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def numbers():
            ...     return fn.readers.indices(size=3, name="reader")
            >>> driver = numbers().driver(epochs="partial")
            >>> step = driver.run()
            >>> step.outputs[0].as_array().tolist(), step.samples, step.ends_epoch
            ([0, 1], 2, False)
            >>> step = driver.run()
            >>> step.outputs[0].as_array().tolist(), step.samples, step.ends_epoch
            ([2], 1, True)
        """
        pipeline = self.pipeline
        outputs = pipeline._run()
        return Step(outputs, *pipeline._consumed, pipeline._origin)

    def feed(self, name: str, batch: Batch) -> None:
        """Gives a batch to an external source, for begin_run().

        Args:
            name: One of `inputs`.
            batch: The batch.
        """
        self.pipeline._pipeline.feed(self.pipeline.definition.fed[name].node, [batch])

    def begin_run(self) -> None:
        """Starts an iteration of what was fed, and does not wait for it."""
        self.pipeline._pipeline.schedule()

    def end_run(self) -> Step:
        """Waits for the oldest iteration that begin_run() started.

        Another thread may call it.

        Raises:
            DataError: A file or record cannot be read or decoded.
        """
        pipeline = self.pipeline
        outputs = pipeline._finish(pipeline._pipeline.outputs)
        return Step(outputs, *pipeline._consumed, pipeline._origin)

    # --- epochs -----------------------------------------------------------------------------------------------------

    def begin_epoch(self) -> None:
        """Leaves what remains of the epoch: the next run begins the next one."""
        self.pipeline._ended, self.pipeline._scheduled = False, 0
        self.pipeline._pipeline.begin_epoch()

    def restart(self) -> None:
        """Begins the next epoch of external sources after StopIteration, as Pipeline.reset() does."""
        self.pipeline.reset()

    def at_end_of_epoch(self) -> bool:
        """Returns whether the last run, which may have been an error, ended the epoch of the reader."""
        return bool(self.pipeline._pipeline.at_end_of_epoch())

    def nothing_left_of_epoch(self) -> bool:
        """Returns whether this shard has no sample left of the epoch in which a state was taken."""
        return self.pipeline._pipeline.first_epoch()[0] == 0

    # --- states -----------------------------------------------------------------------------------------------------

    def state(self, left: int = 0) -> dict[str, Any]:
        """Returns the position after the last run, in the form that all plug-ins share.

        Args:
            left: Samples over all shards that the plug-in still hands out of this epoch, where the plug-in and not the
                reader counts them; else 0.

        Returns:
            {"version": 2, "pipeline": the checkpoint as an object, "left": left}: numbers and short texts, which JSON
            takes.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def numbers():
            ...     return fn.readers.indices(size=4, name="reader")
            >>> first, second = numbers().driver(), numbers().driver()
            >>> _ = first.run()
            >>> second.load_state(first.state())
            0
            >>> second.run().outputs[0].as_array().tolist()
            [2, 3]
        """
        return state_of(self.pipeline, left)

    def load_state(self, state: dict[str, Any]) -> int:
        """Continues from a state, bit for bit.

        The batch size and the number of shards may differ from those of the state.

        Args:
            state: What state() returned.

        Returns:
            `left` of the state.

        Raises:
            ValueError: It is not a state.
        """
        self.pipeline._restart(checkpoint_of(state))
        return state.get("left", 0)


def state_of(pipeline, left=0):
    """The state of a pipeline in the form that all plug-ins share."""
    checkpoint = json.loads(pipeline.checkpoint())
    checkpoint["sources"] = {name: _unpacked(text) for name, text in checkpoint["sources"].items()}
    return {"version": STATE_VERSION, "pipeline": checkpoint, "left": left}


def warn_of_plugin(text):
    """Gives a warning of an iterator, which names the line of the program."""
    warn("plugin", text)


def checkpoint_of(state):
    """The checkpoint of a state(), as Pipeline(checkpoint=...) takes it."""
    if not isinstance(state, dict) or state.get("version") not in (1, STATE_VERSION):
        raise ValueError(_UNREADABLE)
    if "pipelines" in state:
        raise ValueError("this is the state of an iterator of several pipelines: load one of state['pipelines']")
    checkpoint = state["pipeline"]
    if isinstance(checkpoint, str):  # version 1 had the text
        return checkpoint.encode()
    sources = checkpoint["sources"].items()
    packed = {name: part if isinstance(part, str) else json.dumps(part) for name, part in sources}
    return json.dumps({**checkpoint, "sources": packed}, separators=(",", ":")).encode()


def with_counters(checkpoint, form, counters):
    """A checkpoint with the counters of the iterator, and with what an iterator must have that goes on with them."""
    made = {**json.loads(checkpoint), "iterator": {"form": form, "counters": counters}}
    return json.dumps(made, separators=(",", ":")).encode()


def counters_of(pipeline, form):
    """The counters in the checkpoint with which a pipeline begins, if they are of an iterator with this form; else None."""
    if pipeline._checkpoint is None or pipeline._consumed != (0, 0, False):
        return None
    saved = json.loads(text_of_checkpoint(pipeline._checkpoint)).get("iterator")
    return saved.get("counters") if isinstance(saved, dict) and saved.get("form") == form else None


def _unpacked(text):
    """The state of a source as an object if it is JSON, else its text."""
    try:
        made = json.loads(text)
    except ValueError:
        return text
    return made if isinstance(made, dict) else text
