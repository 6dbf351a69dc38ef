# SPDX-License-Identifier: Apache-2.0
"""What runs in a worker process of a pipeline: it takes tasks from the queue that all workers share and answers each."""

import os
import pickle
import signal
import socket
import sys
import threading
import traceback

from .._base.unseeded import seed_worker
from .shared_arrays import Receiver, Sender, receive, send

STOP = b"stop"


class Carried:
    """The user's object on its way to a process. load() makes it in the process, where an error can be reported."""

    def __init__(self, value, pickler=None):
        self.value, self.pickler = value, pickler

    def __reduce__(self):
        from . import pickled_functions

        if self.pickler is None:
            return _Written, (pickled_functions.dumps(self.value), pickle.loads, {})
        several = isinstance(self.pickler, (tuple, list))
        pickler, writing, reading = (*self.pickler, {}, {})[:3] if several else (self.pickler, {}, {})
        return _Written, (pickler.dumps(self.value, **(writing or {})), pickler.loads, reading or {})

    def load(self):
        return self.value


class _Written:
    def __init__(self, data, loads, options):
        self.data, self.loads, self.options = data, loads, options

    def load(self):
        return self.loads(self.data, **self.options)


class Calls:
    """Tasks: a list of (place, arguments), one call each; random numbers depend on the seed and the place, whichever process
    makes the call. StopIteration ends the task, and so does an error, unless it says that the data of that call are bad."""

    def __init__(self, function, seed):
        self.function, self.seed = function, seed

    def run(self, calls, add):
        """(errors, whether it was stopped); add() takes each result."""
        from .._core import DataError

        errors = []
        for k, (place, arguments) in enumerate(calls):
            try:
                seed_worker(self.seed, *place)
                add(self.function(*arguments))
            except StopIteration:
                return errors, True
            except SystemExit:
                raise
            except BaseException as error:
                add(None)
                errors.append((k, written(error)))
                if not isinstance(error, DataError):
                    break
        return errors, False


def written(error):
    """(the pickled exception, None if it cannot be loaded again; its text; its traceback)"""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        data = None
    return data, traceback.format_exception_only(type(error), error)[-1].strip(), trace


class _Worker:
    def __init__(self, queue, channel, least):
        self.queue, self.channel = queue, channel
        self.sender, self.receiver, self.tasks = Sender(least), Receiver(remembers=False), None

    def answer(self, task, errors, stopped):
        try:
            data, files, slot = self.sender.message((task, self.sender.parts, errors, stopped), self.receiver.released)
        except Exception as error:  # no room
            self.sender.begin()
            answer = task, [], [(0, written(error))], False
            data, files, slot = self.sender.message(answer, self.receiver.released)
        send(self.channel, data, files)
        self.sender.sent(slot)

    def _hear(self):
        """Reads which slots are free again."""
        while True:
            try:
                data, _ = receive(self.channel, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            if not data:  # the pipeline has ended
                raise ConnectionResetError
            self.sender.release(pickle.loads(data))

    def work(self):
        while True:
            data, files = receive(self.queue)
            if data == STOP or not data:
                return
            (task, what), _ = self.receiver.value(data, files)
            self._hear()
            self.sender.begin()
            done = self.tasks.run(what, self.sender.add)
            del what
            self.answer(task, *done)


def _end_with(parent):
    """Ends this process with its parent: one that is killed cannot tell its workers, which would wait forever."""
    try:
        watched = os.pidfd_open(parent)
    except (AttributeError, OSError):
        watched = None

    def watch():
        if watched is not None:
            import select

            poller = select.poll()
            poller.register(watched, select.POLLIN)
            poller.poll()
        while os.getppid() == parent:
            import time

            time.sleep(0.5)
        os._exit(1)

    if os.getppid() != parent:
        os._exit(1)
    threading.Thread(target=watch, name="penstock-parent", daemon=True).start()


def main(queue, channel, parent, carried, role, seed, options, least):
    """Runs a worker. role, options: Calls or Items, and what it takes beside the user's object and the seed."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches all processes of a terminal; the pipeline ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with(parent)
    worker = _Worker(queue, channel, least)
    try:
        user_object = carried.load()
        seed_worker(seed)
        worker.tasks = role(user_object, seed, *options)
    except Exception as error:
        worker.answer(-1, [(0, written(error))], False)
        return
    torch = sys.modules.get("torch")
    if torch is not None:  # threads from before fork() do not exist here, and other workers use the cores
        torch.set_num_threads(1)
    try:
        worker.answer(-1, [], False)
        worker.work()
    except ConnectionError:  # the program has ended
        pass
