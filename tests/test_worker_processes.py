# SPDX-License-Identifier: Apache-2.0
"""Worker processes: what crosses to and from them, how they end, and what a pipeline says then."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn
from penstock._workers import pickled_functions
from penstock._workers.shared_arrays import Receiver, Sender

METHODS = ["fork", "spawn"]
LONG = 60  # seconds that a worker would work; far more than a test waits


def pipe_of(source, method="fork", workers=2, batch_size=2, **options):
    pipe = Pipeline(batch_size, 1, py_start_method=method, py_num_workers=workers)
    with pipe:
        out = fn.external_source(source, parallel=True, **options)
        pipe.set_outputs(*(out if isinstance(out, list) else [out]))
    return pipe


def values(batch):
    return [np.array(t.numpy()) for t in batch]


def wait_until(said, seconds=40):
    deadline = time.monotonic() + seconds
    while not said():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end between open() and read()
        return False


# --- arrays through shared memory ---------------------------------------------------------------------------------------


def crossed(value, sender, receiver):
    data, files, slot = sender.message(value)
    got, _ = receiver.value(data, [os.dup(f) for f in files])
    sender.sent(slot)
    return got


def test_every_kind_of_array_crosses_unchanged():
    import torch

    grid = np.arange(60000, dtype=np.float32).reshape(100, 200, 3)
    records = np.zeros(3, [("a", "<i4"), ("b", "<f8", 2)])
    arrays = [np.ones((2, 3), t) for t in "?bBhHiIlLqQefd"] + [
        np.int16(7),
        np.float64(0.5),
        np.array(3),
        np.zeros((0, 4), np.uint8),
        grid,
        grid[::2, ::-1],
        np.asfortranarray(grid),
        grid.astype(">f4"),
        records,
        np.array(["a", "bc"]),
        np.datetime64("2020-01-01"),
        np.zeros((1, 1 << 20), np.uint8),
    ]
    sender, receiver = Sender(), Receiver()
    for value in arrays:
        got = crossed(value, sender, receiver)
        assert got.dtype == np.asarray(value).dtype and np.array_equal(got, value)
    got = crossed({"all": (arrays, [torch.ones(3)], {"text": "x" * 100000})}, sender, receiver)["all"]
    assert (
        all(np.array_equal(a, b) for a, b in zip(got[0], arrays))
        and got[1][0].tolist() == [1] * 3
        and len(got[2]["text"]) == 100000
    )
    tensor, batch = crossed(
        [penstock.tensor(grid, layout="HWC"), penstock.batch([grid, grid[:5]], layout="HWC")], sender, receiver
    )
    assert tensor.layout() == "HWC" and batch.layout() == "HWC" and np.array_equal(batch.at(1), grid[:5])
    assert crossed([None, "text", 5, np.array([None, 1], object)], sender, receiver)[:3] == [None, "text", 5]


def test_a_slot_is_reused_only_when_nothing_reads_it():
    sender, receiver, kept = Sender(), Receiver(), []
    for i in range(4):
        kept.append(crossed(np.full(100_000, i, np.int64), sender, receiver))
    sender.release(receiver.released)
    assert len(sender.slots) == 4 and all((a == i).all() for i, a in enumerate(kept))
    part = kept[1][5:10]
    del kept[:]
    sender.release([receiver.released.popleft() for _ in range(len(receiver.released))])
    assert len(sender.free) == 3 and (part == 1).all()  # a view is a use too
    for i in range(20):
        assert (crossed(np.full(100_000, i, np.int64), sender, receiver) == i).all()
        sender.release([receiver.released.popleft() for _ in range(len(receiver.released))])
    assert len(sender.slots) == 4
    crossed(np.zeros(1_000_000), sender, receiver)  # a larger one takes the place of one that is too small
    assert len(sender.slots) == 4 and max(sender.capacities()) >= 8_000_000
    crossed(0, sender, receiver)
    assert len(receiver.memory) == 4


def test_values_that_are_taken_one_by_one():
    sender, receiver = Sender(), Receiver()
    for sizes in ([10] * 3, [5000] * 3, [10] * 3, [6000, 1, 70_000, 2], [6000, 1, 70_000, 2], [], [1, 90_000]):
        arrays = [np.full(n, n + i, np.float64) for i, n in enumerate(sizes)]
        sender.begin()
        for a in arrays:
            sender.add((a, {"twice": a}))
        got = crossed((5, sender.parts, "x"), sender, receiver)
        assert got[0] == 5 and len(got[1]) == len(arrays)
        assert all(np.array_equal(a, b) and np.array_equal(a, c["twice"]) for a, (b, c) in zip(arrays, got[1]))
        got = a = None
        sender.release([receiver.released.popleft() for _ in range(len(receiver.released))])
        assert sorted(sender.free) == sorted(sender.slots)
    assert len(sender.slots) <= 2
    sender.begin()
    with pytest.raises(TypeError):
        sender.add(threading.Lock())
    sender.begin()
    assert len(sender.free) + (sender.slot >= 0) == len(sender.slots)


def test_the_memory_has_no_name():
    """No file can remain in /dev/shm, and that folder's size does not limit samples."""
    pipe = pipe_of(lambda i: np.full((2, 1 << 20), i, np.uint8))
    held = pipe.run()
    with open("/proc/self/maps") as file:
        shared = [line for line in file if "penstock" in line and " rw-s " in line]
    assert shared and all("memfd:" in line for line in shared)
    pipe.close()
    assert (values(held[0])[1] == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_batches_of_growing_samples(method):
    pipe = pipe_of(Growing(), method, batch_size=3, batch=False, prefetch_queue_depth=2)
    held = [pipe.run()[0] for _ in range(6)]
    assert [[len(a) for a in values(b)] for b in held] == [
        [Growing.size(3 * k + i) for i in range(3)] for k in range(6)
    ]
    assert all((a == 3 * k + i).all() for k, b in enumerate(held) for i, a in enumerate(values(b)))
    del held
    many = [len(pipe.external_source_shm_statistics()["capacities"]) for _ in range(30) if pipe.run()]
    assert max(many) <= 40
    pipe.close()


class Same:
    """Gives the same array again and again, with other contents."""

    def __init__(self, size):
        self.array = np.zeros(size, np.int32)

    def __call__(self, info):
        self.array[:] = info.idx_in_epoch
        return self.array


@pytest.mark.parametrize("size", [1, 50_000])
def test_results_are_taken_before_the_next_call(size):
    pipe = pipe_of(Same(size), workers=1, batch_size=4, batch=False)
    assert [[int(a[-1]) for a in values(pipe.run()[0])] for _ in range(3)] == [
        [4 * k + i for i in range(4)] for k in range(3)
    ]
    pipe.close()


class Growing:
    @staticmethod
    def size(k):
        return 1000 * (k % 19 + 1)

    def __call__(self, info):
        return np.full(self.size(info.idx_in_epoch), info.idx_in_epoch, np.float64)


def test_layouts_and_hints():
    image = np.zeros((4, 5, 3), np.uint8)
    for data in ([penstock.tensor(image, layout="HWC")] * 2, penstock.batch([image, image], layout="HWC")):
        pipe = pipe_of([data], bytes_per_sample_hint=100_000)
        assert pipe.run()[0].layout() == "HWC"
        pipe.close()
    pipe = pipe_of(lambda i: np.zeros((2, 50_000)), bytes_per_sample_hint=1 << 20)
    pipe.run()
    statistics = pipe.external_source_shm_statistics()
    assert min(statistics["capacities"]) >= 2 << 20 and min(statistics["per_sample_capacities"]) >= 1 << 20
    pipe.close()


# --- the user's object on its way ---------------------------------------------------------------------------------------


def test_functions_that_no_module_has_go_with_their_code():
    scale = 3

    def factorial(n, *, one=1):
        return one if n < 2 else n * factorial(n - 1)

    def source(info):
        return np.int64([scale * factorial(info.idx_in_epoch), len(METHODS), (lambda: scale)()])

    pipe = pipe_of(source, "spawn", workers=1, batch=False)
    got = [values(pipe.run()[0]) for _ in range(2)]
    pipe.close()
    assert np.array(got).tolist() == [[[3, 2, 3], [3, 2, 3]], [[6, 2, 3], [18, 2, 3]]]


def test_pickled_functions():
    def one():
        return two, np.pi

    def two():
        return one, pickle

    again = pickled_functions.loads(pickled_functions.dumps(one))
    assert again is not one and again()[0]()[0]()[1] == np.pi and again()[0]()[1] is pickle
    assert pickled_functions.loads(pickled_functions.dumps(values)) is values
    marked = pickled_functions.pickle_by_value(lambda: 5)
    assert pickled_functions.loads(pickled_functions.dumps(marked))() == 5
    with pytest.raises(TypeError):
        pickled_functions.pickle_by_value(3)


class UnwillingInAnother:
    def __reduce__(self):
        return refuse, (os.getpid(),)

    def __call__(self, i):
        return np.zeros(2)


def refuse(pid):
    if pid != os.getpid():
        raise OSError("not here")
    return UnwillingInAnother()


def test_an_object_that_cannot_be_made_in_the_process():
    with pytest.raises(
        penstock.WorkerError, match="source 'UnwillingInAnother' cannot be made in a worker process: OSError: not here"
    ):
        pipe_of(UnwillingInAnother(), "spawn", workers=1).run()


class Strange(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def test_exceptions_that_cannot_be_pickled():
    class Local(Exception):
        pass

    def source(i):
        raise (Strange(1, 2), Local("near"), ValueError(lambda: 1))[i]

    pipe = pipe_of(source)
    for said, kind in (("1 and 2", RuntimeError), ("near", RuntimeError), ("lambda", RuntimeError)):
        with pytest.raises(kind, match=said) as e:
            pipe.run()
        assert "in source" in str(e.value.__cause__)
    pipe.close()
    pipe = pipe_of(lambda i: (_ for _ in ()))
    with pytest.raises(TypeError, match="generator"):
        pipe.run()
    pipe.close()


# --- ends ---------------------------------------------------------------------------------------------------------------


class Waits:
    """The process that first gets here writes its number to a file, and does what was said. All others go on."""

    def __init__(self, folder, first=2, does=None):
        self.file, self.first, self.does = str(folder / "waits"), first, does

    def number(self, k):
        if k >= self.first and not os.path.exists(self.file):
            with open(self.file + ".new", "x") as file:
                file.write(str(os.getpid()))
            os.rename(self.file + ".new", self.file)
            self.does() if self.does is not None else time.sleep(LONG)
        return np.int64([k])

    def __call__(self, info):
        return self.number(info.idx_in_epoch)

    def pid(self):
        wait_until(lambda: os.path.exists(self.file))
        with open(self.file) as file:
            return int(file.read())


def made(kind, waits, method):
    """A pipeline with one process, so that results after the wait do not exist before."""
    if kind == "dataset":
        pipe = Pipeline(2, 1, py_start_method=method)
        with pipe:
            pipe.set_outputs(fn.readers.dataset(Indexed(waits), num_workers=1, processes=True, num_outputs=1))
        return pipe
    return pipe_of(waits if kind == "callable" else Iterated(waits), method, workers=1, batch=kind != "callable")


class Indexed:
    def __init__(self, waits):
        self.waits = waits

    def __len__(self):
        return 1000

    def __getitem__(self, k):
        return self.waits.number(k)


class Iterated(Indexed):
    def __iter__(self):
        return ([self[2 * k], self[2 * k + 1]] for k in range(1000))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["callable", "iterable", "dataset"])
def test_a_process_that_is_killed_is_an_error_at_once(tmp_path, kind, method):
    waits = Waits(tmp_path)
    pipe = made(kind, waits, method)
    seen, killed = values(pipe.run()[0]), []

    def kill():
        pid = waits.pid()
        time.sleep(0.2)  # run() waits meanwhile
        killed.append((pid, time.monotonic()))
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(penstock.WorkerError, match="was killed by SIGKILL") as e:
        pipe.run()
    now = time.monotonic()
    killer.join()
    pid, then = killed[0]
    print(f"{kind}, {method}: {(now - then) * 1000:.1f} ms after the signal")
    assert now - then < 20  # a second, on a machine with nothing else to do; LONG, if only the answer were waited for
    assert e.value.pid == pid and e.value.signal == signal.SIGKILL and e.value.exitcode is None
    name = {"callable": "source 'Waits'", "iterable": "source 'Iterated'", "dataset": "data set 'Indexed'"}[kind]
    assert f"worker process {pid} of the {name} was killed" in str(e.value)
    if kind == "iterable":  # what was in the process is lost
        with pytest.raises(penstock.WorkerError, match=r"reset\(\) begins again"):
            pipe.run()
        pipe.reset()
        assert values(pipe.run()[0]) == seen
    else:
        assert np.ravel(values(pipe.run()[0])).tolist()[0] % 2 == 0
    pipe.close()


def test_processes_that_end_by_themselves(tmp_path):
    for does, code in ((lambda: sys.exit(7), 7), (lambda: os._exit(8), 8), (sys.exit, 0)):
        waits = Waits(tmp_path, 0, does)
        pipe = made("callable", waits, "fork")
        with pytest.raises(
            penstock.WorkerError, match=rf"'Waits' ended with exit code {code} before it gave its result"
        ) as e:
            pipe.run()
        assert (e.value.exitcode, e.value.signal, e.value.pid) == (code, None, waits.pid())
        assert np.ravel(values(pipe.run()[0])).tolist() == [2, 3]
        pipe.close()
        os.remove(waits.file)


def test_a_process_without_memory():
    def source(i):
        import resource

        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        if i == 1:
            resource.setrlimit(resource.RLIMIT_AS, (now + (16 << 20), resource.RLIM_INFINITY))
        return np.broadcast_to(np.uint8(i), (2, (40 << 20) if i == 1 else 40))  # large only where it is copied

    pipe = pipe_of(source, workers=1)
    assert values(pipe.run()[0])[0][0] == 0
    with pytest.raises(MemoryError, match="bytes of shared memory for a worker process"):
        pipe.run()
    assert values(pipe.run()[0])[0][0] == 2
    pipe.close()


def test_closing_ends_a_process_that_hangs(tmp_path):
    for kind in ("callable", "iterable", "dataset"):
        folder = tmp_path / kind
        folder.mkdir()
        waits = Waits(folder)
        pipe = made(kind, waits, "fork")
        pipe.run()
        pid = waits.pid()
        begin = time.monotonic()
        pipe.close()
        wait_until(lambda: not alive(pid))
        assert time.monotonic() - begin < LONG / 2


def test_processes_end_with_a_pipeline_that_is_no_longer_used(tmp_path):
    for kind in ("callable", "dataset"):
        folder = tmp_path / kind
        folder.mkdir()
        waits = Waits(folder)
        pipe = made(kind, waits, "fork")
        pipe.run()
        pid = waits.pid()
        del pipe
        gc.collect()
        wait_until(lambda: not alive(pid))


PROGRAM = """
import os, signal, sys, time
import numpy as np
from penstock import Pipeline, fn
from penstock._workers import pickled_functions
def source(info):
    if info.idx_in_epoch >= 2 and sys.argv[2] != "exit":
        time.sleep(60)
    return np.int64([os.getpid()] + [0] * 100000)
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have inherited "ignored"
    pipe = Pipeline(2, 1, py_start_method=sys.argv[1], py_num_workers=2)
    with pipe:
        pipe.set_outputs(fn.external_source(source, parallel=True, batch=False))
    print(*[int(t.numpy()[0]) for t in pipe.run()[0]], flush=True)
    if sys.argv[2] != "exit":
        pipe.run()
"""


@pytest.mark.parametrize("how", ["exit", "interrupt", "kill", "terminate"])
@pytest.mark.parametrize("method", METHODS)
def test_processes_end_with_their_program(tmp_path, method, how):
    (tmp_path / "main.py").write_text(PROGRAM)
    program = subprocess.Popen(
        [sys.executable, "main.py", method, how],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    workers = [int(n) for n in program.stdout.readline().split()]
    if how == "interrupt":  # as Ctrl-C, to all processes of the terminal
        os.killpg(program.pid, signal.SIGINT)
    elif how != "exit":
        os.kill(program.pid, signal.SIGKILL if how == "kill" else signal.SIGTERM)
    said = program.communicate(timeout=LONG)[1].decode()
    if how == "interrupt":
        assert (
            program.returncode != 0 and said.count("Traceback") == 1 and said.rstrip().endswith("KeyboardInterrupt")
        ), said
    else:
        assert (
            program.returncode == {"exit": 0, "kill": -signal.SIGKILL, "terminate": -signal.SIGTERM}[how] and not said
        ), said
    assert workers
    wait_until(lambda: not any(alive(n) for n in workers))
