# SPDX-License-Identifier: Apache-2.0
"""external_source: every kind of source, ends and cycles, declarations, feeding, wrong data."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from small_pipelines import drain, ending, ramp, source_pipe

import penstock
from penstock import Pipeline, fn, pipeline_def, types


def test_kinds_of_sources():
    want = [[[[0], [0]]], [[[1], [1]]]]
    batch = lambda i: np.full((2, 1), i, np.int32)
    make = source_pipe()

    def generator():
        yield batch(0)
        yield batch(1)

    one_argument, batch_info = ending(2, batch), ending(2, batch)
    no_argument = ending(2, batch)
    sources = [lambda: no_argument(), generator, generator(), [batch(0), batch(1)], iter([batch(0), batch(1)])]
    assert drain(make(lambda i: one_argument(i))) == want
    assert drain(make(lambda info: batch_info(info), batch_info=True)) == want
    for s in sources:
        assert drain(make(s)) == want, s
    assert drain(make([[np.int32([0]), np.int32([0])], [np.int32([1]), np.int32([1])]])) == want
    assert drain(make([penstock.batch(batch(0)), penstock.batch(batch(1))])) == want


def test_torch_batches():
    import torch

    assert drain(source_pipe()([torch.ones(2, 1), [torch.zeros(1), torch.ones(1)]])) == [
        [[[1.0], [1.0]]],
        [[[0.0], [1.0]]],
    ]


def test_sources_of_samples():
    seen = []

    def sample(info):
        seen.append((info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx))
        if info.idx_in_epoch >= 5:
            raise StopIteration
        return np.int32([info.idx_in_epoch])

    p = source_pipe()(sample, batch=False)
    assert drain(p) == [[[[0], [1]]], [[[2], [3]]]]  # the partial batch is dropped
    assert seen[:4] == [(0, 0, 0, 0), (1, 1, 0, 0), (2, 0, 1, 0), (3, 1, 1, 0)]
    with pytest.raises(StopIteration):
        p.run()
    p.reset()
    assert drain(p) == [[[[0], [1]]], [[[2], [3]]]]
    assert (0, 0, 0, 1) in seen
    assert drain(source_pipe()((np.int32([i]) for i in range(4)), batch=False)) == [[[[0], [1]]], [[[2], [3]]]]


def test_cycles():
    data = [np.full((2, 1), i, np.int32) for i in range(2)]
    make = source_pipe()
    quiet = make(data, cycle="quiet")
    assert [int(quiet.run()[0].at(0)[0]) for _ in range(5)] == [0, 1, 0, 1, 0]
    raising = make(data, cycle="raise")
    for _ in range(3):
        assert len(drain(raising)) == 2
        raising.reset()
    ends = make(data)
    assert len(drain(ends)) == 2
    ends.reset()
    assert drain(ends) == []

    def generator():
        yield from data

    assert make(generator, cycle=True).run()

    class Both:  # its items count, even if it could be called; as in DALI
        def __call__(self):
            raise AssertionError

        def __iter__(self):
            self.at = 0
            return self

        def __next__(self):
            self.at += 1
            if self.at > 2:
                raise StopIteration
            return data[self.at - 1]

    for cycle, want in (
        (None, [0, 1, "end", "end", "end"]),
        ("quiet", [0, 1, 0, 1, 0]),
        ("raise", [0, 1, "end", 0, 1]),
    ):
        pipe, seen = make(Both(), cycle=cycle), []
        for _ in range(5):
            try:
                seen.append(int(pipe.run()[0].at(0)[0]))
            except StopIteration:
                seen.append("end")
                pipe.reset()
        assert seen == want

    class Generating:
        def __call__(self):
            yield from data

    assert len(drain(make(Generating()))) == 2
    for wrong, error in (
        (dict(source=generator(), cycle=True), TypeError),
        (dict(source=lambda: data[0], cycle=True), ValueError),
        (dict(source=data, cycle="twice"), ValueError),
    ):
        with pytest.raises(error):
            make(**wrong)


def test_several_outputs_and_declarations():
    make = source_pipe()
    a, b = np.zeros((2, 3, 4, 3), np.uint8), np.ones((2, 1), np.int32)
    p = make([(a, b)], num_outputs=2, layout=["HWC", None], dtype=[types.UINT8, types.INT32], ndim=[3, 1])
    x, y = p.run()
    assert x.layout() == "HWC" and y.dtype == types.INT32
    with pytest.raises(IndexError):
        make([(a,)], num_outputs=2).run()
    for wrong in (dict(dtype=types.FLOAT), dict(ndim=2), dict(layout="HW")):
        with pytest.raises((TypeError, ValueError)):
            make([a], **wrong).run()
    for wrong in (
        dict(source=3),
        dict(source=lambda a, b: 1),
        dict(num_outputs=0),
        dict(num_outputs=2, name="x"),
        dict(source=[a], repeat_last=True),
        dict(source=[a], prefetch_queue_depth=2),
        dict(cycle=True),
        dict(source=None, num_outputs=2),
        dict(source=[a], ndim=-1),
        dict(source=[a], ndim=[-2]),
    ):
        with pytest.raises((TypeError, ValueError)):
            make(**wrong)


def test_a_layout_that_is_not_the_declared_one():
    x = np.zeros((2, 4, 3), np.uint8)
    named = penstock.Batch(x, "WC")
    assert source_pipe()([named], layout="WC").run()[0].layout() == "WC"
    with pytest.raises(ValueError, match="layout 'WC', but layout='HW' was declared"):
        source_pipe()([named], layout="HW").run()
    p = Pipeline(2, 1, None)
    with p:
        p.set_outputs(fn.external_source(name="x", layout="HW"))
    p.feed_input("x", x, layout="WC")
    with pytest.raises(ValueError, match="layout 'WC'"):
        p.run()


def test_wrong_batches():
    make = source_pipe()
    for data in ([1, 2], [[1], [2]], None, "ab", [np.zeros(2), None], np.float32(1)):
        with pytest.raises((TypeError, ValueError)):
            make([data]).run()
    with pytest.raises(ValueError, match="3 samples"):
        make([np.zeros((3, 1))]).run()
    assert len(make([np.zeros((1, 1))]).run()[0]) == 1  # a smaller batch
    assert make([np.asfortranarray(ramp(2, 3, 4))]).run()[0].at(1).tolist() == ramp(2, 3, 4)[1].tolist()


def test_exceptions_of_the_user_pass_unchanged():
    class Mine(Exception):
        pass

    def source(i):
        if i == 1:
            raise Mine("here")
        return np.zeros((2, 1))

    p = source_pipe()(source)
    p.run()
    with pytest.raises(Mine, match="here"):
        p.run()
    p.run()  # the pipeline stays usable


def test_feeding():
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe(**options):
        return fn.external_source(name="x", **options)

    p = pipe()
    p.feed_input("x", np.zeros((2, 1)))
    p.feed_input("x", np.ones((2, 1)))
    assert [p.run()[0].as_array().max() for _ in range(2)] == [0, 1]
    with pytest.raises(IndexError, match="not fed"):
        p.run()
    assert p.run(x=[np.float32([5]), np.float32([6])])[0].as_array().tolist() == [[5], [6]]
    with pytest.raises(KeyError):
        p.feed_input("y", np.zeros((2, 1)))
    repeating = pipe(repeat_last=True)
    repeating.feed_input("x", np.full((2, 1), 3.0))
    assert [repeating.run()[0].as_array().max() for _ in range(3)] == [3, 3, 3]
    with pytest.raises(RuntimeError, match="source of its own"):
        source_pipe()([np.zeros((2, 1))], name="z").feed_input("z", np.zeros((2, 1)))


def test_run_in_parts():
    p = source_pipe(prefetch_queue_depth=3)(lambda i: np.full((2, 1), i, np.int32))
    p.build()
    assert p.empty()
    for _ in range(3):
        p.schedule_run()
    assert not p.empty()
    assert [int(p.outputs()[0].at(0)[0]) for _ in range(3)] == [0, 1, 2]
    p.schedule_run()
    assert int(p.share_outputs()[0].at(0)[0]) == 3
    p.release_outputs()
    assert p.empty()


def test_a_source_may_collect_its_own_pipeline():
    import gc
    import weakref

    seen = []

    def source(i):
        gc.collect()
        return np.zeros((2, 1))

    gc.freeze()  # what other tests left would be looked through each time
    try:
        for _ in range(20):
            p = source_pipe()(source)
            p.itself = p  # only the collector ends it, maybe on the pipeline's own thread
            p.run()
            seen.append(weakref.ref(p))
            del p
        deadline = time.monotonic() + 60  # another thread may be collecting
        while any(r() for r in seen) and time.monotonic() < deadline:
            gc.collect()
            time.sleep(0.01)
        assert not any(r() for r in seen)
    finally:
        gc.unfreeze()


# --- iterables in a process of their own --------------------------------------------------------------------------------


def three_batches():
    for k in range(3):
        yield [np.int32(10 * k + i) for i in range(2)]


def pairs():
    for k in range(2):
        yield [np.int32(k)] * 2, [np.float32(k) / 2] * 2


def one_then_an_error():
    yield [np.int32(1)] * 2
    raise KeyError("the user's own")


def one_then_an_end():
    yield [np.int32(1)] * 2
    os._exit(3)


class Resetting:
    """Its own iterator."""

    def __iter__(self):
        self.k = 0
        return self

    def __next__(self):
        if self.k == 3:
            raise StopIteration
        self.k += 1
        return [np.int32(self.k)] * 2


def numbers(source, parallel, runs, method="spawn", **options):
    """What `runs` runs give, "end" for the end of the data, after which reset() is called."""
    pickler = options.pop("py_callback_pickler", None)
    pipe = Pipeline(2, 1, py_start_method=method, py_num_workers=2, py_callback_pickler=pickler)
    with pipe:
        out = fn.external_source(source, parallel=parallel, **options)
        pipe.set_outputs(*(out if isinstance(out, list) else [out]))
    seen = []
    for _ in range(runs):
        try:
            seen.append([[t.numpy().item() for t in b] for b in pipe.run()])
        except StopIteration:
            seen.append("end")
            pipe.reset()
    pipe.close()
    return seen


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("cycle", [None, "quiet", "raise"])
def test_parallel_iterables_give_what_the_same_without_processes_gives(method, cycle):
    for make in (lambda: three_batches, Resetting, lambda: [[np.int32(k)] * 2 for k in range(2)]):
        assert numbers(make(), True, 9, method, cycle=cycle) == numbers(make(), None, 9, cycle=cycle)


def test_parallel_iterable_with_several_outputs_and_depths():
    for depth in (1, 4):
        assert numbers(pairs, True, 3, num_outputs=2, prefetch_queue_depth=depth) == [
            [[0, 0], [0, 0]],
            [[1, 1], [0.5, 0.5]],
            "end",
        ]


def test_parallel_iterable_runs_in_one_other_process():
    def processes():
        while True:
            yield [np.int64(os.getpid())] * 2

    seen = {n for run in numbers(processes, True, 4, "fork") for n in run[0]}
    assert len(seen) == 1 and seen != {os.getpid()}


def test_parallel_iterables_that_fail():
    with pytest.raises(KeyError, match="the user's own"):
        numbers(one_then_an_error, True, 3)
    with pytest.raises(penstock.WorkerError, match="of the source 'one_then_an_end' ended with exit code 3"):
        numbers(one_then_an_end, True, 3)
    with pytest.raises(TypeError, match="needs batch=True"):
        numbers(three_batches, True, 1, batch=False)
    with pytest.raises(TypeError, match="cannot be sent to a worker process"):
        numbers(three_batches(), True, 1)
    assert numbers(three_batches(), True, 1, "fork") == [[[0, 1]]]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_end_with_a_parent_that_is_killed(method, tmp_path):
    (tmp_path / "numbers_of_workers.py").write_text(
        "import os\nimport numpy as np\ndef number(_):\n    return np.int64(os.getpid())\n"
    )
    (tmp_path / "main.py").write_text(f"""
import os, signal
import numbers_of_workers
from penstock import Pipeline, fn
if __name__ == "__main__":
    pipe = Pipeline(4, 1, py_start_method="{method}", py_num_workers=2)
    with pipe:
        pipe.set_outputs(fn.external_source(numbers_of_workers.number, parallel=True, batch=False))
    print(*[int(t.numpy()) for t in pipe.run()[0]], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
""")
    ended = subprocess.run(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert ended.returncode == -signal.SIGKILL
    workers = {int(n) for n in ended.stdout.split()}
    assert workers
    deadline = time.monotonic() + 30
    while any(os.path.exists(f"/proc/{n}") for n in workers):
        assert time.monotonic() < deadline, "workers outlive their parent"
        time.sleep(0.1)


def dumps(source, **options):
    return pickle.dumps((source.__name__, options))


def loads(data, **options):
    name, written = pickle.loads(data)
    assert name == "<lambda>" and written == {"protocol": 4} and options == {"strict": True}
    return three_batches


def test_callback_pickler():
    this = sys.modules[__name__]
    source = type("Source", (), {"__name__": "<lambda>", "__iter__": lambda self: three_batches()})()
    assert numbers(source, True, 2, py_callback_pickler=(this, {"protocol": 4}, {"strict": True})) == [
        [[0, 1]],
        [[10, 11]],
    ]


@pytest.mark.parametrize("bad", range(3))
@pytest.mark.parametrize("kind", ["fed", "callables", "readers"])
def test_sources_stay_together_when_an_iteration_fails(tmp_path, bad, kind):
    """The stage that fails is before the second source, which that iteration never calls."""
    good = picture_file(tmp_path)
    data = [good[:200] if i == bad else good for i in range(4)]
    if kind == "readers":
        for i, text in enumerate(data):
            (tmp_path / f"{i}.png").write_bytes(text)
        names = [str(tmp_path / f"{i}.png") for i in range(4)]

    @pipeline_def(batch_size=1, num_threads=2)
    def pipe():
        if kind == "readers":
            encoded, other = fn.readers.file(files=names)[0], lambda: fn.readers.file(files=names)[1]
        elif kind == "fed":
            encoded, other = fn.external_source(name="a"), lambda: fn.external_source(name="b")
        else:
            encoded = fn.external_source(lambda i: [np.frombuffer(data[i], np.uint8)])
            other = lambda: fn.external_source(lambda i: np.int32([[i]]))  # noqa: E731
        return fn.resize(fn.decoders.image(encoded), size=[2, 2]), other()

    p = pipe()
    p.build()
    for i in range(4 if kind == "fed" else 0):
        p.feed_input("a", [np.frombuffer(data[i], np.uint8)])
        p.feed_input("b", np.int32([[i]]))
        p.schedule_run()
    for i in range(4):
        step = p.outputs if kind == "fed" else p.run
        if i != bad:
            assert step()[1].as_array().item() == i
            continue
        with pytest.raises(
            penstock.DataError,
            match=r"\[decoders.image\].*" + (f"{i}.png" if kind == "readers" else f"sample {i} of epoch 0"),
        ):
            step()


def picture_file(folder):
    from PIL import Image

    Image.linear_gradient("L").convert("RGB").save(folder / "good.png")
    return (folder / "good.png").read_bytes()


# --- epochs of DALI's iterators -----------------------------------------------------------------------------------------


class GoingOn:
    """The iterator of DALI's tutorials: StopIteration at an epoch's end, and then the next epoch."""

    def __init__(self):
        self.k = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k == 3:
            self.k = 0
            raise StopIteration
        self.k += 1
        return [np.int32([self.k - 1])] * 2

    __call__ = __next__


def indexed(i):
    if i == 3:
        raise StopIteration
    return [np.int32([i])] * 2


def items():
    for i in range(3):
        yield indexed(i)


EVERY, ONE = (
    {-1: [[0, 1, 2]] * 4, 6: [[0, 1, 2]] * 4, 4: [[0, 1], [2, 0], [1, 2], [0, 1]]},
    {-1: [[0, 1, 2], [], [], []], 4: [[0, 1], [2], [], []]},
)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    "source, cycle, want",
    [
        (GoingOn, None, EVERY),
        (GoingOn, "raise", EVERY),
        (lambda: GoingOn().__next__, None, EVERY),
        (lambda: indexed, None, EVERY),
        (lambda: items, None, ONE),
        (lambda: items, "raise", EVERY),
        (items, None, ONE),
        (lambda: list(items()), None, ONE),
        (lambda: list(items()), "raise", EVERY),
        (lambda: items, "quiet", {6: [[0, 1, 2]] * 4, 4: EVERY[4]}),
    ],
)
def test_epochs_of_sources_are_dalis(source, cycle, want, depth):
    """What DALI 2.4.0 gives with a prefetch_queue_depth of 2: its iterators ask a source again after reset()."""
    from penstock.plugin.numpy import NumpyIterator

    for size, epochs in want.items():
        for auto_reset in (False, True):
            pipe = source_pipe(prefetch_queue_depth=depth)(source(), cycle=cycle)
            batches, got = NumpyIterator(pipe, ["x"], size=size, auto_reset=auto_reset), []
            for _ in epochs:
                got.append([int(b[0]["x"][0, 0]) for b in batches])
                if not auto_reset:
                    batches.reset()
            assert got == epochs, (size, auto_reset)
