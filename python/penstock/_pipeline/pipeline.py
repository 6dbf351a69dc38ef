# SPDX-License-Identifier: Apache-2.0
"""Pipeline and @pipeline_def."""

from __future__ import annotations

import threading
import time

from .. import _core, _graph as graph
from .._base.frames import user_line
from .._base.log import warn
from .._base.running import running
from .._control_flow.statements import call
from .._graph import DataNode, Definition, free_nodes, nested
from .._sources import FedNode, without_unread
from . import declared_outputs, options, starting
from .defining import defining, generators, pruned, warn_of_draws_at
from .driver import Driver
from .pickled import reduced
from .positions import Positions
from .replay import Replays
from .reports import PipelineReports
from .returns import Outputs, Returns
from .saved import SavedForms, seed_of, text_of_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from typing import Any, Literal

    from typing_extensions import Self

    from .._base.element_types import OperatorConcurrency, StreamPolicy
    from .._function import Function

_BUILT = "the pipeline is built; this must be said before"


_OTHER_THREAD = (  # as the executor says it
    "another thread is using this pipeline: give each thread its own pipeline, or serialize the calls with a lock"
)


class Pipeline(PipelineReports, SavedForms, Replays, Positions, Returns[Outputs]):
    """Runs sources and operators in threads of its own and hands out batches.

    Args:
        batch_size: Samples of a full batch.
        num_threads: Threads; None: as many as the process may use. "auto": as many as are best, which is measured on
            the first batches; tuned() says what was chosen. The batches are the same.
        device_id: The GPU of operators that run on one. None: torch's current one, where torch uses GPUs, else the
            first.
            types.CPU_ONLY_DEVICE_ID: such operators are an error.
        seed: Seed of all random numbers and shuffles; where readers have several shards, their own `seed` shuffles.
            None or negative: one that follows penstock.seed() or torch.manual_seed(), else another one each time.
        prefetch_queue_depth: Batches that are made ahead. "auto": as many as are best, up to 8, measured too.
        on_error: What a file or record that cannot be read does: "raise" ends the batch with DataError, "skip" makes
            it shorter, "replace" takes another sample.
        error_budget: How many samples of an epoch may be lost.
        uneven: Allows on_error="skip" with several shards.
        late: What becomes of a sample that is not ready when the others of its batch are: "wait" holds the batch,
            "swap" forms the batch of the samples that are ready first, and moves the late one to a later batch of its
            epoch. Each sample then still comes once an epoch, with the same bytes, but the order is another one in
            each run. Operators that compute a sample from its batch cannot be in such a pipeline.
        memory_limit: Bytes that batches may take; one batch beyond it is a MemoryError before it is made.
        max_pixels, max_frames, max_samples: Pixels of a picture or of a frame, frames of a sequence, samples times
            channels of a recording. Decoders and readers that have no limit of their own refuse more with DataError
            before they take memory. A picture of more than half as many pixels is a warning.
        entropy_index: Positions inside JPEG files, so that later epochs decode only what a crop needs. "auto" makes
            them in the first epoch and keeps them in the user's cache folder, "read" only uses them, "off" does
            neither. A path names the file to make and use. None: what PENSTOCK_ENTROPY_INDEX says, else "auto".
        mixed_outputs: Outputs may be of different samples, as those of fn.filter() and those that it did not get.
        max_trips: Trips that a loop over values of the pipeline may make; more are an error that names the sample.
        debug: True runs the function for each batch, operator by operator, with DataNode.get(), print and a debugger.
            "times" also prints the time of each operator.
        stream_policy, concurrency: What types.StreamPolicy and types.OperatorConcurrency say.
        enable_checkpointing: Accepted without effect: checkpoint() always works.
        checkpoint: What checkpoint() returned, or a file with it; the pipeline resumes from it.
        output_dtype, output_ndim, output_layout: What the outputs must be, one value or one for each output; checked
            on every batch.
        py_num_workers: Processes of parallel external sources. "auto": as many as the cores that the process may use.
        py_start_method: "fork" or "spawn": how these processes start.
        py_callback_pickler: Pickles what goes to these processes: an object with dumps() and loads(), or a tuple of
            both.
        set_affinity: True keeps the threads of a pipeline that uses a GPU on the cores of the GPU's NUMA node, of those
            that the process may use, so that their memory is there too. Without effect where the system does not say
            which cores these are.
        exec_pipelined, exec_async, bytes_per_sample, max_streams: Accepted without effect.
        default_cuda_stream_priority, enable_memory_stats: Accepted without effect.
        exec_dynamic, experimental_exec_dynamic: Accepted without effect.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument has a value that it cannot have.

    Example:
        >>> pipe = Pipeline(batch_size=2, num_threads=1)
        >>> with pipe:
        ...     pipe.set_outputs(fn.random.uniform(range=[0.0, 1.0], shape=[3]))
        >>> numbers, = pipe.run()
        >>> numbers.shape()
        [(3,), (3,)]
    """

    _also_runtime_error = False  # of errors while nodes are added
    _made_at = ""  # the line of the program; pipelines that another process made have none

    if TYPE_CHECKING:  # options.py makes them, each from the argument
        batch_size: int | None
        num_threads: int | Literal["auto"] | None
        device_id: int | None
        seed: int
        exec_pipelined: bool
        exec_async: bool
        bytes_per_sample: int
        set_affinity: bool
        max_streams: int
        default_cuda_stream_priority: int
        enable_memory_stats: bool
        enable_checkpointing: bool
        py_num_workers: int | Literal["auto"]
        py_start_method: str
        exec_dynamic: bool
        stream_policy: StreamPolicy | None
        concurrency: OperatorConcurrency | None
        debug: bool | str
        on_error: str

    def __init__(
        self,
        batch_size: int | None = None,
        num_threads: int | Literal["auto"] | None = None,
        device_id: int | None = None,
        seed: int | None = None,
        exec_pipelined: bool = True,
        prefetch_queue_depth: int | Literal["auto"] | dict[str, int] = 2,
        exec_async: bool = True,
        bytes_per_sample: int = 0,
        set_affinity: bool = False,
        max_streams: int | None = None,
        default_cuda_stream_priority: int | None = None,
        *,
        enable_memory_stats: bool = False,
        enable_checkpointing: bool = False,
        checkpoint: bytes | str | PathLike[str] | None = None,
        py_num_workers: int | Literal["auto"] = 1,
        py_start_method: Literal["fork", "spawn"] = "fork",
        py_callback_pickler: Any = None,
        output_dtype: Any = None,
        output_ndim: Any = None,
        output_layout: Any = None,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: StreamPolicy | None = None,
        concurrency: OperatorConcurrency | None = None,
        on_error: Literal["raise", "skip", "replace"] = "raise",
        error_budget: int | None = None,
        uneven: bool = False,
        late: Literal["wait", "swap"] = "wait",
        memory_limit: int | None = None,
        entropy_index: str | PathLike[str] | None = None,
        max_trips: int = 1_000_000,
        mixed_outputs: bool = False,
        debug: bool | Literal["times"] = False,
        max_pixels: int | None = None,
        max_frames: int | None = None,
        max_samples: int | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in options.NAMES}
        given = options.accepted(given)
        self.definition = Definition(given, _core.Graph(), self._also_runtime_error)
        self.definition.graph.set_seed(given["seed"])
        self._declared = declared_outputs.accepted(output_dtype, output_ndim, output_layout)
        self._depth = options.depth_of(given)
        self._checkpoint = checkpoint
        self._function = None  # makes the outputs when the pipeline is built
        self._made_by = None  # (what pipeline_def made, its arguments, its keywords)
        self._outputs = None
        self._drawn_before = []  # what generators() gave where blocks `with pipeline:` begin
        self._sinks = []
        self._epoch_mode = "stream"
        self._pipeline = None  # of _core
        self._scheduled = 0
        self._held = None
        self._tuner = None
        self._ended = False
        self._origin, self._returned = [], False  # of the last batch; whether there is one
        self._replays, self._logs_steps = [], False
        # samples and batches of the source in the last output, and whether its epoch has ended
        self._consumed = (0, 0, False)
        self._tracing = False
        self._made_at = user_line()

    # --- definition ---------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        graph.push(self)
        self._drawn_before.append(generators())
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        graph.pop()
        before = self._drawn_before.pop()
        if kind is None and not self.definition.options["debug"]:
            warn_of_draws_at(user_line(), before)

    @staticmethod
    def current() -> Pipeline[Any] | None:
        """Returns the pipeline that is being defined, or None."""
        return graph.current()

    def __reduce__(self) -> Any:
        return reduced(self, type(self).define_graph is not Pipeline.define_graph)

    @staticmethod
    def push_current(pipeline: Pipeline[Any]) -> None:
        """Begins the definition of a pipeline, as `with pipeline:` does.

        Args:
            pipeline: The pipeline.
        """
        graph.push(pipeline)

    @staticmethod
    def pop_current() -> Pipeline[Any]:
        """Ends the definition that push_current() began, and returns its pipeline."""
        return graph.pop()

    def define_graph(self) -> Any:
        """Makes the outputs; subclasses may override it.

        Returns:
            The outputs, as set_outputs() takes them.

        Raises:
            NotImplementedError: The pipeline has no outputs.
        """
        if self._function is None:
            raise NotImplementedError("the pipeline has no outputs: use @pipeline_def, set_outputs() or define_graph()")
        return self._function()

    def set_outputs(self, *outputs: Any) -> None:
        """Sets what run() returns.

        Args:
            *outputs: Values of the pipeline, or constants, also in tuples, lists and dictionaries.

        Raises:
            RuntimeError: The pipeline is built.
        """
        if self.definition.built:
            raise RuntimeError(_BUILT)
        free_nodes.take("set_outputs", outputs, self)
        self._outputs = outputs

    def add_sink(self, node: DataNode) -> None:
        """Keeps a node whose outputs nothing uses.

        Args:
            node: The node.
        """
        free_nodes.join(node, self)
        self._sinks.append(node)

    def build(self, define_graph: Callable[[], Any] | None = None) -> None:
        """Completes the graph and starts the threads; run() calls it if needed.

        Args:
            define_graph: A function that returns the outputs; None: those that were set.

        Raises:
            ValueError: The pipeline has no outputs, no batch_size, or an operator cannot take what it is given.
        """
        if self.definition.built:
            return
        if self.definition.options["batch_size"] is None:
            raise ValueError("a pipeline needs a batch_size")
        if self.__dict__.setdefault("_builder", threading.get_ident()) != threading.get_ident():
            raise ValueError(_OTHER_THREAD)
        __tracebackhide__ = True
        try:
            if not self.definition.built:  # another thread has built it since
                self._build(define_graph)
        except Exception as error:
            raise pruned(error)
        finally:
            self.__dict__.pop("_builder", None)

    def _build(self, define_graph):
        if self.definition.options["debug"]:
            return self._start_debug(define_graph or self.define_graph)
        with defining(self):
            returned = self._outputs if self._outputs is not None else call(define_graph or self.define_graph)()
            nodes = graph.as_outputs(returned, self)
        self._outputs = returned  # a start that fails, for a file that is not there yet, may be tried again
        if not nodes:
            raise ValueError(
                "the pipeline has no outputs: its function returns what a batch has, as in `return images`"
            )
        self.definition.graph.set_outputs(nodes, self.definition.options["mixed_outputs"])
        if self.definition.sources or self.definition.fed:
            without_unread(self.definition)
        self._start()
        self._outputs, self._sinks = None, []  # nodes refer to the pipeline and would keep it alive

    def _executor_of(self, made, threads, depth):
        """The executor of a graph, with the options of this pipeline."""
        return starting.executor_of(made, threads, depth, self._epoch_mode, self.definition.options)

    def _start(self):
        given, checkpoint = self.definition.options, self._checkpoint
        if checkpoint is not None:  # processes that start now need its seed
            self.definition.set_seed(seed_of(checkpoint, given["seed"]))
        starting.start_functions(self.definition)
        self.start_py_workers()
        runs = self._graph_that_runs()
        self._depth = starting.depth_of(given, runs)
        self._pipeline = self._executor_of(runs, starting.threads_of(given), self._depth)
        self.definition.built = True
        running.add(self)
        starting.attach(self._pipeline, self.definition)
        starting.log_start(self._pipeline, self.definition.options, self._depth)
        self._tuner = starting.tuner_of(self, self._pipeline)
        if checkpoint is not None:
            self._pipeline.restore(text_of_checkpoint(checkpoint))
        if self._tracing:
            self._pipeline.start_trace()
        if self._logs_steps:
            self._pipeline.log_steps()
        if self._replays:
            self._pipeline.replay(self._replays)

    def _start_debug(self, function):
        from .._debugging.run import DebugGraph, DebugRun  # late: few programs need it

        if self._outputs is not None:
            raise RuntimeError(
                "debug=True needs the function that makes the outputs: use @pipeline_def or define_graph()"
            )
        if self._checkpoint is not None:
            raise ValueError("a pipeline with debug=True cannot resume from a checkpoint")
        self._pipeline = DebugRun(self, function, self._executor_of)
        self.definition.graph, self.definition.built = DebugGraph(self._pipeline), True

    def _set_epoch_mode(self, mode):
        """How the reader's epochs are cut into batches: "stream", "partial" or "drop"; before the first run."""
        if self._pipeline is not None and mode != self._epoch_mode:
            self._pipeline.set_epoch_mode(mode)
        self._epoch_mode = mode

    def _restart(self, checkpoint):
        """Resumes from a checkpoint, with new threads where the pipeline has run already."""
        self.build()
        self._checkpoint = checkpoint
        self._start_again()

    def _start_again(self):
        self._pipeline.close()
        self._scheduled, self._held, self._ended = 0, None, False
        self._start()

    def start_py_workers(self) -> None:
        """Starts the worker processes of parallel external sources.

        With py_start_method="fork" call it before threads or a GPU are used.
        """
        for source in self.definition.sources.values():
            start = getattr(source, "begin_workers", None)
            if start:
                start()

    def compile(self, num_threads: int = 1) -> Function:
        """Returns the graph as a function that the program calls with its data.

        The pipeline is built if it is not yet; it and the function do not need each other afterwards.
        docs/how_to/call_a_function.md explains it.

        Args:
            num_threads: Threads that share each picture of a call, the caller's included: for the least time until one
                result is there. The pipeline's own num_threads does not matter here.

        Raises:
            ValueError: The graph reads files, calls functions of the program, or changes the number of samples;
                num_threads is less than 1.

        Example:
            >>> @pipeline_def(batch_size=1, num_threads=1)
            ... def sums():
            ...     return fn.external_source(name="a") + fn.external_source(name="b")
            >>> add = sums().compile()
            >>> add(a=[np.int32([1, 2])], b=[np.int32([3, 4])])[0][0].numpy().tolist()
            [4, 6]
        """
        from .._function import Function  # late: few programs need it

        return Function(self, num_threads)

    def tuned(self) -> dict[str, Any] | None:
        """Returns what "auto" of num_threads and of prefetch_queue_depth has come to.

        The first batches are measured with one setting after the other, until none of those beside the best is faster.

        Returns:
            None where nothing is "auto". Else a dict: `threads` and `depth` that are used now, `done`, `why`, and
            `measured`, for each measurement a dict of `threads`, `depth`, `rate` (samples a second) and `waits` (the
            share of its time that the loop waited).

        Example:
            >>> @pipeline_def(batch_size=4, num_threads="auto")
            ... def noise():
            ...     return fn.random.uniform(range=[0.0, 1.0], shape=[8])
            >>> pipe = noise()
            >>> _ = pipe.run()
            >>> sorted(pipe.tuned())
            ['depth', 'done', 'measured', 'threads', 'why']
        """
        self.build()
        return None if self._tuner is None else self._tuner.report()

    def used_elsewhere(self) -> bool:
        """Returns whether C or C++ code holds the pipeline too."""
        return getattr(self._pipeline, "used_elsewhere", False)

    def close(self) -> None:
        """Ends the threads of the pipeline and frees its memory; batches that were returned stay."""
        if self._pipeline is not None:
            self._pipeline.close()
        for source in (*self.definition.sources.values(), *(f for f, _ in self.definition.functions.values())):
            stop = getattr(source, "stop_workers", None)
            if stop:
                stop()

    # --- running ------------------------------------------------------------------------------------------------------

    def driver(
        self,
        epochs: Literal["stream", "drop", "partial", "even"] | None = None,
        refill: bool = False,
        restart_sources: bool = False,
    ) -> Driver:
        """Builds the pipeline and returns what plug-ins run it with: docs/reference/plugin_interface.md.

        Args:
            epochs: How the reader cuts its epochs into batches. "stream": batches are full, and the next epoch begins
                in the middle of one. "drop": the last batch of an epoch is left out where it is not full. "partial":
                it is shorter. "even": as "partial", with as many batches on each shard. None: as it is.
            refill: Puts the samples that fn.filter and its kind leave together to full batches.
            restart_sources: Each epoch begins the iterables of external sources from their start.
        """
        return Driver(self, epochs, refill, restart_sources)

    def iter_setup(self) -> None:
        """Runs before each iteration; subclasses may feed their sources here."""

    def run(self, cuda_stream: Any = None, /, **inputs: Any) -> Outputs:
        """Returns the next batch of each output.

        Args:
            cuda_stream: Accepted without effect.
            **inputs: Batches for external sources, by their names.

        Returns:
            A tuple of Batches, or the dictionaries, lists and tuples that the outputs were given in.

        Raises:
            StopIteration: The data have ended; reset() begins again.
            DataError: A file or record cannot be read or decoded.

        Example:
            >>> @pipeline_def(batch_size=2, num_threads=1)
            ... def numbers():
            ...     return fn.external_source(name="numbers") + 1
            >>> batch, = numbers().run(numbers=[np.int32(1), np.int32(2)])
            >>> batch.as_array().tolist()
            [2, 3]
        """
        __tracebackhide__ = True  # pytest and IPython leave this frame out
        try:
            return self._formed(self._run(inputs))
        except Exception as error:
            raise pruned(error)

    def _formed(self, batches):
        return batches if self.definition.form is None else nested.put_together(self.definition.form, batches)

    def _run(self, inputs={}):
        """Like run(), but returns the batches as a flat tuple."""
        self.build()
        self.iter_setup()
        for name, data in inputs.items():
            self.feed_input(name, data)
        if not self.definition.fed and not self._scheduled:
            return self._finish(self._pipeline.run)
        while not self._scheduled or (
            self._scheduled < self._depth and all(f.waiting or f.unread for f in self.definition.fed.values())
        ):
            self.schedule_run(_soon=True)
        self.release_outputs()
        return self._flat_outputs()

    def schedule_run(self, *, _soon: bool = False) -> None:  # outputs() is called next
        """Starts the next iteration; outputs() takes its result."""
        self.build()
        for node in self.definition.fed.values():
            node.before_run(self._pipeline, self.definition.graph)
        self._pipeline.schedule(_soon)
        self._scheduled += 1

    def outputs(self, cuda_stream: Any = None) -> Outputs:
        """Returns the result of the oldest scheduled iteration and gives the batches before it back.

        Args:
            cuda_stream: Accepted without effect.

        Returns:
            The batches, as run() returns them.

        Raises:
            StopIteration: The data have ended.
        """
        self.release_outputs()
        return self.share_outputs()

    def share_outputs(self, cuda_stream: Any = None) -> Outputs:
        """Returns the result of the oldest scheduled iteration and keeps the batches before it.

        Args:
            cuda_stream: Accepted without effect.

        Returns:
            The batches, as run() returns them.

        Raises:
            StopIteration: The data have ended.
        """
        __tracebackhide__ = True
        try:
            return self._formed(self._flat_outputs())
        except Exception as error:
            raise pruned(error)

    def _flat_outputs(self):
        self.build()
        if not self._scheduled:
            self.schedule_run()
        self._scheduled -= 1
        self._held = self._finish(self._pipeline.outputs)
        return self._held

    def release_outputs(self) -> None:
        """Gives the batches of the last share_outputs() back."""
        self._held = None

    def _finish(self, step):
        tuner = self._tuner
        begin = 0.0 if tuner is None or tuner.done else time.perf_counter()
        try:
            batches, self._origin, self._consumed = step()
            self._returned = True
        except StopIteration:
            self._scheduled = 0
            self._ended = True
            raise
        if begin:
            tuner.took(self._consumed[0], time.perf_counter() - begin)
        for text in _core.take_notices():
            warn("pipeline", text)
        for what, declared in self._declared.items():
            if declared is not None:
                declared_outputs.check(what, declared, batches)
        return batches

    def feed_input(
        self,
        data_node: DataNode | str,
        data: Any,
        layout: str | None = None,
        cuda_stream: Any = None,
        use_copy_kernel: bool = False,
    ) -> None:
        """Gives a batch to an external source that has no source of its own.

        Args:
            data_node: The node or its name.
            data: An array whose first axis counts the samples, a list of arrays, or a Batch.
            layout: The layout of the samples.
            cuda_stream, use_copy_kernel: Accepted without effect.

        Raises:
            KeyError: There is no such external source.
            RuntimeError: The node has a source of its own.
        """
        self.build()
        name = data_node if isinstance(data_node, str) else data_node.name
        node = self.definition.fed.get(name)
        if node is None and self.definition.options["debug"] and not self._pipeline.number:  # the body has not run yet
            node = self.definition.fed[name] = FedNode(name, 1, False)
        if node is None:
            index = self.definition.graph.find(name)
            if index < 0 or self.definition.graph.fed(index) != "batches":
                raise KeyError(f"there is no external source '{name}' in this pipeline")
            raise RuntimeError(f"'{name}' has a source of its own and cannot be fed")
        node.feed(self._pipeline, data, layout)

    def input_feed_count(self, name: str) -> int:
        """Returns how many batches to feed before the first run().

        Args:
            name: The external source.
        """
        return 1

    def reset(self) -> None:
        """Begins the next epoch of external sources after StopIteration."""
        self._ended = False
        self._scheduled = 0
        if self._pipeline is not None:
            self._pipeline.reset()

    def empty(self) -> bool:
        """Returns whether no iteration is scheduled."""
        return self._scheduled == 0

    def __iter__(self) -> Iterator[Outputs]:
        """Gives batches until the data end; with a reader, of one epoch."""
        self.build()
        if self._ended:
            self.reset()
        meta = self._pipeline.reader_meta("") if self._pipeline else None
        if meta is None:
            while True:
                try:
                    yield self.run()
                except StopIteration:
                    return
        left = self._pipeline.batches_per_epoch()
        while left > 0:
            try:
                batches = self.run()
            except StopIteration:  # of a source beside the reader, or of schedule()
                return
            left -= self._consumed[1]
            yield batches


options.add_properties(Pipeline)
Pipeline._class_of_loaded = Pipeline
