# SPDX-License-Identifier: Apache-2.0
"""external_source: batches from a callable, a generator, an iterable, or fed by hand."""

from __future__ import annotations

from .. import _core, _graph as graph
from .fed import FedNode, add_fed
from .objects import make_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, overload

    from .._graph import DataNode

    @overload
    def external_source(
        source: Any = None,
        num_outputs: None = None,
        *,
        cycle: Any = None,
        name: str | None = None,
        device: str | None = "cpu",
        layout: Any = None,
        dtype: Any = None,
        ndim: Any = None,
        cuda_stream: Any = None,
        use_copy_kernel: Any = None,
        blocking: Any = None,
        batch: bool | None = None,
        repeat_last: bool = False,
        parallel: bool | None = None,
        no_copy: bool | None = None,
        prefetch_queue_depth: int | None = None,
        bytes_per_sample_hint: Any = None,
        batch_info: bool | None = None,
        **kwargs: Any,
    ) -> DataNode: ...
    @overload
    def external_source(
        source: Any = None,
        num_outputs: int = ...,
        *,
        cycle: Any = None,
        name: str | None = None,
        device: str | None = "cpu",
        layout: Any = None,
        dtype: Any = None,
        ndim: Any = None,
        cuda_stream: Any = None,
        use_copy_kernel: Any = None,
        blocking: Any = None,
        batch: bool | None = None,
        repeat_last: bool = False,
        parallel: bool | None = None,
        no_copy: bool | None = None,
        prefetch_queue_depth: int | None = None,
        bytes_per_sample_hint: Any = None,
        batch_info: bool | None = None,
        **kwargs: Any,
    ) -> list[DataNode]: ...


def external_source(
    source: Any = None,
    num_outputs: int | None = None,
    *,
    cycle: Any = None,
    name: str | None = None,
    device: str | None = "cpu",
    layout: Any = None,
    dtype: Any = None,
    ndim: Any = None,
    cuda_stream: Any = None,
    use_copy_kernel: Any = None,
    blocking: Any = None,
    batch: bool | None = None,
    repeat_last: bool = False,
    parallel: bool | None = None,
    no_copy: bool | None = None,
    prefetch_queue_depth: int | None = None,
    bytes_per_sample_hint: Any = None,
    batch_info: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Takes batches that the program supplies.

    A batch is an array (the first axis counts the samples), a list of arrays or a Batch; samples may differ in
    shape. An object with state_dict() and load_state_dict(), or a callable that takes an argument, can be resumed
    from a checkpoint. In loops over penstock.torch.DataLoader each epoch begins an iterable from its start, calls a
    generator function again, and calls a callable with 0 again. A generator object has one epoch, and an error says
    so in the second.

    Args:
        source: None: Pipeline.feed_input() brings the data. Else a callable of no argument, of the iteration in the
            epoch (batch_info=True: of a BatchInfo), with batch=False of a SampleInfo, or an iterable, a generator or
            a generator function. StopIteration ends the data until Pipeline.reset(); then the source is asked again.
        num_outputs: The source gives tuples of this many arrays; the result is a list of values.
        cycle: Of iterables and generator functions. None, False or "no": the data end with them; after reset() the
            same iterator is asked again, which gives the next epoch where its __next__() continues after
            StopIteration. "quiet" or True: they start over, the data never end. "raise": StopIteration after each
            pass, and reset() starts over.
        name: The name by which feed_input() finds the source.
        device: "gpu" puts the batches on a GPU.
        layout: The layout of the samples, one or one for each output.
        dtype: The element type of the samples, one or one for each output; checked.
        ndim: Number of dimensions of the samples, one or one for each output; checked.
        batch: False: the source returns single samples. None means True.
        batch_info: The callable gets a BatchInfo with the iteration and the epoch instead of a number.
        repeat_last: Where nothing new was fed, the last batch again.
        parallel: True: a callable (of exactly one argument) runs in the py_num_workers processes of the pipeline, an
            iterable or a generator function (batch=True) in one of its own. Their arrays come through shared memory
            and are used where they lie. A process that ends is a WorkerError of the next run().
        prefetch_queue_depth: With parallel=True: batches that the processes make ahead.
        bytes_per_sample_hint: With parallel=True: shared memory that each sample takes at first.
        cuda_stream, use_copy_kernel, blocking, no_copy: Accepted without effect.
        **kwargs: `preserve` and `seed`, accepted without effect.

    Returns:
        A value of the pipeline; with `num_outputs` a list of them.

    Raises:
        TypeError: An argument is unknown, or the source is of a kind that cannot be asked.
        ValueError: Arguments are mutually exclusive, or a value is out of range.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers():
        ...     return fn.external_source(source=lambda i: [np.int32(i), np.int32(i + 1)])
        >>> batch, = numbers().run()
        >>> batch.as_array().tolist()
        [0, 1]
    """
    pipeline = graph.required("fn.external_source(...)")
    definition = pipeline.definition
    for unknown in kwargs:
        if unknown not in ("preserve", "seed"):
            raise TypeError(f"[external_source] there is no argument '{unknown}'")
    if device not in (None, "cpu"):
        graph.warn_device(device)
    _check_number("num_outputs", num_outputs)
    if num_outputs is not None and name is not None:
        raise ValueError("[external_source] num_outputs and name are mutually exclusive")
    if source is None and num_outputs is not None:
        raise ValueError("[external_source] num_outputs needs a source; for feed_input() make a node for each output")
    _check_kind(source, cycle, parallel, batch, repeat_last)
    _check_workers(parallel, no_copy, prefetch_queue_depth, bytes_per_sample_hint)
    count = 1 if num_outputs is None else int(num_outputs)
    arguments, types = _declared(count, layout, dtype, ndim)
    if num_outputs is not None:
        arguments["num_outputs"] = count
    index = definition.graph.add(
        "external_source",
        [],
        arguments,
        "" if name is None else str(name),
        -1,
        graph.user_line(),
        count,
        types,
        "" if device in (None, "cpu") else device,
    )
    if source is None:
        add_fed(pipeline, definition.graph.name_of(index), FedNode(index, count, repeat_last))
    elif (
        index not in definition.sources
    ):  # debug=True runs this for each batch, and iter() would start the source again
        per_batch = True if batch is None else bool(batch)
        made = make_source(source, count if num_outputs is not None else None, cycle, per_batch, batch_info)
        if parallel:
            made = _in_workers(definition, index, made, source, cycle, prefetch_queue_depth, bytes_per_sample_hint)
        made.anew = definition.sources_begin_anew
        definition.sources[index] = made
    nodes = [graph.DataNode(pipeline, index, k) for k in range(count)]
    return nodes if num_outputs is not None else nodes[0]


def _check_number(what, value):
    if value is not None and (not hasattr(value, "__index__") or value < 1):
        raise ValueError(f"[external_source] {what} must be a positive integer, got {value!r}")


def _check_kind(source, cycle, parallel, batch, repeat_last):
    if source is None:
        if cycle or parallel or batch is False:
            raise ValueError("[external_source] cycle, parallel and batch=False need a source")
    elif repeat_last:
        raise ValueError("[external_source] repeat_last is for data that are fed, without a source")


def _check_workers(parallel, no_copy, prefetch_queue_depth, bytes_per_sample_hint):
    if not parallel and (prefetch_queue_depth is not None or bytes_per_sample_hint is not None):
        raise ValueError("[external_source] prefetch_queue_depth and bytes_per_sample_hint are for parallel=True")
    _check_number("prefetch_queue_depth", prefetch_queue_depth)
    _check_number("bytes_per_sample_hint", bytes_per_sample_hint)
    if parallel and no_copy is False:
        raise ValueError("[external_source] parallel=True and no_copy=False are mutually exclusive")


def _in_workers(definition, index, made, source, cycle, prefetch_queue_depth, bytes_per_sample_hint):
    from .parallel import parallel_source

    made = parallel_source(made, source, cycle, definition.options, prefetch_queue_depth or 1, bytes_per_sample_hint)
    made.name = definition.graph.name_of(index)
    return made


def _declared(count, layout, dtype, ndim):
    def each(value, name):
        if value is None or isinstance(value, str) or not hasattr(value, "__len__"):
            return [value] * count
        if len(value) > count:
            raise ValueError(f"[external_source] {name} names {len(value)} outputs of {count}")
        return list(value) + [None] * (count - len(value))

    layouts, dtypes, ndims = each(layout, "layout"), each(dtype, "dtype"), each(ndim, "ndim")
    dtypes = [-1 if d is None else _core.dtype_number(d) for d in dtypes]
    layouts = ["" if v is None else str(v) for v in layouts]
    if any(n is not None and int(n) < 0 for n in ndims):
        raise ValueError(f"[external_source] ndim must not be negative, got {ndim}")
    ndims = [(len(v) if v else -1) if n is None else int(n) for v, n in zip(layouts, ndims)]
    for text, n in zip(layouts, ndims):
        if text and n != len(text):
            raise ValueError(f"[external_source] layout '{text}' has {len(text)} letters, ndim is {n}")
    arguments = {}
    if any(layouts):
        arguments["layout"] = layouts
    if any(d >= 0 for d in dtypes):
        arguments["dtype"] = dtypes
    if any(n >= 0 for n in ndims):
        arguments["ndim"] = ndims
    return arguments, [(d, n, v) for d, n, v in zip(dtypes, ndims, layouts)]


def begin_anew(definition):
    """Makes each reset() begin the iterables of a pipeline from their start, also those that debug=True makes later."""
    definition.sources_begin_anew = True
    for source in definition.sources.values():
        source.anew = True


def without_unread(definition):
    """Drops sources that nothing reads: they need no data. `read` of the others says which outputs are read."""
    for node, source in list(definition.sources.items()):
        read = definition.graph.read_outputs(node)
        types = [definition.graph.type_of(_core.NodeRef(node, k)) for k in range(len(read))]
        for one in (source, getattr(source, "made", source)):
            one.read, one.types = read, types
        if not any(read):
            del definition.sources[node]
    for fed in definition.fed.values():
        if definition.graph.fed(fed.node) == "batches":
            fed.unread = not any(definition.graph.read_outputs(fed.node))
