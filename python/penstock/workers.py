# SPDX-License-Identifier: Apache-2.0
"""external_source(parallel=True): the user's callable or iterable in processes of its own, some batches ahead."""
import collections
import importlib
import os
import threading
import time

from .sources import IterableSource, make_source

_function = None  # of a worker process: the user's callable
_iterable = None  # of a worker process: the source over the user's iterable


def _loaded(sent):
    """What _Workers._sent() made of the user's object."""
    module, data, options = sent
    return importlib.import_module(module).loads(data, **options) if module else data


def _end_with(parent):
    """Ends this process soon after its parent: one that is killed cannot tell its workers, who would wait for ever."""
    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)
    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()


def _begin_function(sent, parent):
    global _function
    _end_with(parent)
    _function = _loaded(sent)


def _begin_iterable(sent, parent, cycle):
    global _iterable
    _end_with(parent)
    _iterable = make_source(_loaded(sent), None, cycle, True, None)


def _call(arguments):
    try:
        return True, _portable(_function(*arguments))
    except StopIteration:
        return False, None


def _next_item():
    try:
        return True, _portable(_iterable.item())
    except StopIteration:
        return False, None


def _restart():
    _iterable.reset()


def _portable(result):
    """Tensors and batches as NumPy arrays, which can be sent between processes."""
    from . import _core
    if isinstance(result, _core.Tensor):
        return result.numpy()
    if isinstance(result, _core.Batch):
        return [t.numpy() for t in result]
    if isinstance(result, tuple):
        return tuple(_portable(r) for r in result)
    if isinstance(result, list):
        return [_portable(r) for r in result]
    return result


def parallel_source(made, source, cycle, given, depth):
    """The parallel form of what make_source() made of `source`; `given`: the pipeline's arguments."""
    if isinstance(made, IterableSource):
        if not made.per_batch:
            raise TypeError("[external_source] parallel=True with an iterable or a generator function needs batch=True")
        return ParallelIterable(made, source, cycle, given, depth)
    if made.arguments != 1:
        raise TypeError("[external_source] parallel=True needs a callable of exactly one argument")
    return ParallelCallable(made, source, given, depth)


class _Workers:
    """A pool of processes, and the requests of the next `depth` batches that it works on."""

    resumable = False
    op, what = "external_source", "source"

    def __init__(self, made, source, count, given, depth):
        self.made, self.user_source, self.count, self.method = made, source, count, given["py_start_method"]
        self.pickler, self.depth, self.pool = given["py_callback_pickler"], max(1, int(depth)), None
        self.ahead = collections.deque()

    def _sent(self):
        """The user's object as it is, or written by py_callback_pickler where it must cross to a new interpreter."""
        if self.pickler is None or self.method == "fork":
            return None, self.user_source, {}
        pickler, writing, reading = (*self.pickler, {}, {})[:3] if isinstance(self.pickler, tuple) else (self.pickler, {}, {})
        return pickler.__name__, pickler.dumps(self.user_source, **writing), reading

    def _start(self, begin, *arguments):
        import multiprocessing
        import pickle
        from concurrent.futures import ProcessPoolExecutor
        pool = ProcessPoolExecutor(self.count, mp_context=multiprocessing.get_context(self.method), initializer=begin,
                                   initargs=(self._sent(), os.getpid(), *arguments))
        try:
            list(pool.map(_ready, range(self.count)))
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise TypeError(f"[{self.op}] the {self.what} cannot be sent to a worker process ({error}): give a function "
                            "or a class of a module, py_callback_pickler, or py_start_method='fork'") from None
        self.pool = pool

    def _submit(self, function, *arguments):
        return self._guarded(self.pool.submit, function, *arguments)

    def _results(self, futures):
        try:
            return [self._guarded(f.result) for f in futures]
        except BaseException:
            self.ahead.clear()
            raise

    def _guarded(self, function, *arguments):
        from concurrent.futures.process import BrokenProcessPool
        try:
            return function(*arguments)
        except BrokenProcessPool:
            self.stop_workers()
            raise RuntimeError(f"[{self.op}] a worker process ended before it gave its result") from None

    def stop_workers(self):
        pool, self.pool = self.pool, None
        self.ahead.clear()
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


class ParallelCallable(_Workers):
    """Calls with the numbers of the next batches in any process, results in order."""

    def __init__(self, made, source, given, depth):
        super().__init__(made, source, max(1, int(given["py_num_workers"] or 1)), given, depth)
        self.resumable = made.resumable

    def start_workers(self, *_):
        if self.pool is None:
            self._start(_begin_function)

    def next(self, iteration, in_epoch, epoch, batch_size):
        self.start_workers()
        if self.ahead and self.ahead[0][0] != (in_epoch, epoch):
            self.ahead.clear()
        while len(self.ahead) <= self.depth:
            k = in_epoch + len(self.ahead)
            requests = self.made.requests(k, epoch, batch_size)
            self.ahead.append(((k, epoch), [self._submit(_call, r) for r in requests]))
        results = self._results(self.ahead.popleft()[1])
        if not all(given for given, _ in results):
            self.ahead.clear()
            raise StopIteration
        return self.made.assemble([value for _, value in results])

    def reset(self):
        self.ahead.clear()
        self.made.reset()

    def state(self):
        return self.made.state()

    def restore(self, text):
        self.made.restore(text)


class ParallelIterable(_Workers):
    """One process that has the iterator, because its items come in their order; its state cannot be asked for."""

    def __init__(self, made, source, cycle, given, depth):
        super().__init__(made, source, 1, given, depth)
        self.cycle, self.lost = cycle, False

    def start_workers(self, *_):
        if self.lost:
            raise RuntimeError("[external_source] the worker process with the source's iterator ended")
        if self.pool is None:
            self._start(_begin_iterable, self.cycle)

    def next(self, iteration, in_epoch, epoch, batch_size):
        self.start_workers()
        while len(self.ahead) <= self.depth:
            self.ahead.append(self._submit(_next_item))
        (given, item), = self._results([self.ahead.popleft()])
        if not given:
            self.ahead.clear()  # they all say the same
            raise StopIteration
        return self.made.batches(item)

    def stop_workers(self):
        self.lost |= self.pool is not None
        super().stop_workers()

    def reset(self):
        if self.pool is not None:  # items that are ahead stay: those of a pass that goes on
            self._results([self._submit(_restart)])

    def state(self):
        return ""

    def restore(self, text):
        pass


class FunctionWorkers(_Workers):
    """python_function(processes=True): calls with samples, or lists of them, in any process."""

    what = "function"

    def __init__(self, op, function, count, given):
        super().__init__(None, function, count, given, 1)
        self.op = op

    def start_workers(self):
        self._start(_begin_function)

    def call(self, *arguments):
        """One call, as the process gave its result or exception."""
        return self._guarded(self._submit(_plain_call, arguments).result)

    def map(self, samples, results, errors):
        """A call for each sample: results[i], or (i, exception) in `errors`."""
        futures = [self._submit(_plain_call, s) for s in samples]
        for i, future in enumerate(futures):
            try:
                results[i] = self._guarded(future.result)
            except BaseException as error:
                errors.append((i, error))


def _plain_call(arguments):
    return _portable(_function(*arguments))


def _ready(_):
    return True
