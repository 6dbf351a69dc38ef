# SPDX-License-Identifier: Apache-2.0
"""Pipeline and @pipeline_def."""

import atexit
import functools
import os
import sys
import warnings
import weakref

from . import _core, declared_outputs, definition, free_nodes, graph, limits, nested, unseeded
from .definition import defining, made_by
from .graph import DataNode
from .pickled_pipelines import reduced
from .saved_pipeline import seed_of, text_of_checkpoint
from .types import check_policies

_alive = weakref.WeakSet()  # closed before the interpreter ends: their threads may call Python
_BUILT = "the pipeline is built; this must be said before"


def _close_all():
    for pipeline in [p for p in _alive if not getattr(p._pipeline, "used_elsewhere", False)]:  # daemon threads go on
        pipeline.close()


class Pipeline:
    """Sources and operators that run in threads of their own and hand out batches.

    batch_size: samples of a full batch. num_threads: None: as many as the process may use. device_id: the GPU of
    operators that run on one; None: torch's current one, where torch uses GPUs, else the first; types.CPU_ONLY_DEVICE_ID: such operators are an error. seed: of all random numbers and shuffles; None or negative: one that follows penstock.seed() or torch.manual_seed(), else another one each time.
    prefetch_queue_depth: batches that are made ahead. on_error: what a file or record that cannot be read does: "raise"
    ends the batch with DataError, "skip" makes it shorter, "replace" takes another sample; error_budget: how many samples
    of an epoch may be lost; uneven=True allows "skip" with several shards. memory_limit: bytes that batches may take;
    one batch beyond it is a MemoryError before it is made. max_pixels, max_frames, max_samples: of a picture or a frame of a video, of a sequence, of a recording
    (samples times channels): decoders and readers that were given no limit of their own refuse more with DataError, before
    memory is taken; a picture of more than half as many pixels is a warning.
    entropy_index: places inside JPEG files, so that later epochs decode only what a crop needs: "auto" makes them in the
    first epoch and keeps them in the user's cache folder, "read" only uses them, "off" does neither; a path names the
    file to make and use; None: what PENSTOCK_ENTROPY_INDEX says, else "auto".
    mixed_outputs: outputs may be of different samples, as what fn.filter() gives beside what it got; else that is an error.
    max_trips: trips that a loop over values of the pipeline may make; more are an error that names the sample.
    debug=True runs the function for each batch, operator by operator, with DataNode.get(), print and a debugger;
    "times" also prints the time of each operator.
    stream_policy, concurrency: types.StreamPolicy and types.OperatorConcurrency, whose texts say what each does here.
    enable_checkpointing, checkpoint: see checkpoint(). output_dtype, output_ndim, output_layout: one value or one per
    output, checked on every batch. The other arguments are accepted without effect.
    """

    def __init__(
        self,
        batch_size=None,
        num_threads=None,
        device_id=None,
        seed=None,
        exec_pipelined=True,
        prefetch_queue_depth=2,
        exec_async=True,
        bytes_per_sample=0,
        set_affinity=False,
        max_streams=None,
        default_cuda_stream_priority=None,
        *,
        enable_memory_stats=False,
        enable_checkpointing=False,
        checkpoint=None,
        py_num_workers=1,
        py_start_method="fork",
        py_callback_pickler=None,
        output_dtype=None,
        output_ndim=None,
        output_layout=None,
        exec_dynamic=None,
        experimental_exec_dynamic=None,
        stream_policy=None,
        concurrency=None,
        on_error="raise",
        error_budget=None,
        uneven=False,
        memory_limit=None,
        entropy_index=None,
        max_trips=1_000_000,
        mixed_outputs=False,
        debug=False,
        max_pixels=None,
        max_frames=None,
        max_samples=None,
    ):
        for name, value in (("batch_size", batch_size), ("num_threads", num_threads)):
            limits.check_number(name, value, 2**31 - 1)
        for name, value in zip(limits.NAMES, (max_pixels, max_frames, max_samples)):
            limits.check_number(name, value, limits.LARGEST)
        limits.check_number("memory_limit", memory_limit, 2**63 - 1, least=0)
        definition.check_options({"device_id": device_id, "seed": seed, "on_error": on_error})
        if seed is None or seed < 0:
            seed = unseeded.of_pipeline()
        depths = prefetch_queue_depth if isinstance(prefetch_queue_depth, dict) else {"cpu_size": prefetch_queue_depth}
        if set(depths) - {"cpu_size", "gpu_size"} or any(int(d) < 1 for d in depths.values()):
            raise ValueError(
                "prefetch_queue_depth must be a positive integer or a dict of cpu_size and gpu_size, "
                f"got {prefetch_queue_depth!r}"
            )
        if py_start_method not in ("fork", "spawn"):
            raise ValueError(f"py_start_method must be 'fork' or 'spawn', got {py_start_method!r}")
        self._given = dict(
            batch_size=batch_size,
            num_threads=num_threads,
            device_id=device_id,
            seed=seed,
            exec_pipelined=exec_pipelined,
            prefetch_queue_depth=prefetch_queue_depth,
            exec_async=exec_async,
            bytes_per_sample=bytes_per_sample,
            set_affinity=set_affinity,
            max_streams=-1 if max_streams is None else max_streams,
            default_cuda_stream_priority=default_cuda_stream_priority or 0,
            enable_memory_stats=enable_memory_stats,
            enable_checkpointing=enable_checkpointing,
            py_num_workers=py_num_workers,
            py_start_method=py_start_method,
            exec_dynamic=bool(exec_dynamic) if exec_dynamic is not None else True,
            stream_policy=stream_policy,
            concurrency=concurrency,
            on_error=on_error,
            error_budget=error_budget,
            uneven=uneven,
            memory_limit=memory_limit,
            entropy_index="" if entropy_index is None else os.fspath(entropy_index),
            py_callback_pickler=py_callback_pickler,
            max_trips=int(max_trips),
            mixed_outputs=bool(mixed_outputs),
            debug=debug,
            max_pixels=max_pixels,
            max_frames=max_frames,
            max_samples=max_samples,
        )
        if debug not in (False, True, "times"):
            raise ValueError(f"debug must be True, False or 'times', got {debug!r}")
        check_policies(stream_policy, concurrency)
        self._declared = declared_outputs.accepted(output_dtype, output_ndim, output_layout)
        self._depth = int(max(depths.values())) if getattr(concurrency, "name", "") != "NONE" else 1
        self._graph = _core.Graph()
        self._graph.set_seed(seed)
        self._checkpoint = checkpoint
        self._function = None  # makes the outputs when the pipeline is built
        self._definition = None  # (what pipeline_def made, its arguments, its keywords)
        self._outputs = None
        self._form = None  # of outputs that are no flat tuple (nested.py)
        self._sinks = []
        self._sources = {}  # node -> object of penstock.sources
        self._fed = {}  # name -> FedNode
        self._functions = {}  # node -> (object of penstock.python_function or a plugin, the user's line)
        self._epoch_mode = "stream"
        self._pipeline = None  # of _core
        self._built = False
        self._scheduled = 0
        self._held = None
        self._ended = False
        self._origin = []
        self._consumed = (
            0,
            0,
            False,
        )  # samples and batches of the source in the last output, and whether its epoch has ended
        self._tracing = False
        self._took = False  # nodes that were made outside of it (free_nodes.py)

    # --- definition ---------------------------------------------------------------------------------------------------

    def __enter__(self):
        graph.push(self)
        return self

    def __exit__(self, *_):
        graph.pop()

    @staticmethod
    def current():
        """The pipeline that is being defined, or None."""
        return graph.current()

    __reduce__ = reduced
    push_current = staticmethod(graph.push)
    pop_current = staticmethod(graph.pop)

    def define_graph(self):
        """Returns the outputs; subclasses may override it."""
        if self._function is None:
            raise NotImplementedError("the pipeline has no outputs: use @pipeline_def, set_outputs() or define_graph()")
        return self._function()

    def set_outputs(self, *outputs):
        """Says what run() returns: values of the pipeline, or constants."""
        if self._built:
            raise RuntimeError(_BUILT)
        free_nodes.take("set_outputs", outputs, self)
        self._outputs = outputs

    def add_sink(self, node):
        """Accepted for nodes without outputs that are used."""
        free_nodes.join(node, self)
        self._sinks.append(node)

    def _as_outputs(self, returned):
        if returned is None:
            return []
        if isinstance(returned, tuple):
            items = list(returned)
        elif isinstance(returned, list) and any(isinstance(r, DataNode) for r in returned):
            items = returned
        else:
            items = [returned]
        leaves = []
        form = [nested.take_apart(item, leaves, str(k)) for k, item in enumerate(items)]
        if hasattr(returned, "_fields") or any(not isinstance(part, int) for part in form):
            several = isinstance(returned, tuple) or items is returned
            self._form = nested.alike(returned, form) if several else form[0]
        nodes = []
        for k, item in leaves:
            if isinstance(item, (str, set)) or (
                isinstance(item, (list, tuple)) and any(isinstance(i, (list, tuple)) for i in item)
            ):
                raise TypeError(
                    f"output {k} of the pipeline is of type {type(item).__name__}: outputs are values of the "
                    "pipeline or constants, in tuples, lists and dictionaries"
                )
            nodes.append(item if isinstance(item, DataNode) else graph.constant(item))
            free_nodes.join(nodes[-1], self)
            if nodes[-1].pipeline is not self:
                raise ValueError(f"output {k} belongs to another pipeline{free_nodes.rule_of(nodes[-1])}")
        return nodes

    def build(self, define_graph=None):
        """Fixes the graph and makes the threads; run() does it where it was not done."""
        if self._built:
            return
        if self._given["batch_size"] is None:
            raise ValueError("a pipeline needs a batch_size")
        if self._given["debug"]:
            return self._start_debug(define_graph or self.define_graph)
        with defining(self):
            from .control_flow_run import call

            returned = self._outputs if self._outputs is not None else call(define_graph or self.define_graph)()
            nodes = self._as_outputs(returned)
        if not nodes:
            raise ValueError("the pipeline has no outputs")
        self._graph.set_outputs(nodes, self._given["mixed_outputs"])
        if self._sources or self._fed:
            from .sources import without_unread

            without_unread(self)
        self._outputs, self._sinks = None, []  # nodes refer to the pipeline: without them it goes with its last user
        self._start()

    def _runner(self, made, threads, depth):
        """What runs a graph with this pipeline's options."""
        given, budget = self._given, self._given["error_budget"]
        return _core.Pipeline(
            made,
            int(given["batch_size"]),
            threads,
            depth,
            int(given["memory_limit"] or 0),
            self._epoch_mode,
            given["on_error"],
            -1 if budget is None else int(budget),
            bool(given["uneven"]),
            given["entropy_index"],
            _current_gpu() if given["device_id"] is None else int(given["device_id"]),
            getattr(given["stream_policy"], "name", "") == "SINGLE",
            *(int(given[name] or 0) for name in limits.NAMES),
        )

    def _start(self):
        if self._checkpoint is not None:  # processes that begin now have its seed
            self._given["seed"] = seed_of(self._checkpoint, self._given["seed"])
            self._graph.set_seed(self._given["seed"])
        for node, (function, line) in self._functions.items():
            function.start(self._graph.name_of(node), line, self._given)
        self.start_py_workers()
        self._pipeline = self._runner(self._graph, int(self._given["num_threads"] or 0), self._depth)
        self._built = True
        _alive.add(self)
        for node, source in self._sources.items():
            self._pipeline.set_source(node, source)
        for node, (function, _) in self._functions.items():
            attach = self._pipeline.set_compiled if hasattr(function, "run_address") else self._pipeline.set_callback
            attach(node, function)
        if self._checkpoint is not None:
            self._pipeline.restore(text_of_checkpoint(self._checkpoint))
        if self._tracing:
            self._pipeline.start_trace()

    def _start_debug(self, function):
        from .debug import DebugGraph, DebugRun

        if self._outputs is not None:
            raise RuntimeError(
                "debug=True needs the function that makes the outputs: use @pipeline_def or define_graph()"
            )
        if self._checkpoint is not None:
            raise ValueError("a pipeline with debug=True cannot go on from a checkpoint")
        self._pipeline = DebugRun(self, function)
        self._graph, self._built = DebugGraph(self._pipeline), True

    def _set_epoch_mode(self, mode):
        """How the reader's epochs are cut into batches: "stream", "partial" or "drop"; before the first run."""
        if self._pipeline is not None and mode != self._epoch_mode:
            self._pipeline.set_epoch_mode(mode)
        self._epoch_mode = mode

    def _restart(self, checkpoint):
        """Goes on from a checkpoint, with new threads where the pipeline has run already."""
        self.build()
        self._checkpoint = checkpoint
        self._pipeline.close()
        self._scheduled, self._held, self._ended = 0, None, False
        self._start()

    def start_py_workers(self):
        """Starts the worker processes of parallel external sources; needed before threads or a GPU are used."""
        for source in self._sources.values():
            start = getattr(source, "begin_workers", None)
            if start:
                start()

    def close(self):
        """Ends the pipeline's threads and gives its memory back; batches that were handed out stay."""
        if self._pipeline is not None:
            self._pipeline.close()
        for source in (*self._sources.values(), *(f for f, _ in self._functions.values())):
            stop = getattr(source, "stop_workers", None)
            if stop:
                stop()

    # --- running ------------------------------------------------------------------------------------------------------

    def iter_setup(self):
        """Called before each iteration; subclasses may feed their sources here."""

    def run(self, cuda_stream=None, /, **inputs):
        """The next batch of each output, as a tuple, or in the dictionaries, lists and tuples that the outputs were given in.

        Keywords feed external sources by name. Raises StopIteration where the data have ended; reset() begins again.
        """
        return self._formed(self._run(inputs))

    def _formed(self, batches):
        return batches if self._form is None else nested.put_together(self._form, batches)

    def _run(self, inputs={}):
        """As run(), with the batches as a flat tuple."""
        self.build()
        self.iter_setup()
        for name, data in inputs.items():
            self.feed_input(name, data)
        if not self._fed and not self._scheduled:
            return self._finish(self._pipeline.run)
        while not self._scheduled or (
            self._scheduled < self._depth and all(f.waiting or f.unread for f in self._fed.values())
        ):
            self.schedule_run(_soon=True)
        self.release_outputs()
        return self._flat_outputs()

    def schedule_run(self, *, _soon=False):  # outputs() is called next
        """Starts the next iteration; outputs() takes its result."""
        self.build()
        for node in self._fed.values():
            node.before_run(self)
        self._pipeline.schedule(_soon)
        self._scheduled += 1

    def outputs(self, cuda_stream=None):
        """The result of the oldest scheduled iteration; the batches before it are given back."""
        self.release_outputs()
        return self.share_outputs()

    def share_outputs(self, cuda_stream=None):
        """As outputs(), without giving back the batches before."""
        return self._formed(self._flat_outputs())

    def _flat_outputs(self):
        self.build()
        if not self._scheduled:
            self.schedule_run()
        self._scheduled -= 1
        self._held = self._finish(self._pipeline.outputs)
        return self._held

    def release_outputs(self):
        """Gives the batches of the last share_outputs() back."""
        self._held = None

    def _finish(self, step):
        try:
            batches, self._origin, self._consumed = step()
        except StopIteration:
            self._scheduled = 0
            self._ended = True
            raise
        for text in _core.take_notices():
            warnings.warn(text, stacklevel=3)
        for what, declared in self._declared.items():
            if declared is not None:
                declared_outputs.check(what, declared, batches)
        return batches

    def feed_input(self, data_node, data, layout=None, cuda_stream=None, use_copy_kernel=False):
        """Gives a batch to an external source that has no source of its own.

        data_node: the node or its name. data: an array whose first axis counts the samples, a list of arrays, a Batch.
        """
        self.build()
        name = data_node if isinstance(data_node, str) else data_node.name
        node = self._fed.get(name)
        if node is None and self._given["debug"] and not self._pipeline.number:  # the body has not run yet
            from .sources import FedNode

            node = self._fed[name] = FedNode(name, 1, False)
        if node is None:
            index = self._graph.find(name)
            if index < 0 or self._graph.fed(index) != "batches":
                raise KeyError(f"there is no external source '{name}' in this pipeline")
            raise RuntimeError(f"'{name}' has a source of its own and cannot be fed")
        node.feed(self, data, layout)

    def input_feed_count(self, name):
        """How many batches to feed before the first run()."""
        return 1

    def reset(self):
        """After StopIteration: begins the next epoch of external sources."""
        self._ended = False
        self._scheduled = 0
        if self._pipeline is not None:
            self._pipeline.reset()

    def empty(self):
        """Whether no iteration is scheduled."""
        return self._scheduled == 0

    def __iter__(self):
        """Batches until the data end; with a reader, of one epoch."""
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
            batches = self.run()
            left -= self._consumed[1]
            yield batches

    # --- questions ----------------------------------------------------------------------------------------------------

    def epoch_size(self, name=None):
        """Samples of an epoch of the named reader, with those that pad_last_batch repeats; without a name, a dict of all readers."""
        if name is None:
            return {n: m["epoch_size_padded"] for n, m in self._readers().items()}
        return self.reader_meta(name)["epoch_size_padded"]

    def reader_meta(self, name=None):
        """Sizes and shards of the named reader; without a name, a dict of all readers."""
        metas = self._readers()
        if name is None:
            return metas
        if name not in metas:
            raise RuntimeError(f"there is no reader '{name}' in this pipeline")
        return metas[name]

    def _readers(self):
        self.build()
        if self._given["debug"]:
            self._pipeline.begin()
        names = [self._graph.name_of(i) for i in range(self._graph.nodes()) if "readers." in self._graph.op_of(i)]
        return {n: self._pipeline.reader_meta(n) for n in names}

    @property
    def num_outputs(self):
        self.build()
        if self._given["debug"]:
            self._pipeline.begin()
        return self._graph.num_outputs()

    def output_dtype(self):
        """The declared types of the outputs."""
        return self._declared_list("dtype")

    def output_ndim(self):
        """The declared numbers of dimensions of the outputs."""
        return self._declared_list("ndim")

    def output_layout(self):
        """The declared layouts of the outputs."""
        return self._declared_list("layout")

    def _declared_list(self, what):
        declared = self._declared[what]
        return list(declared) if isinstance(declared, (list, tuple)) else [declared] * self.num_outputs

    max_batch_size = property(lambda self: self._given["batch_size"])
    prefetch_queue_depth = property(lambda self: self._given["prefetch_queue_depth"])
    cpu_queue_size = property(lambda self: self._depth)
    gpu_queue_size = property(lambda self: self._depth)
    exec_separated = property(lambda self: isinstance(self._given["prefetch_queue_depth"], dict))
    is_restored_from_checkpoint = property(lambda self: self._checkpoint is not None)

    def stats(self):
        """Where the time went: stages, waits, memory, and one line that names what the loop waits for."""
        from .statistics import Statistics

        self.build()
        return Statistics(self._pipeline.statistics(), self.left_out())

    def executor_statistics(self):
        """The numbers of stats() as a dict."""
        self.build()
        return self._pipeline.statistics()

    def external_source_shm_statistics(self):
        """Bytes of the shared memory that worker processes have written to: its "capacities", and "per_sample_capacities"."""
        from .workers import capacities

        return capacities(self._sources.values())

    def left_out(self, last_batch=False):
        """A LeftOut of each sample that on_error="skip" or "replace" left out, at most 10,000; last_batch: of the last batch alone."""
        from .statistics import LeftOut

        self.build()
        return [LeftOut(*entry) for entry in self._pipeline.left_out(last_batch)]

    def trace(self, path=None):
        """The first call starts recording; a call with a path writes what was recorded as a Chrome trace."""
        if not self._tracing:
            self._tracing = True
            if self._pipeline is not None:
                self._pipeline.start_trace()
        if path is not None:
            self.build()
            with open(path, "w") as file:
                file.write(self._pipeline.trace_json())

    def start_trace(self):
        """Starts recording what trace(path) writes."""
        self.trace()

    def plan(self):
        """The steps that the executor runs, one line each: which operators share a pass."""
        return self.text(planned=True)

    def passes(self):
        """A dict with the text after each pass of the planner, in their order; the first, "trace", is the graph as it
        was written, the last, "last_use", the steps with the values whose memory is free after them."""
        self.build()
        return dict(self._pipeline.pass_texts())

    def text(self, planned=False):
        """The graph, one line a node; planned=True: the steps that the executor runs."""
        self.build()
        return self._pipeline.plan_text() if planned else self._graph.text()

    # --- saved forms --------------------------------------------------------------------------------------------------

    def checkpoint(self, filename=None):
        """The state behind the last batch that was handed out, as bytes; also written to `filename`.

        Pipeline(checkpoint=...) goes on from it bit for bit, also with another batch size or number of shards.
        """
        self.build()
        state = self._pipeline.checkpoint().encode()
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(state)
        return state

    def to_json(self):
        """The graph and the options as JSON, which C++ loads without Python."""
        from .saved_pipeline import with_declared

        self.build()
        for node, (_, line) in self._functions.items():
            raise ValueError(
                f"[{self._graph.op_of(node)}] the pipeline cannot be saved: '{self._graph.name_of(node)}' calls a "
                f"function of this program\n  at {line}"
            )
        return with_declared(self._pipeline.to_json(), self._declared)

    def save(self, path):
        """Writes to_json() to a file."""
        text = self.to_json()  # what is there stays there where this fails
        with open(path, "w") as file:
            file.write(text)

    def serialize(self, define_graph=None, filename=None):
        """As to_json(), as bytes."""
        self.build(define_graph)
        data = self.to_json().encode()
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(data)
        return data

    @classmethod
    def deserialize(cls, serialized_pipeline=None, filename=None, **kwargs):
        """A pipeline from serialize(), to_json() or a file; keywords override what was stored."""
        from .saved_pipeline import load

        return load(Pipeline, serialized_pipeline, filename, kwargs)

    load = deserialize

    @classmethod
    def deserialize_and_build(cls, serialized_pipeline):
        return cls.deserialize(serialized_pipeline)

    def save_graph_to_dot_file(self, filename, *, show_tensors=False, show_ids=None, use_colors=False):
        """Writes the graph for Graphviz."""
        from .graphviz import dot_text

        self.build()
        with open(filename, "w") as file:
            file.write(dot_text(self._graph, show_tensors, use_colors))


for _name in (
    "batch_size",
    "num_threads",
    "device_id",
    "seed",
    "exec_pipelined",
    "exec_async",
    "bytes_per_sample",
    "set_affinity",
    "max_streams",
    "default_cuda_stream_priority",
    "enable_memory_stats",
    "enable_checkpointing",
    "py_num_workers",
    "py_start_method",
    "exec_dynamic",
    "stream_policy",
    "concurrency",
):
    setattr(Pipeline, _name, property(lambda self, _name=_name: self._given[_name]))


def _current_gpu():
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch is not None and torch.cuda.is_initialized() else -1


def pipeline_def(fn=None, *, enable_conditionals=False, **pipeline_kwargs):
    """Turns a function that returns values of a pipeline into one that returns a Pipeline.

    With or without parentheses. Keywords that are Pipeline's arguments go to it, those of the call before those of the
    decorator; the rest go to the function.
    """
    import inspect

    known = _parameters()
    for name in pipeline_kwargs:
        if name not in known:
            raise TypeError(f"pipeline_def() got an argument '{name}' that Pipeline does not have")

    def decorate(function):
        own = set()
        try:
            own = set(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            pass

        @functools.wraps(function)
        def create(*args, **kwargs):
            kwargs.pop("enable_conditionals", None) if "enable_conditionals" not in own else None
            both = own & known & set(kwargs)
            if both:
                raise ValueError(f"the argument '{sorted(both)[0]}' belongs to the function and to Pipeline")
            options = {**pipeline_kwargs, **{k: v for k, v in kwargs.items() if k in known}}
            rest = {k: v for k, v in kwargs.items() if k not in known}
            pipeline = made_by(function, args, rest, options)
            pipeline._definition = create, args, kwargs
            return pipeline

        create._is_pipeline_def = True
        return create

    return decorate if fn is None else decorate(fn)


@functools.lru_cache(None)
def _parameters():
    import inspect

    return frozenset(inspect.signature(Pipeline.__init__).parameters) - {"self"}


atexit.register(_close_all)
