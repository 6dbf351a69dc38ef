# SPDX-License-Identifier: Apache-2.0
"""A pipeline in the trainer's process, which may use its GPU, for the processes of a torch DataLoader.

    @pipeline_def(batch_size=64)
    def augment():
        images = fn.decoders.image(fn.external_source(name="files"), device="mixed")
        return fn.random_resized_crop(images, size=[224, 224])

    with Server(augment()) as server:
        dataset = ImageFolder(root, loader=read_bytes, transform=server.proxy)   # __getitem__ calls proxy(bytes)
        for images, labels in DataLoader(server, dataset, batch_size=64, num_workers=8):
            ...

A call of the proxy stands for one sample of the pipeline's outputs. The collate function writes a batch of calls
into one block of shared memory, the loader's own queue brings it to the trainer, and the pipeline runs while the
trainer works on the batches before. Batches reach the pipeline in the loader's order, however its processes overtake
each other, so that an epoch draws the same random numbers each time.
"""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import functools
import inspect
import queue
import threading
import uuid
import weakref

import numpy as np
import torch
from torch.utils import data as torch_data
from torch.utils.data._utils.collate import default_collate_fn_map

from ..._pipeline import Pipeline
from ..interface import alike, batch as batch_of, put_together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["DataLoader", "Proxy", "Server"]

_ALIGNMENT = 64
_UNCOLLATED = (
    "[proxy] what the proxy gave for a sample has not been collated: the collate function must put samples together "
    "with torch.utils.data.default_collate()"
)


# --- in the loader's processes ------------------------------------------------------------------------------------------


class _Call:
    """The inputs of one sample, until they are part of a request."""

    __slots__ = ("server", "inputs", "request", "place")

    def __init__(self, server, inputs):
        self.server, self.inputs, self.request, self.place = server, inputs, None, 0


class SampleOutput:
    """Stands for one output of the pipeline for one sample, until a collate function makes a BatchOutput of a batch
    of them."""

    __slots__ = ("call", "output")

    def __init__(self, call, output):
        self.call, self.output = call, output

    def __reduce__(self):  # an error here would be lost in a thread of the loader's process: the trainer raises it
        return SampleOutput, (None, self.output)


class BatchOutput:
    """Stands for one output of the pipeline for a batch of samples, until Server.produce_data() puts tensors in its
    place."""

    __slots__ = ("request", "output")

    def __init__(self, request, output):
        self.request, self.output = request, output


class _Request:
    """The inputs of a batch of calls, in one block of memory: shared memory where a process of a loader makes it."""

    def __init__(self, calls):
        self.server, self.count = calls[0].server, len(calls)
        info = torch_data.get_worker_info()
        self.worker = None if info is None else info.id
        self.parts = {}  # name -> (type, [(offset, shape) of each sample]), or (type, offset, their one shape)
        size, columns = 0, {}
        for name in calls[0].inputs:
            arrays = columns[name] = [call.inputs[name] for call in calls]
            first = arrays[0]
            for k, a in enumerate(arrays):
                if a.dtype != first.dtype or a.ndim != first.ndim:
                    raise ValueError(
                        f"[proxy] the samples of a batch differ in input '{name}': sample 0 is {first.dtype} with "
                        f"{first.ndim} dimensions, sample {k} is {a.dtype} with {a.ndim}"
                    )
            if all(a.shape == first.shape for a in arrays):
                self.parts[name] = first.dtype.str, size, first.shape
                size += _aligned(first.nbytes * len(arrays))
                continue
            places = []
            for a in arrays:
                places.append((size, a.shape))
                size += _aligned(a.nbytes)
            self.parts[name] = first.dtype.str, places
        if info is None:
            self.block = torch.empty(size, dtype=torch.uint8)
        else:  # as torch's own collate functions do
            self.block = torch.empty(0, dtype=torch.uint8).set_(torch.UntypedStorage._new_shared(size))
        for name, arrays in columns.items():
            room = self.views(name)
            for k, a in enumerate(arrays):
                if isinstance(room, list):
                    room[k][...] = a
                else:
                    room[k] = a
        for place, call in enumerate(calls):
            call.request, call.place, call.inputs = self, place, None

    def views(self, name):
        """An array of all samples, or a list of their arrays, over the block."""
        kind, *rest = self.parts[name]
        memory, kind = self.block.numpy(), np.dtype(kind)

        def at(offset, shape):
            return (
                memory[offset : offset + int(np.prod(shape, dtype=np.int64)) * kind.itemsize].view(kind).reshape(shape)
            )

        if len(rest) == 2:
            return at(rest[0], (self.count, *rest[1]))
        return [at(*place) for place in rest[0]]


def _aligned(size):
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _array(value, name):
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"[proxy] input '{name}' is not an array: {error}") from None
    if array.dtype.hasobject or array.dtype.kind not in "biuf":
        raise TypeError(
            f"[proxy] input '{name}' must be an array of numbers, bytes or a number, got {type(value).__name__}"
        )
    return array


def _collate(samples, *, collate_fn_map=None):
    """Collates a list of SampleOutput for torch's default_collate()."""
    first = samples[0]
    request = first.call.request
    for k, s in enumerate(samples):
        if s.call.server != first.call.server or s.output != first.output:
            raise ValueError(
                f"[proxy] sample {k} of a batch is of another proxy, or another output of it, than sample 0"
            )
        if s.call.request is not request or (request is not None and s.call.place != k):
            raise ValueError(f"[proxy] the outputs of one call must be collated in one order: sample {k} differs")
    if request is not None and request.count != len(samples):
        raise ValueError(f"[proxy] one output was collated for {request.count} samples, another for {len(samples)}")
    return BatchOutput(request or _Request([s.call for s in samples]), first.output)


default_collate_fn_map[SampleOutput] = _collate


class Proxy:
    """Stands in for the outputs of a pipeline in a data set; it is the `proxy` of a Server.

    It is called with the inputs of the pipeline for one sample, one input by position or name, several by their
    names. An input is an array (NumPy, torch, pictures of Pillow), bytes, a text (its bytes in UTF-8) or a number.
    The result has the form of the outputs of the pipeline: one, a tuple, or dictionaries, lists and tuples. A Proxy
        crosses to other processes with a data set.

    Args:
        server, inputs, form: What the Server knows of its pipeline.
    """

    def __init__(self, server, inputs, form):
        self._server, self._inputs, self._form = server, tuple(inputs), form
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if len(inputs) == 1 else inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in self._inputs])

    def __call__(self, *args, **kwargs):
        try:
            given = self.__signature__.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"[proxy] {error}; the pipeline's inputs are {', '.join(self._inputs)}") from None
        call = _Call(self._server, {name: _array(given[name], name) for name in self._inputs})
        return put_together(self._form, _Outputs(call))


class _Outputs:
    def __init__(self, call):
        self.call = call

    def __getitem__(self, k):
        return SampleOutput(self.call, k)


# --- in the trainer's process -------------------------------------------------------------------------------------------


def _take(driver, runs):
    """The server's thread: outputs in the order in which their iterations were scheduled. No signal's handler runs
    here."""
    for future in iter(runs.get, None):
        try:
            future.set_result(driver.end_run().outputs)
        except BaseException as error:
            future.set_exception(error)
        del future


class Server:
    """Runs a pipeline on what calls of `proxy` were given.

    An output is a torch tensor, or a list of tensors where samples differ in shape. An error of the pipeline is
    raised for its batch and names the operator and the sample, with its number in the data set where `DataLoader`
    knows it; the loader can continue after it. The numbers of samples follow the pipeline: after fn.filter or with
    on_error="skip" they are not those of what the loader collates by itself.

    Args:
        pipeline: Its inputs are the external sources without a source of their own; its batch_size is the largest
            batch of the loader; its prefetch_queue_depth counts the batches on their way to the trainer, beside
            those that the processes of the loader prepare.

    Raises:
        TypeError: It is not a Pipeline.
        ValueError: The pipeline has no inputs, or debug=True.
    """

    def __init__(self, pipeline: Pipeline[Any]) -> None:
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"a pipeline was expected, got {type(pipeline).__name__}")
        if pipeline.debug:
            raise ValueError("a pipeline with debug=True cannot be served")
        self.pipeline, self._driver = pipeline, pipeline.driver()
        if not self._driver.inputs:
            raise ValueError("the pipeline has no inputs: fn.external_source(name=...) without a source is one")
        self._key = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._thread, self._last = None, None
        self.proxy = Proxy(self._key, self._driver.inputs, self._driver.output_form)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Waits for what the pipeline has begun and ends the thread of the server.

        The next batch starts another one.
        """
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._end()
                thread.join()

    def produce_data(self, batch: Any) -> Any:
        """Puts tensors wherever a batch has a BatchOutput of this server.

        The pipeline runs now: `DataLoader` of this module does it ahead of the trainer.

        Args:
            batch: What a torch DataLoader gives.
        """
        return _produced(batch, _submit(batch, {self._key: self}))

    def _begin_epoch(self):
        """What random operators draw follows from the number of the epoch and the place in it: however many batches
        an epoch had begun that was left early, the next one draws the same."""
        with self._lock:
            if self._last is not None:
                concurrent.futures.wait([self._last])
                self.pipeline.reset()
                self._last = None

    def _run(self, request, numbers, stop):
        """A future of the pipeline's outputs. numbers: of the samples in the data set, where they are known. stop:
        an event: nothing is to be begun any more."""
        if request.count > self.pipeline.max_batch_size:
            raise ValueError(
                f"the loader's batch has {request.count} samples, the pipeline's batch_size is "
                f"{self.pipeline.max_batch_size}"
            )
        if numbers is not None and len(numbers) == request.count and all(hasattr(n, "__index__") for n in numbers):
            names = [f"sample {n} of the data set" for n in numbers]
        else:
            worker = "" if request.worker is None else f" of worker {request.worker}"
            names = [f"sample {k} of a batch{worker}" for k in range(request.count)]
        batches = {name: batch_of(request.views(name)) for name in self._driver.inputs}
        future = concurrent.futures.Future()
        with self._lock:
            if stop is not None and stop.is_set():
                raise _Left
            if self._thread is None:
                self._start()
            for name, batch in batches.items():
                batch.set_sources(names)
                self._driver.feed(name, batch)
            self._driver.begin_run()
            self._runs.put(future)
            self._last = future
        return future

    def _start(self):
        self._runs = queue.SimpleQueue()
        self._end = weakref.finalize(self, self._runs.put, None)
        self._thread = threading.Thread(
            target=_take, args=(self._driver, self._runs), name="penstock-server", daemon=True
        )
        self._thread.start()


def _mapped(value, change, seen=None):
    """`value` with change(o) in the place of each BatchOutput o in its dictionaries, lists, tuples and objects; what
    holds none stays as it is. Objects are changed, the rest is made new."""
    if isinstance(value, BatchOutput):
        return change(value)
    if isinstance(value, SampleOutput):
        raise TypeError(_UNCOLLATED)
    if value is None or isinstance(value, (torch.Tensor, np.ndarray, str, bytes, int, float, type, torch.nn.Module)):
        return value
    seen = set() if seen is None else seen
    if id(value) in seen:
        return value
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        items = [_mapped(item, change, seen) for item in value]
        if all(new is old for new, old in zip(items, value)):
            return value
        return alike(value, items) if type(value) in (list, tuple) or hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        items = {key: _mapped(item, change, seen) for key, item in value.items()}
        if all(items[key] is value[key] for key in items):
            return value
        return items if type(value) is dict else type(value)(items)
    for name, old in list(getattr(value, "__dict__", {}).items()):
        new = _mapped(old, change, seen)
        if new is not old:
            setattr(value, name, new)
    return value


def _submit(batch, servers, numbers=None, stop=None):
    """{request: future of its outputs} for all requests in `batch`."""
    found = {}

    def begin(output):
        request = output.request
        if request not in found:
            if request.server not in servers:
                raise ValueError(
                    "a batch holds samples of a proxy whose server was not given: DataLoader([server, other], ...) "
                    "takes several"
                )
            found[request] = servers[request.server]._run(request, numbers, stop)
        return output

    _mapped(batch, begin)
    return found


def _tensors(batch):
    return batch.torch() if batch.is_uniform() else [t.torch() for t in batch]


def _produced(batch, runs):
    """Waits for the tensors and returns `batch` with them. On a GPU they are in the order of torch's current stream."""
    made = {}

    def tensor(output):
        key = (output.request, output.output)
        if key not in made:
            made[key] = _tensors(runs[output.request].result()[output.output])
        return made[key]

    return _mapped(batch, tensor)


class _Noted:
    """A sampler of batches that notes the numbers of their samples. It does not hold the loader: torch's iterator
    ends its processes when its last user drops it, not whenever a cycle is found."""

    def __init__(self, sampler, notes):
        self.sampler, self.notes = sampler, notes

    def __iter__(self):
        return self._note(self.notes[-1])

    def _note(self, noted):
        for numbers in self.sampler:
            noted.append(numbers)
            yield numbers

    def __len__(self):
        return len(self.sampler)


class _Left(Exception):
    """The epoch ended early while its thread had a batch."""


def _next_entry(inner, noted, servers, stop):
    """(batch, what runs for it, None) of the loader's next batch, or (None, None, error); None at its end."""
    numbers = None
    try:
        try:
            batch = next(inner)
        finally:
            numbers = noted.popleft() if noted else None
        return batch, _submit(batch, servers, numbers, stop), None
    except (StopIteration, _Left):
        return None
    except Exception as error:
        return None, None, error


def _pull(fetch, room, ready, stop):
    """The thread of an iteration: batches as the loader's processes finish them, as many ahead as there is room
    for."""
    while True:
        room.acquire()
        if stop.is_set():
            return
        entry = fetch()
        ready.put(entry)
        if entry is None:
            return
        del entry


def _stop(stop, room):
    stop.set()
    room.release()


class _Iteration:
    """One epoch of a DataLoader. fetch: _next_entry() with its arguments; stop: an event that ends the thread; None:
    there is none."""

    def __init__(self, fetch, depth, stop):
        self._fetch, self._ahead, self._depth, self._thread, self._ended = (
            fetch,
            collections.deque(),
            depth,
            None,
            False,
        )
        if stop is None:
            return
        self._fetch, self._ready, self._room = None, queue.SimpleQueue(), threading.Semaphore(depth)
        self.end = weakref.finalize(self, _stop, stop, self._room)
        self.end.atexit = False
        self._thread = threading.Thread(
            target=_pull, args=(fetch, self._room, self._ready, stop), name="penstock-loader", daemon=True
        )
        self._thread.start()
        _pulling.add(self)

    def __iter__(self):
        return self

    def _entry(self):
        if self._thread is not None and not self._ended:
            entry = self._ready.get()
            self._room.release()
            self._ended = entry is None
            return entry
        while not self._ended and len(self._ahead) < self._depth:
            entry = self._fetch()
            self._ended = entry is None
            if entry is not None:
                self._ahead.append(entry)
        return self._ahead.popleft() if self._ahead else None

    def __next__(self):
        entry = self._entry()
        if entry is None:
            raise StopIteration
        batch, runs, error = entry
        try:
            if error is not None:
                raise error
            return _produced(batch, runs)
        finally:
            del entry, batch, runs, error  # an error holds this frame


_pulling = weakref.WeakSet()


@atexit.register
def _end_all():  # a thread that is inside torch's loader must not continue when the interpreter ends
    for iteration in list(_pulling):
        iteration.end()
        iteration._thread.join(timeout=1)


class DataLoader(torch_data.DataLoader):
    """Loads batches as torch does, with tensors where its data set has called the proxy of a server.

    With num_workers=0 the code of the data set runs in the thread of the trainer. An epoch may be left at any time,
    also with persistent_workers=True. Each epoch resets the pipelines.

    Args:
        servers: A Server or a list of them.
        *args, **kwargs: Those of torch.utils.data.DataLoader.
    """

    def __init__(self, servers: Server | Sequence[Server], *args: Any, **kwargs: Any) -> None:
        given = list(servers) if isinstance(servers, (list, tuple)) else [servers]
        for server in given:
            if not isinstance(server, Server):
                raise TypeError(f"servers must be a Server or a list of them, got {type(server).__name__}")
        self.servers, self._notes, self._last = given, [collections.deque()], None
        super().__init__(*args, **kwargs)

    @property
    def _index_sampler(self):
        return _Noted(super()._index_sampler, self._notes)

    def __iter__(self) -> Any:
        if (
            self._last is not None
        ):  # torch's iterator may be used again, and must not be there when processes are forked
            end, thread = self._last
            end()
            thread.join()
        noted = self._notes[-1] = collections.deque()
        inner = super().__iter__()  # in the caller's thread, which forks and hears of processes that die
        numbered = getattr(self, "in_order", True) and not isinstance(self.dataset, torch_data.IterableDataset)
        noted = noted if numbered else ()
        for server in self.servers:
            server._begin_epoch()
        depth = max(server.pipeline.cpu_queue_size for server in self.servers)
        stop = threading.Event() if self.num_workers > 0 else None
        servers = {server._key: server for server in self.servers}
        made = _Iteration(functools.partial(_next_entry, inner, noted, servers, stop), depth, stop)
        self._last = (made.end, made._thread) if made._thread is not None else None
        return made
