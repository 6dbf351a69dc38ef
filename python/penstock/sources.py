# SPDX-License-Identifier: Apache-2.0
"""external_source: batches from a callable, a generator, an iterable, or fed by hand."""

from __future__ import annotations

import functools
import json
from types import GeneratorType

from . import _core, graph
from .types import BatchInfo, SampleInfo, to_numpy_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, overload

    from .graph import DataNode


if TYPE_CHECKING:

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
    generator function anew, and calls a callable with 0 again. A generator object has one epoch, and an error says
    so in the second.

    Args:
        source: None: Pipeline.feed_input() brings the data. Else a callable of no argument, of the iteration in the
            epoch (batch_info=True: of a BatchInfo), with batch=False of a SampleInfo, or an iterable, a generator or
            a generator function. StopIteration ends the data until Pipeline.reset(); then the source is asked again.
        num_outputs: The source gives tuples of so many arrays; the result is a list of values.
        cycle: Of iterables and generator functions. None, False or "no": the data end with them; after reset() the
            same iterator is asked again, which gives the next epoch where its __next__() goes on after
            StopIteration. "quiet" or True: they start over, the data never end. "raise": StopIteration after each
            pass, and reset() starts over.
        name: The name by which feed_input() finds the source.
        device: "gpu" puts the batches on a GPU.
        layout: Layout of the samples, one or one for each output.
        dtype: Type of the samples, one or one for each output; checked.
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
    for unknown in kwargs:
        if unknown not in ("preserve", "seed"):
            raise TypeError(f"[external_source] there is no argument '{unknown}'")
    if device not in (None, "cpu"):
        graph.warn_device(device)
    if num_outputs is not None and (not hasattr(num_outputs, "__index__") or num_outputs < 1):
        raise ValueError(f"[external_source] num_outputs must be a positive integer, got {num_outputs!r}")
    if num_outputs is not None and name is not None:
        raise ValueError("[external_source] num_outputs and name are mutually exclusive")
    if source is None:
        if cycle or parallel or batch is False:
            raise ValueError("[external_source] cycle, parallel and batch=False need a source")
    elif repeat_last:
        raise ValueError("[external_source] repeat_last is for data that are fed, without a source")
    if not parallel and (prefetch_queue_depth is not None or bytes_per_sample_hint is not None):
        raise ValueError("[external_source] prefetch_queue_depth and bytes_per_sample_hint are for parallel=True")
    for what, value in (
        ("prefetch_queue_depth", prefetch_queue_depth),
        ("bytes_per_sample_hint", bytes_per_sample_hint),
    ):
        if value is not None and (not hasattr(value, "__index__") or value < 1):
            raise ValueError(f"[external_source] {what} must be a positive integer, got {value!r}")
    if parallel and no_copy is False:
        raise ValueError("[external_source] parallel=True and no_copy=False are mutually exclusive")
    count = 1 if num_outputs is None else int(num_outputs)
    arguments, types = _declared(count, layout, dtype, ndim)
    if num_outputs is not None:
        arguments["num_outputs"] = count
    index = pipeline._graph.add(
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
    per_batch = True if batch is None else bool(batch)
    if source is None:
        pipeline._fed.setdefault(pipeline._graph.name_of(index), FedNode(index, count, repeat_last))
    elif index not in pipeline._sources:  # debug=True comes here with each batch: iter() would begin the source again
        made = make_source(source, count if num_outputs is not None else None, cycle, per_batch, batch_info)
        if parallel:
            from .workers import parallel_source

            made = parallel_source(
                made, source, cycle, pipeline._given, prefetch_queue_depth or 1, bytes_per_sample_hint
            )
            made.name = pipeline._graph.name_of(index)
        made.anew = getattr(pipeline, "_sources_begin_anew", False)
        pipeline._sources[index] = made
    nodes = [graph.DataNode(pipeline, index, k) for k in range(count)]
    return nodes if num_outputs is not None else nodes[0]


def begin_anew(pipeline):
    """From now on each reset() begins the pipeline's iterables from their start, also those that debug=True makes
    later."""
    pipeline._sources_begin_anew = True
    for source in pipeline._sources.values():
        source.anew = True


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


def as_batch(data, what="the source"):
    """What a source gives for one output, as a Batch."""
    try:
        return _as_batch(data, what)
    except TypeError as error:
        raise TypeError(f"[external_source] {error}") from None
    except ValueError as error:
        raise ValueError(f"[external_source] {error}") from None


def _as_batch(data, what):
    if isinstance(data, _core.Batch):
        return data
    if isinstance(data, (list, tuple)):
        for item in data:
            if (
                item is None
                or isinstance(item, (str, int, float, list, tuple))
                and not hasattr(item, "__array_interface__")
            ):
                raise TypeError(f"{what} gave a list with an item of type {type(item).__name__}: samples are arrays")
        return _core.fed_batch(data) if len(data) else _raise_empty(what)
    if data is None or isinstance(data, (str, bytes, int, float)) and not hasattr(data, "__array_interface__"):
        raise TypeError(
            f"{what} gave {type(data).__name__} for a batch: expected an array, a list of arrays or a Batch"
        )
    return _core.fed_batch(data)


def _raise_empty(what):
    raise ValueError(f"{what} returned an empty batch")


class FedNode:
    """An external source that feed_input() feeds."""

    def __init__(self, node, outputs, repeat_last):
        self.node, self.outputs, self.repeat_last = node, outputs, repeat_last
        self.waiting, self.last, self.unread = 0, None, False

    def feed(self, pipeline, data, layout):
        batches = [as_batch(d, "feed_input()") for d in (data if self.outputs > 1 else [data])]
        if layout:
            batches = [_core.fed_batch(b, layout=layout) for b in batches]
        pipeline._pipeline.feed(self.node, batches)
        self.waiting += 1
        self.last = batches if self.repeat_last else None

    def before_run(self, pipeline):
        if self.waiting == 0:
            if self.unread:
                return
            if self.last is None:
                raise IndexError(
                    f"external source '{pipeline._graph.name_of(self.node)}' was not fed: call feed_input() "
                    "before run()"
                )
            pipeline._pipeline.feed(self.node, self.last)
            self.waiting += 1
        self.waiting -= 1


def _positional_count(function):
    """How many positional arguments a callable must get: 0 or 1."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind == p.VAR_POSITIONAL for p in parameters) and not positional:
        return 1
    required = [p for p in positional if p.default is p.empty]
    count = len(required) if required else min(len(positional), 1)
    if count > 1:
        raise TypeError(f"[external_source] a source takes no or one argument, this one needs {count}")
    return count


def make_source(source, outputs, cycle, per_batch, batch_info):
    import inspect

    if cycle not in (None, False, True, "no", "quiet", "raise"):
        raise ValueError(f"[external_source] cycle must be None, 'no', 'quiet', 'raise' or a bool, got {cycle!r}")
    cycle = {None: "no", False: "no", True: "quiet"}.get(cycle, cycle)
    options = (outputs, per_batch)
    if inspect.isgenerator(source) and cycle != "no":
        raise TypeError("[external_source] a generator object cannot start over: give the generator function")
    if inspect.isgeneratorfunction(source) or (
        not isinstance(source, type) and inspect.isgeneratorfunction(getattr(source, "__call__", None))
    ):
        if _positional_count(source):
            raise TypeError("[external_source] a generator function takes no argument")
        return IterableSource(source, source, source(), cycle, *options)
    iterable = hasattr(source, "__iter__") or hasattr(source, "__getitem__")  # what is both, is asked for its items
    if callable(source) and (isinstance(source, type) or not iterable):
        if cycle != "no":
            raise ValueError("[external_source] cycle is for iterables and generator functions, not for callables")
        return CallableSource(source, _positional_count(source), batch_info, *options)
    try:
        iterator = iter(source)
    except TypeError:
        raise TypeError(
            f"[external_source] a source is a callable or an iterable, not {type(source).__name__}"
        ) from None
    return IterableSource(source, functools.partial(iter, source), iterator, cycle, *options)


class _Source:
    """Makes batches of what the user's object gives. The executor calls next(), one thread at a time, under the
    GIL."""

    resumable = False
    read, types = (), ()  # by output: whether anything reads it, what was declared. What nobody reads may be None

    def __init__(self, outputs, per_batch):
        self.outputs, self.per_batch = outputs, per_batch

    def _as_batches(self, given):
        made = [None if self._is_left_out(k, g) else as_batch(g) for k, g in enumerate(given)]
        size = next((len(m) for m in made if m is not None), 0)
        return [_nothing(size, self.types[k]) if m is None else m for k, m in enumerate(made)]

    def _is_left_out(self, output, given):
        if output >= len(self.read) or self.read[output]:
            return False
        return given is None or (isinstance(given, list) and any(g is None for g in given))

    def _split(self, items):
        """One list a sample, of items that are tuples if there are several outputs."""
        if self.outputs is None:
            return [items]
        columns = []
        for k in range(self.outputs):
            column = []
            for item in items:
                if not hasattr(item, "__getitem__") or len(item) <= k:
                    raise IndexError(
                        f"[external_source] the source returned {len(item)} items, but {self.outputs} are needed"
                    )
                column.append(item[k])
            columns.append(column)
        return columns

    def batches(self, given):
        """Of what a source per batch gives."""
        if self.outputs is None:
            return [as_batch(given)]
        if len(given) < self.outputs:
            raise IndexError(f"[external_source] the source returned {len(given)} items, but {self.outputs} are needed")
        return self._as_batches([given[k] for k in range(self.outputs)])

    def reset(self):
        pass

    def state(self):
        return ""

    def restore(self, text):
        pass


def _nothing(samples, type):
    """A batch in the place of one that nobody reads."""
    import numpy

    dtype, ndim, layout = type
    return _core.batch([numpy.zeros((1,) * max(ndim, 0), to_numpy_type(max(dtype, 0)))] * samples, layout=layout)


def without_unread(pipeline):
    """What nobody reads is not asked and needs no data; of a source that is read in part, `read` says what."""
    for node, source in list(pipeline._sources.items()):
        read = pipeline._graph.read_outputs(node)
        types = [pipeline._graph.type_of(graph.DataNode(pipeline, node, k)) for k in range(len(read))]
        for one in (source, getattr(source, "made", source)):
            one.read, one.types = read, types
        if not any(read):
            del pipeline._sources[node]
    for fed in pipeline._fed.values():
        if pipeline._graph.fed(fed.node) == "batches":
            fed.unread = not any(pipeline._graph.read_outputs(fed.node))


class _StatefulSource(_Source):
    """Sources with state_dict() and load_state_dict(); what they return must be JSON."""

    owner = None

    def state(self):
        return json.dumps(self.owner.state_dict()) if self.owner is not None else ""

    def restore(self, text):
        if self.owner is not None and text:
            self.owner.load_state_dict(json.loads(text))


def _stateful(source):
    return source if hasattr(source, "state_dict") and hasattr(source, "load_state_dict") else None


class CallableSource(_StatefulSource):
    def __init__(self, function, arguments, batch_info, outputs, per_batch):
        super().__init__(outputs, per_batch)
        self.function, self.arguments, self.batch_info = function, arguments, bool(batch_info)
        self.owner = _stateful(function) or _stateful(getattr(function, "__self__", None))
        self.resumable = arguments == 1 or self.owner is not None

    def requests(self, in_epoch, epoch, batch_size):
        """The arguments of the calls that make one batch."""
        if not self.arguments:
            return [()] * (1 if self.per_batch else batch_size)
        if self.per_batch:
            return [(BatchInfo(in_epoch, epoch) if self.batch_info else in_epoch,)]
        return [(SampleInfo(in_epoch * batch_size + i, i, in_epoch, epoch),) for i in range(batch_size)]

    def assemble(self, given):
        return self.batches(given[0]) if self.per_batch else self._as_batches(self._split(given))

    def next(self, iteration, in_epoch, epoch, batch_size):
        return self.assemble([self.function(*r) for r in self.requests(in_epoch, epoch, batch_size)])


class IterableSource(_StatefulSource):
    anew = False  # reset() begins the iterable from its start, as a new `for` would; a loader's epochs do

    def __init__(self, whole, restart, iterator, cycle, outputs, per_batch):
        super().__init__(outputs, per_batch)
        self.whole, self.begin, self.cycle, self.ended, self.spent = whole, restart, cycle, False, False
        self._iterate(iterator)
        self.resumable = self.owner is not None

    def _iterate(self, iterator):
        self.iterator = iterator
        self.owner = _stateful(iterator) or _stateful(self.whole)

    def item(self):
        if self.spent:
            raise RuntimeError(
                "[external_source] the source is a generator object, which has one epoch: give the generator function, "
                "which each epoch calls anew"
            )
        if self.ended:
            raise StopIteration
        try:
            return next(self.iterator)
        except StopIteration:
            if self.cycle != "quiet":
                self.ended = True
                raise
            self._iterate(iter(self.begin()))
            return next(self.iterator)

    def next(self, iteration, in_epoch, epoch, batch_size):
        if self.per_batch:
            return self.batches(self.item())
        return self._as_batches(self._split([self.item() for _ in range(batch_size)]))

    def reset(self):
        """Without a cycle the same iterator is asked again: it may have begun its next epoch."""
        if self.anew or (self.ended and self.cycle == "raise"):
            self._iterate(iter(self.begin()))
            self.spent = isinstance(self.whole, GeneratorType)
        self.ended = False
