# SPDX-License-Identifier: Apache-2.0
"""The worker processes of a pipeline, as the pipeline sees them: tasks, answers, and what happens when a process ends.

All workers take tasks from one queue, a socket of the system: a process that is killed leaves no lock held. Each
answers on a socket of its own. Who waits for an answer also watches the processes, so that the end of one is seen at
once.
"""

import atexit
import collections
import itertools
import multiprocessing.util  # it registers its atexit function before the one below, so that one runs first
import os
import pickle
import select
import signal
import socket
import threading
import time
import weakref

from .._base.public import public
from .._base.running import close_all
from .shared_arrays import Receiver, Sender, receive, send, slot_of
from .process import STOP, Carried, main

_ends = weakref.WeakSet()  # the pipelines' ends of sockets; a forked process must close them
_SECONDS_TO_STOP = 0.5
_SECONDS_TO_TERMINATE = 1.0


class WorkerError(RuntimeError):
    """Says that a worker process ended before it gave its result, or could not begin.

    Args:
        message: The text.
        pid: The number of the process.
        exitcode: What the process gave to exit(); None where a signal ended it.
        signal: That signal, a signal.Signals, else None.
    """

    def __init__(self, message, pid=None, exitcode=None, signal=None):
        super().__init__(message)
        self.pid, self.exitcode, self.signal = pid, exitcode, signal


public("penstock", WorkerError)


class _RemoteTraceback(Exception):
    def __str__(self):
        return f'\n"""\n{self.args[0]}"""'


def raised(error):
    """The exception that process.written() wrote; its cause is the traceback as text."""
    data, said, trace = error
    made = None
    if data is not None:
        try:
            made = pickle.loads(data)
        except Exception:  # its module is not installed here
            pass
    if not isinstance(made, BaseException):
        made = RuntimeError(said)
    made.__cause__ = _RemoteTraceback(trace)
    return made


class Task:
    done = values = errors = stopped = None


class _Process:
    """A worker and the descriptors that belong to it."""

    def __init__(self, process, channel):
        self.process, self.channel, self.receiver = process, channel, Receiver()
        self.ready = self.ended = False
        try:
            self.watched = os.pidfd_open(process.pid)
            self.owned = True
        except (AttributeError, OSError):
            self.watched, self.owned = process.sentinel, False

    def close(self):
        self.channel.close()
        self.receiver.close()
        if self.owned:
            os.close(self.watched)
        self.process.join()
        try:
            self.process.close()
        except ValueError:  # the program itself waited for it, with os.wait()
            pass


def _ended(processes, seconds):
    """The processes that still run after this many seconds."""
    deadline, left = time.monotonic() + seconds, list(processes)
    while left:
        poller = select.poll()
        for p in left:
            poller.register(p.watched, select.POLLIN)
        gone = {fd for fd, _ in poller.poll(max(0, (deadline - time.monotonic()) * 1000))}
        if not gone:
            break
        left = [p for p in left if p.watched not in gone]
    return left


def _end(processes, queue, sender, wake, owner, over):
    """Ends workers: those that wait for a task at once, the others by a signal. `over` is set
    when none is left."""
    try:
        if os.getpid() == owner:
            _end_all(processes, queue, sender, wake)
    finally:
        over.set()


def _end_all(processes, queue, sender, wake):
    begun = processes[:]  # another thread may start one more, which ends with this process
    while True:  # tasks that no worker has begun
        try:
            for fd in receive(queue[1], socket.MSG_DONTWAIT)[1]:
                os.close(fd)
        except OSError:
            break
    for _ in begun:
        try:
            send(queue[0], STOP, flags=socket.MSG_DONTWAIT)
        except OSError:
            break
    left = _ended(begun, _SECONDS_TO_STOP)
    for p in left:
        p.process.terminate()
    for p in _ended(left, _SECONDS_TO_TERMINATE):
        p.process.kill()
    for p in begun:
        p.close()
    for end in queue:
        end.close()
    sender.close()
    os.close(wake)


_pools = weakref.WeakSet()
_exiting = []


@atexit.register
def _exit():
    """Runs before multiprocessing ends processes that pipelines still wait for."""
    _exiting.append(True)
    close_all()
    for pool in list(_pools):
        pool.stop()


class WorkerPool:
    """count processes with the user's object. role, seed, options: of worker_process. least: bytes of the smallest
    slot. op, what: how errors call the operator and the object."""

    def __init__(self, op, what, user_object, role, seed, options, count, method, pickler, least=0):
        if _exiting:
            raise RuntimeError(f"[{op}] the program is ending")
        self.op, self.what = op, f"{what} '{_name(user_object)}'"
        self.tasks, self.unsent, self.numbers = {}, collections.deque(), itertools.count()
        self.processes, self.sender = [], Sender(keeps_files=True)
        self.queue = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.over = threading.Event()
        self.stop = weakref.finalize(
            self, _end, self.processes, self.queue, self.sender, self.wake, os.getpid(), self.over
        )
        _pools.add(self)
        try:
            self._begin(what, user_object, role, seed, options, count, method, pickler, least)
        except BaseException:
            self.stop()
            raise

    def end(self):
        """Like stop(), but waits if another thread runs it."""
        self.stop()
        self.over.wait(2 * (_SECONDS_TO_STOP + _SECONDS_TO_TERMINATE))

    def _begin(self, what, user_object, role, seed, options, count, method, pickler, least):
        context = multiprocessing.get_context(method)
        self.poller = select.poll()
        self.poller.register(self.wake, select.POLLIN)
        self.by_file = {}
        for _ in range(count):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            _ends.add(ours)
            try:
                # Where the object cannot be pickled, start() says so.
                carried = Carried(user_object, None if method == "fork" else pickler)
                process = context.Process(
                    target=_begun,
                    daemon=True,
                    args=(self.queue[1], theirs, os.getpid(), carried, role, seed, options, least, method),
                )
                process.start()
            except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
                ours.close()
                raise TypeError(
                    f"[{self.op}] the {what} cannot be sent to a worker process ({error}): give a function "
                    "or a class of a module, py_callback_pickler, or py_start_method='fork'"
                ) from None
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
            worker = _Process(process, ours)
            self.processes.append(worker)
            for fd in (ours.fileno(), worker.watched):
                self.poller.register(fd, select.POLLIN)
                self.by_file[fd] = worker
        while not all(p.ready for p in self.processes):
            self._pump()

    def capacities(self):
        """Bytes of the slots that the workers write to."""
        return [len(m) for p in self.processes for m in p.receiver.memory.values()]

    def submit(self, what):
        """A Task, which a worker does when it has time."""
        number, task = next(self.numbers), Task()
        data, files, _ = self.sender.message((number, what))
        self.tasks[number] = task
        self.unsent.append((data, files))
        self._send()
        return task

    def _send(self):
        while self.unsent:
            data, files = self.unsent[0]
            try:
                send(self.queue[0], data, files, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return  # the queue is full
            self.unsent.popleft()

    def wait(self, task):
        """Waits for a task and returns it. If a process ends meanwhile, all others end and WorkerError is raised."""
        while not task.done:
            self._pump()
        return task

    def forget(self):
        """Drops all tasks. Those that no worker has begun are never run."""
        self.tasks.clear()
        left = [data for data, _ in self.unsent]
        self.unsent.clear()
        while True:
            try:
                data, files = receive(self.queue[1], socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            left.append(data)
            for fd in files:
                os.close(fd)
        self.sender.release(slot_of(data) for data in left)

    def cancel(self):
        """Ends a wait() on another thread, and every other one until resume()."""
        try:
            if self.stop.alive:
                os.eventfd_write(self.wake, 1)
        except OSError:  # the pool is just ending
            pass

    def resume(self):
        try:
            os.eventfd_read(self.wake)
        except BlockingIOError:
            pass

    # --- answers ------------------------------------------------------------------------------------------------------

    def _pump(self):
        self._send()
        self._release()
        dead = []
        for fd, _ in self.poller.poll():
            worker = self.by_file.get(fd)
            if worker is None:
                raise RuntimeError(f"[{self.op}] the pipeline is closing")
            if fd == worker.watched:
                dead.append(worker)
            self._receive(worker)
        if dead:
            self._died(dead[0])

    def _receive(self, worker):
        while True:
            try:
                data, files = receive(worker.channel, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except ConnectionResetError:
                data = b""
            if not data:  # the process ends or has ended
                try:
                    self.poller.unregister(worker.channel.fileno())
                except KeyError:
                    pass
                return
            (number, values, errors, stopped), released = worker.receiver.value(data, files)
            self.sender.release(released)
            if number < 0:
                if errors:
                    cause = raised(errors[0][1])
                    raise WorkerError(
                        f"[{self.op}] the {self.what} cannot be made in a worker process: {errors[0][1][1]}",
                        worker.process.pid,
                    ) from cause
                worker.ready = True
                continue
            task = self.tasks.pop(number, None)
            if task is not None:
                task.values, task.errors, task.stopped, task.done = values, errors, stopped, True

    def _release(self):
        for worker in self.processes:
            released = worker.receiver.released
            while released:
                numbers = list(itertools.islice(released, 1024))
                try:
                    send(worker.channel, pickle.dumps(numbers), flags=socket.MSG_DONTWAIT)
                except OSError:  # its socket is full or closed
                    break
                for _ in numbers:
                    released.popleft()

    def _died(self, worker):
        process = worker.process
        process.join(_SECONDS_TO_TERMINATE)
        pid, code, name, ready = process.pid, process.exitcode, "", worker.ready
        if code is not None and code < 0:
            code, name = None, signal.Signals(-code)
        how = f"was killed by {name.name}" if name else "ended" if code is None else f"ended with exit code {code}"
        if name == signal.SIGKILL:
            how += " (as the system does where memory runs out)"
        self.tasks.clear()
        self.stop()
        when = "before it gave its result" if ready else "before it was ready"
        raise WorkerError(f"[{self.op}] worker process {pid} of the {self.what} {how} {when}", pid, code, name or None)


def _begun(queue, channel, parent, carried, role, seed, options, least, method):
    """In the new process."""
    if method == "fork":
        import gc

        gc.freeze()  # the parent's objects are not collected here, and their pages stay shared
        for end in list(_ends):
            end.close()
    main(queue, channel, parent, carried, role, seed, options, least)


def _name(user_object):
    return getattr(user_object, "__name__", None) or type(user_object).__name__
