# SPDX-License-Identifier: Apache-2.0
"""external_source(parallel=True): the user's callable in processes of its own, some batches ahead."""
import collections

from . import graph  # noqa: F401  (the classes that results refer to)
from .sources import CallableSource

_function = None


def _begin(function):
    global _function
    _function = function


def _call(arguments):
    try:
        return True, _portable(_function(*arguments))
    except StopIteration:
        return False, None


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


class ParallelSource:
    """Hands the requests of the next `depth` batches to worker processes and gives their results back in order."""

    def __init__(self, source, workers, method, depth):
        if not isinstance(source, CallableSource) or source.arguments != 1:
            raise TypeError("[external_source] parallel=True needs a callable of exactly one argument")
        self.source, self.workers, self.method, self.depth = source, max(1, int(workers or 1)), method, max(1, int(depth))
        self.resumable = source.resumable
        self.pool = None
        self.ahead = collections.deque()  # ((in_epoch, epoch), batch size, futures)

    def start_workers(self, workers=None, method=None):
        if self.pool is None:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor
            context = multiprocessing.get_context(self.method)
            self.pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin,
                                            initargs=(self.source.function,))
            list(self.pool.map(_ready, range(self.workers)))

    def stop_workers(self):
        pool, self.pool = self.pool, None
        self.ahead.clear()
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def next(self, iteration, in_epoch, epoch, batch_size):
        self.start_workers()
        if self.ahead and self.ahead[0][0] != (in_epoch, epoch):
            self.ahead.clear()
        while len(self.ahead) <= self.depth:
            k = in_epoch + len(self.ahead)
            requests = self.source.requests(k, epoch, batch_size)
            self.ahead.append(((k, epoch), [self.pool.submit(_call, r) for r in requests]))
        _, futures = self.ahead.popleft()
        results = [f.result() for f in futures]
        if not all(given for given, _ in results):
            self.ahead.clear()
            raise StopIteration
        return self.source.assemble([value for _, value in results])

    def reset(self):
        self.ahead.clear()
        self.source.reset()

    def state(self):
        return self.source.state()

    def restore(self, text):
        self.source.restore(text)


def _ready(_):
    return True
