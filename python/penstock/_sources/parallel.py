# SPDX-License-Identifier: Apache-2.0
"""external_source(parallel=True): which tasks the processes get, and what becomes of the answers."""

import collections

from .. import _core
from .._workers.functions import Workers
from .._workers.pool import WorkerError, raised
from .._workers.process import written
from .objects import IterableSource, make_source


class Items:
    """Tasks: "item", the iterable's next one, "reset", and "anew", which begins the iterable from its start."""

    def __init__(self, iterable, seed, cycle):
        self.source = make_source(iterable, None, cycle, True, None)

    def run(self, what, add):
        try:
            if what != "item":
                self.source.anew = what == "anew"
                self.source.reset()
            else:
                add(self.source.item())
            return [], False
        except StopIteration:
            return [], True
        except SystemExit:
            raise
        except BaseException as error:
            return [(0, written(error))], False


def parallel_source(made, source, cycle, given, depth, hint):
    """The parallel form of what make_source() made of `source`; `given`: the pipeline's arguments. Its again(given) is the
    same for another pipeline."""
    if isinstance(made, IterableSource):
        if not made.per_batch:
            raise TypeError("[external_source] parallel=True with an iterable or a generator function needs batch=True")
        parallel = ParallelIterable(made, source, cycle, given, depth, hint)
    elif made.arguments != 1:
        raise TypeError("[external_source] parallel=True needs a callable of exactly one argument")
    else:
        parallel = ParallelCallable(made, source, given, depth, hint)
    parallel.again = lambda given: parallel_source(made, source, cycle, given, depth, hint)
    return parallel


def capacities(sources):
    """Sizes of the slots of shared memory of parallel sources, and of one sample's part in them."""
    slots = [(c, s.samples) for s in sources if hasattr(s, "capacities") for c in s.capacities()]
    return {"capacities": [c for c, _ in slots], "per_sample_capacities": [c // n for c, n in slots]}


class _Source(Workers):
    """depth: batches that are made ahead."""

    def __init__(self, made, source, count, given, depth, hint):
        super().__init__(source, count, given)
        self.made, self.depth, self.ahead = made, max(1, int(depth)), collections.deque()
        self.samples = -(-int(given["batch_size"] or 1) // (1 if made.per_batch else self.count))  # of one task
        self.least = int(hint or 0) * self.samples

    def stop_workers(self):
        self.ahead.clear()
        super().stop_workers()

    def capacities(self):
        """Bytes of each slot of shared memory that the processes write to."""
        return self.pool.capacities() if self.pool is not None else []


def workers_of(given):
    """The number of processes: py_num_workers, or as many as the cores where it is "auto"."""
    return _core.usable_cores() if given["py_num_workers"] == "auto" else given["py_num_workers"]


class ParallelCallable(_Source):
    """Calls with the numbers of the next batches in any process, results in order."""

    def __init__(self, made, source, given, depth, hint):
        super().__init__(made, source, workers_of(given), given, depth, hint)
        self.resumable, self.numbered = made.resumable, made.numbered

    def next(self, iteration, in_epoch, epoch, batch_size):
        self.start_workers()
        if self.ahead and self.ahead[0][0] != (in_epoch, epoch):
            self._forget()
        while len(self.ahead) <= self.depth:
            k = in_epoch + len(self.ahead)
            requests = self.made.requests(k, epoch, batch_size)
            requests = [((epoch, k * len(requests) + i), r) for i, r in enumerate(requests)]
            share = -(-len(requests) // self.count)
            self.ahead.append(
                ((k, epoch), [self.pool.submit(requests[i : i + share]) for i in range(0, len(requests), share)])
            )
        tasks = [self._done(t) for t in self.ahead[0][1]]
        self.ahead.popleft()
        values = []
        for task in tasks:
            if task.errors:
                raise raised(task.errors[0][1])
            if task.stopped:
                self._forget()
                raise StopIteration
            values += task.values
        del task, tasks
        return self.made.assemble(values)

    def _forget(self):
        self.ahead.clear()
        if self.pool is not None:
            self.pool.forget()

    def reset(self):
        self._forget()
        self.made.reset()

    def state(self):
        return self.made.state()

    def restore(self, text):
        self.made.restore(text)


class ParallelIterable(_Source):
    """One process that has the iterator, because its items come in their order; its state is not available."""

    role = Items
    anew = False  # as IterableSource's

    def __init__(self, made, source, cycle, given, depth, hint):
        super().__init__(made, source, 1, given, depth, hint)
        self.options, self.lost = (cycle,), False

    def next(self, iteration, in_epoch, epoch, batch_size):
        if self.lost:
            raise WorkerError(
                "[external_source] the worker process with the source's iterator has ended: reset() begins again"
            )
        self.start_workers()
        while len(self.ahead) <= self.depth:
            self.ahead.append(self.pool.submit("item"))
        task = self._done(self.ahead.popleft())
        if task.errors:
            raise raised(task.errors[0][1])
        if task.stopped:
            self.ahead.clear()  # all of them would end the same way
            raise StopIteration
        return self.made.batches(task.values[0])

    def stop_workers(self):
        self.lost |= self.pool is not None
        super().stop_workers()

    def reset(self):
        self.lost = False
        if self.pool is not None:  # items that are ahead stay where the pass continues
            if self.anew:
                self.ahead.clear()
                self.pool.forget()
            task = self._done(self.pool.submit("anew" if self.anew else "reset"))
            if task.errors:
                raise raised(task.errors[0][1])

    def state(self):
        return ""

    def restore(self, text):
        pass
