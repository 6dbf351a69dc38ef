# SPDX-License-Identifier: Apache-2.0
"""Pools of processes that call functions: python_function(processes=True)."""

import zlib

from .._base.unseeded import mixed
from .pool import WorkerError, WorkerPool, raised
from .process import Calls


class Workers:
    """A pool of processes, which starts again after one of them was killed."""

    resumable, numbered = False, 0
    op, what, role, options = "external_source", "source", Calls, ()

    def __init__(self, user_object, count, given, name=""):
        self.user_object, self.given, self.count = user_object, given, max(1, int(count or 1))
        self.pool, self.ending, self.least, self.name = None, None, 0, name

    def start_workers(self, *_):
        if self.pool is None:
            seed = mixed(self.given["seed"], zlib.crc32(self.name.encode()))
            self.pool = WorkerPool(
                self.op,
                self.what,
                self.user_object,
                self.role,
                seed,
                self.options,
                self.count,
                self.given["py_start_method"],
                self.given["py_callback_pickler"],
                self.least,
            )

    def begin_workers(self):
        """Starts the processes before the threads of the pipeline, also after cancel()."""
        if self.pool is not None:
            self.pool.resume()
        self.start_workers()

    def cancel(self):
        """Ends a call on another thread that waits for a worker; the pipeline is closing."""
        if self.pool is not None:
            self.pool.cancel()

    def stop_workers(self):
        pool, self.pool = self.pool, None
        pool = self.ending = pool or self.ending  # close() may run while the thread that needs a batch ends them
        if pool is not None:
            pool.end()
            self.ending = None

    def _done(self, task):
        try:
            return self.pool.wait(task)
        except BaseException:
            self.stop_workers()
            raise


class FunctionWorkers(Workers):
    """python_function(processes=True): calls with samples, or lists of them, in any process."""

    what = "function"

    def __init__(self, op, function, count, given, name):
        super().__init__(function, count, given, name)
        self.op, self.what = getattr(function, "operator", op), getattr(function, "noun", "function")

    def call(self, place, *arguments):
        """The result or exception of one call. place: numbers that its random numbers depend on."""
        self.start_workers()
        task = self._done(self.pool.submit([(place, arguments)]))
        if task.errors:
            raise raised(task.errors[0][1])
        if task.stopped:
            raise StopIteration
        return task.values[0]

    def failed(self, error):
        """Whether the error is about the processes, not from the function."""
        return self.pool is None and isinstance(error, WorkerError)

    def map(self, places, samples, results, errors):
        """A call for each sample and its place: results[i], or (i, exception) in `errors`. The first tasks have many samples, the last
        few, so that all processes end together."""
        self.start_workers()
        tasks, begin = [], 0
        while begin < len(samples):
            left = len(samples) - begin
            end = begin + max(1, len(samples) // (16 * self.count), left // (2 * self.count))
            tasks.append((begin, self.pool.submit(list(zip(places[begin:end], samples[begin:end])))))
            begin = end
        for begin, task in tasks:
            self._done(task)
            results[begin : begin + len(task.values)] = task.values
            errors += [(begin + k, raised(e)) for k, e in task.errors]
            if task.stopped:
                errors.append((begin + len(task.values), StopIteration()))
