# SPDX-License-Identifier: Apache-2.0
"""Calls of the user's functions for the samples of a batch: in the thread of the pipeline, in threads or in processes."""

import collections
import os
import queue
import sys
import threading
import traceback

from .. import _core
from .._base.element_types import DType
from .._base.frames import PACKAGE
from .._base.public import public


class FunctionError(RuntimeError):
    """Says that a function of the program that a pipeline called raised an exception.

    The exception is __cause__.

    Args:
        message: The text, with the function's line.
        sample: The place of the sample in its batch; None where the function is called with whole batches.
        position: The (epoch, position in the order of the epoch) of the sample.
        operator: The name of the operator.
    """

    def __init__(self, message, sample=None, position=None, operator=""):
        super().__init__(message)
        self.sample, self.position, self.operator = sample, position, operator


def _numpy(tensor):
    array = tensor.numpy()
    array.flags.writeable = False  # the memory may be read by others
    return array


def _on_gpu():
    """What functions get for arrays on a GPU: CuPy's arrays if it is installed, else torch's, else Tensors, which speak
    DLPack."""
    try:
        import cupy

        return cupy.from_dlpack
    except ImportError:
        pass
    torch = sys.modules.get("torch")
    if torch is None:
        try:
            import torch
        except ImportError:
            return _same
    return (lambda t: t.torch()) if torch.cuda.is_available() else _same


def _same(tensor):
    return tensor


def name_of(function):
    return getattr(function, "__name__", None) or type(function).__name__


def _references_of_one():
    items = [object()]
    value = items[0]
    return sys.getrefcount(value)


_ALONE = _references_of_one()  # getrefcount() of an object that only a list and a variable hold


def _owned(items, inputs, more=0):
    """The items of a list that was just made of what a function returned. Arrays that the program still holds are
    copied: it may write to them again, even for the next sample. Others are taken over, and so are views of the
        inputs."""
    for k in range(len(items)):
        value = items[k]
        kind = type(value)
        if kind is tuple or kind is list:
            held = sys.getrefcount(value) > _ALONE + more
            items[k] = kind(_owned(list(value), inputs, -1000 if held else 1))
        elif kind.__module__ == "numpy" and hasattr(value, "base"):
            base = value.base
            if base is None:
                shared = sys.getrefcount(value) > _ALONE + more
            else:
                while (
                    getattr(base, "base", None) is not None
                    and type(base).__module__ == "numpy"
                    and not any(base is i for i in inputs)
                ):
                    base = base.base
                shared = not any(base is i for i in inputs)
            if shared:
                items[k] = value.copy()
        elif kind.__module__.partition(".")[0] == "torch" and value.device.type == "cpu":
            items[k] = value.detach().clone()
    return items


class _Threads:
    """Threads that call a function for samples. The program ends without them, whatever they do."""

    def __init__(self, count, name):
        self.tasks = queue.SimpleQueue()
        self.threads = [
            threading.Thread(target=_serve, args=(self.tasks,), name=f"{name}_{k}", daemon=True) for k in range(count)
        ]
        for thread in self.threads:
            thread.start()

    def run(self, work, count):
        """Runs work(), which does not raise, in `count` threads at once; returns when all have run it."""
        done, pipeline = queue.SimpleQueue(), _core.calling_pipeline()
        for _ in range(count):
            self.tasks.put((work, pipeline, done))
        for _ in range(count):
            done.get()

    def stop(self):
        for _ in self.threads:
            self.tasks.put(None)


def _serve(tasks):
    while (task := tasks.get()) is not None:
        work, pipeline, done = task
        _core.call_for_pipeline(pipeline)
        work()
        done.put(None)
        del task, work  # they hold samples


class Function:
    """Calls a function of the program for a node of a pipeline.

    A plug-in derives from it, writes call() and adds the object with add_call().

    Args:
        op: The operator, for messages.
        function: The function.
        num_outputs: How many values it returns.
        batch_processing: Calls it with lists of all samples.
        num_workers: Threads that call it; with processes=True processes.
        processes: Uses processes.
        wrap, unwrap, layouts: As add_function() takes them.
    """

    def __init__(
        self, op, function, num_outputs, batch_processing, num_workers, processes, wrap=None, unwrap=None, layouts=None
    ):
        self.op, self.function, self.outputs, self.per_batch = op, function, num_outputs, batch_processing
        self.workers, self.processes, self.wrap, self.unwrap = num_workers, processes, wrap, unwrap
        self.layouts = layouts  # of each output, where they depend on the inputs: a function of the batches
        self.name, self.line = "", ""
        self.threads, self.pool = None, None

    def start(self, name, line, given):
        """Prepares the calls; the pipeline calls it before its threads begin.

        Args:
            name: The name of the node.
            line: The line of the program that made the node.
            given: The arguments of the pipeline.
        """
        self.name, self.line = name, line
        self.stop_workers()
        if self.processes:
            from .functions import FunctionWorkers

            self.pool = FunctionWorkers(self.op, self.function, self.workers, given, name)
            self.pool.start_workers()
        elif self.workers > 1 and not self.per_batch:
            self.threads = _Threads(self.workers, f"penstock-{name}")

    def cancel(self):
        """Ends a call on another thread that waits for a process."""
        if self.pool is not None:
            self.pool.cancel()

    def stop_workers(self):
        """Ends its threads and processes."""
        threads, pool, self.threads, self.pool = self.threads, self.pool, None, None
        if threads is not None:
            threads.stop()
        if pool is not None:
            pool.stop_workers()

    def call(self, batches, origins):
        """Calls the function for the samples of a batch; the threads of the pipeline call it.

        Args:
            batches: A Batch for each input.
            origins: For each sample (epoch, position, place in the batch of the pipeline, what loops and fn.expand
                change in random numbers). Inside a condition or loop there may be fewer of them.

        Returns:
            A list with a Batch for each output, and a list of (sample, why its data are bad).
        """
        wrap = self.wrap or (_numpy if all(b.device_type == "cpu" for b in batches) else _on_gpu())
        if self.per_batch:
            return self._of_batch(batches, [[wrap(t) for t in b] for b in batches], origins), []
        samples = list(zip(*[[wrap(t) for t in b] for b in batches])) if batches else [()] * len(origins)
        results, errors, bad = self._of_samples(samples, origins)
        for i, error in sorted(errors):
            if isinstance(error, _core.DataError):
                bad.append((i, str(error)))
            else:
                raise self.error(error, i, origins[i]) from error
        blank = self.blank() if bad and len(bad) == len(origins) else None
        if bad and len(bad) == len(origins) and blank is None:
            raise self.error(errors[0][1], errors[0][0], origins[errors[0][0]]) from errors[0][1]
        if bad:  # the executor omits these samples or raises their errors
            if blank is None:
                blank = results[next(i for i in range(len(origins)) if i not in dict(bad))]
            for i, _ in bad:
                results[i] = blank
        del samples
        columns = [[] for _ in range(self.outputs)]
        for i, result in enumerate(results):
            for column, value in zip(columns, self.parts(result, f"for sample {i} of the batch ")):
                column.append(value)
            results[i] = result = value = None
        return self._batches(columns, batches), bad

    # --- calls --------------------------------------------------------------------------------------------------------

    def _of_samples(self, samples, origins):
        """(results, [(sample, exception)], [])"""
        results, errors = [None] * len(samples), []
        waiting = collections.deque(range(len(samples)))
        function = self.function

        def work():
            while True:
                try:
                    i = waiting.popleft()
                except IndexError:
                    return
                try:
                    results[i] = _owned([function(*samples[i])], samples[i])[0]
                except BaseException as error:
                    errors.append((i, error))
                    if not isinstance(error, _core.DataError):
                        waiting.clear()
                        return

        if self.pool is not None:
            self.pool.map([_drawn_for(o) for o in origins], samples, results, errors)
        elif self.threads is None or len(samples) == 1:
            work()
        else:
            self.threads.run(work, min(self.workers, len(samples)))
        return results, errors, []

    def blank(self):
        """Returns what stands for a sample in a batch that has no good one.

        Returns:
            The values of a sample; None: the error of the first sample is raised.
        """
        return None

    def _of_batch(self, batches, columns, origins):
        size = len(origins)
        try:
            if self.pool is None:
                returned = _owned([self.function(*columns)], [a for column in columns for a in column])[0]
            else:
                returned = self.pool.call(_drawn_for(origins[0]) if origins else (), *columns)
        except BaseException as error:
            if self.pool is not None and self.pool.failed(error):
                raise
            raise self.error(error) from error
        del columns
        parts = self.parts(returned, "")
        returned = None
        out = []
        for k, part in enumerate(parts):
            if isinstance(part, (list, tuple)):
                out.append(list(part))
            elif isinstance(part, _core.Batch):
                out.append(list(part))
            elif hasattr(part, "shape") and len(part.shape):
                out.append([part[i] for i in range(len(part))])
            else:
                raise self.fault(
                    TypeError,
                    f"returned {type(part).__name__} for output {k}: with batch_processing=True an output is a "
                    "list of arrays, or an array whose first axis counts the samples",
                )
            if len(out[-1]) != size:
                raise self.fault(ValueError, f"returned {len(out[-1])} samples for output {k}, the batch has {size}")
        return self._batches(out, batches)

    def parts(self, returned, where):
        """Returns the outputs that the function returned, as a tuple or list of num_outputs values.

        Args:
            returned: What it returned.
            where: Which sample it is of, for the message.

        Raises:
            TypeError: It is not a tuple where several are needed.
            ValueError: The number of values is another one.
        """
        if self.outputs == 0:
            return ()
        if self.outputs == 1:
            if not isinstance(returned, tuple):
                returned = (returned,)
        elif not isinstance(returned, (tuple, list)):
            raise self.fault(
                TypeError,
                f"returned {type(returned).__name__} {where}where num_outputs={self.outputs} asks for a tuple",
            )
        if len(returned) != self.outputs:
            raise self.fault(ValueError, f"returned {len(returned)} values {where}where num_outputs is {self.outputs}")
        return returned

    def _batches(self, columns, inputs):
        out = []
        for k, column in enumerate(columns):
            for i, value in enumerate(column):
                column[i] = value = self._tensor(value, k, i)
                first = column[0]
                if value.dtype != first.dtype or value.ndim() != first.ndim():
                    raise self.fault(
                        TypeError,
                        f"returned {_shown(value)} for output {k} of sample {i} and {_shown(first)} for sample "
                        "0: the samples of a batch have one type and one number of dimensions",
                    )
            batch = _core.fed_batch(column)
            layout = self.layouts(k, batch, inputs) if self.layouts is not None else ""
            out.append(_core.fed_batch(batch, layout=layout) if layout else batch)
        return out

    def _tensor(self, value, k, i):
        if self.unwrap is not None:
            value = self.unwrap(value)
        if type(value).__module__ == "numpy":
            import numpy

            if not isinstance(value, numpy.ndarray):
                value = numpy.asarray(value)  # a scalar, with its type
        if value is None or isinstance(value, (str, bytes, dict, set)):
            raise self.fault(
                TypeError, f"returned {type(value).__name__} for output {k} of sample {i}: expected an array"
            )
        try:
            return _core.fed_tensor(value)
        except (TypeError, ValueError) as error:
            raise self.fault(
                type(error), f"returned what is not an array for output {k} of sample {i}: {error}"
            ) from None

    # --- errors -------------------------------------------------------------------------------------------------------

    def _place(self):
        return f"\n  at {self.line}" if self.line else ""

    def fault(self, kind, text):
        """Returns an exception that names the operator, the function and the line of the program.

        Args:
            kind: The class of the exception.
            text: The message.
        """
        return kind(f"[{self.op}] '{name_of(self.function)}' {text.strip()}{self._place()}")

    def error(self, error, sample=None, origin=None):
        """Returns the FunctionError for an exception of the function, with the traceback of the program.

        Args:
            error: The exception.
            sample: The place of the sample in the batch; None: of the whole batch.
            origin: The origin of the sample.
        """
        where = ""
        if sample is not None:
            epoch, position, sample, _ = origin
            where, origin = (
                f", for sample {sample} of the batch (position {position} of epoch {epoch})",
                (epoch, position),
            )
        said = traceback.format_exception_only(type(error), error)[-1].strip()
        trace = "".join(_user_frames(error)).rstrip("\n")
        text = f"[{self.op}] '{name_of(self.function)}' raised {said}{where}"
        return FunctionError(text + ("\n" + trace if trace else "") + self._place(), sample, origin, self.name)


def _drawn_for(origin):
    """What the random numbers of a call depend on, beside the seed."""
    return origin[0], origin[1], origin[3]


def _user_frames(error):
    """The traceback from the function on, as lines; of an exception that came from another process, as that wrote
    it."""
    remote = error.__cause__
    if type(remote).__name__ == "_RemoteTraceback":
        lines = str(remote).strip('"\n').split("\n")
        starts = [k for k, line in enumerate(lines) if line.startswith("  File ")]
        own = [k for k in starts if PACKAGE not in lines[k] and "concurrent" + os.sep + "futures" not in lines[k]]
        return [line + "\n" for line in lines[own[0] : -1] if line.strip(" ^~")] if own else []
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        trace = trace.tb_next
    return [f'  File "{f.filename}", line {f.lineno}, in {f.name}\n    {f.line}\n' for f in traceback.extract_tb(trace)]


def _shown(tensor):
    n = tensor.ndim()
    return f"{DType(tensor.dtype).name} with {n} dimension{'' if n == 1 else 's'}"


public("penstock", FunctionError)
public("penstock._operators.python_function", Function)
