# SPDX-License-Identifier: Apache-2.0
"""PENSTOCK_EXEC=stepping: one step after the other without threads gives the bytes, errors, states and lost samples of the
threads."""

import gc
import os

import numpy as np
import pytest
import stepping_sources as sources
from stepping_programs import body_of, program_of

import penstock
from penstock import Pipeline, fn, pipeline_def, types

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "0"))
PROGRAMS = int(os.environ.get("PENSTOCK_TEST_PROGRAMS", 0)) or (20000 if COUNT else 200)
PARTS = 4


def given(monkeypatch, mode):
    monkeypatch.delenv("PENSTOCK_EXEC", raising=False)
    if mode:
        monkeypatch.setenv("PENSTOCK_EXEC", mode)


def bytes_of(batch):
    return batch.layout(), [(a.dtype.str, a.shape, a.tobytes()) for a in (t.cpu().numpy() for t in batch)]


def story_of(pipe, batches=4):
    """All that a user sees of some batches: bytes, ids, lost samples, errors, and the checkpoint after each."""
    told = []
    for _ in range(batches):
        try:
            out = pipe.run()
            told.append([bytes_of(b) for b in out])
            told.append([list(pipe._origin), pipe.left_out(last_batch=True)])
        except StopIteration:
            told.append("end")
            pipe.reset()
        except (ValueError, TypeError, IndexError, RuntimeError) as error:
            told.append((type(error), str(error)))
        told.append(pipe.checkpoint())
    return told


def assert_twins(monkeypatch, make, text, modes):
    told = {}
    for mode in modes:
        given(monkeypatch, mode)
        with make() as pipe:
            told[mode] = story_of(pipe)
            pipe.close()
    first = told[modes[0]]
    for mode in modes[1:]:
        for number, (expected, got) in enumerate(zip(first, told[mode], strict=True)):
            if mode == "stepping" and isinstance(
                expected, tuple
            ):  # of several in a stage, another operator may be first
                expected, got = expected[0], got[0]
            assert got == expected, (mode, number, text)
    return first


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    whole, damaged = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("damaged")
    sources.write_files(whole)
    sources.write_files(damaged, bad=(2, 5))
    return whole, damaged


def made(program, folder, source=sources.of_arrays, device="cpu", **options):
    options = {"batch_size": 4, "num_threads": 2, "seed": 11, "max_trips": 100, "mixed_outputs": True, **options}
    return pipeline_def(body_of(program, folder, device, source))(**options)


def saved_program(monkeypatch, *arguments, **options):
    given(monkeypatch, None)
    pipe = made(*arguments, **options)
    try:
        return pipe.serialize()
    finally:
        pipe.close()


def maker_of(monkeypatch, calls, *arguments, **options):
    """What makes the pipeline again: from its saved form where it has one; None: the program cannot be a pipeline."""
    try:
        if calls:
            given(monkeypatch, None)
            made(*arguments, **options).close()
            return lambda: made(*arguments, **options)
        saved = saved_program(monkeypatch, *arguments, **options)
        return lambda: Pipeline.deserialize(saved)
    except ValueError as error:
        assert "values of different samples" in str(error), arguments
        return None


def check_program(monkeypatch, files, seed):
    """The name of the source and whether a batch was an error; None: the program cannot be a pipeline."""
    number, rng = seed // PARTS, np.random.default_rng(seed)
    policy, calls = ("raise", "raise", "raise", "skip", "replace")[number % 5], number % 3 == 2
    choices = sources.of_policy(policy) + sources.TRACED * calls
    source = choices[rng.integers(len(choices))]
    threads, depth = rng.integers(1, 4, 2).tolist()
    program, text = program_of(seed, fails=number % 4 == 1, calls=calls)
    options = {"on_error": policy, "num_threads": threads, "prefetch_queue_depth": depth}
    make = maker_of(monkeypatch, calls, program, files[policy != "raise"], source, **options)
    if make is None:
        return None
    modes = ("", "stepping", "stepping-fused") if number % 4 < 2 else ("", "stepping")
    told = assert_twins(monkeypatch, make, (seed, policy, source.__name__, text), modes)
    return source.__name__, any(isinstance(t, tuple) for t in told)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_run_alike_step_by_step(monkeypatch, files, part):
    ran = [check_program(monkeypatch, files, seed) for seed in range(part, PROGRAMS, PARTS)]
    failed = sum(told is not None and told[1] for told in ran)
    assert 0 < failed < len(ran) / 2 or PROGRAMS < 100
    assert {told[0] for told in ran if told} == {f.__name__ for f in sources.SAVED + sources.TRACED} or PROGRAMS < 200


def numbers(i):
    if i == 5:
        raise StopIteration
    return [np.int32(4 * i + k) for k in range(4)]


def told_of(monkeypatch, mode, body, runs=6, **options):
    """What a pipeline with functions of the program gives, which no saved form has."""
    given(monkeypatch, mode)
    pipe = pipeline_def(body)(batch_size=4, num_threads=2, seed=5, **options)
    told = []
    for _ in range(runs):
        try:
            told.append([bytes_of(b) for b in pipe.run()])
        except StopIteration:
            told.append("end")
            pipe.reset()
        except Exception as error:
            told.append((type(error), str(error)))
    pipe.close()
    return told


def refuse_two(v):
    if v == 9:
        raise KeyError("nine")
    return v * 2


def functions():
    k = fn.external_source(numbers, dtype=types.INT32, ndim=0)
    y = k
    if k % 3 == 0:
        y = fn.python_function(k, function=refuse_two)
    for i in range(k & 3):
        y = y + fn.random.uniform(range=[0, 9], dtype=types.INT32) * i
    return k, y


def rebatched():
    k = fn.external_source(numbers, dtype=types.INT32, ndim=0)
    k = fn.filter(k, keep=k % 5, min_batch=0)
    return fn.rebatch(k, fn.random.uniform(range=[0, 1]), batch_size=3)


def skipped():
    k = fn.external_source(numbers, dtype=types.INT32, ndim=0)
    return fn.filter(k, keep=k > 7)


@pytest.mark.parametrize("body", [functions, rebatched, skipped], ids=lambda body: body.__name__)
def test_functions_of_the_program_and_batches_that_change(monkeypatch, body):
    threads = told_of(monkeypatch, None, body, 12)
    assert threads == told_of(monkeypatch, "stepping", body, 12) == told_of(monkeypatch, "stepping-fused", body, 12)
    assert "end" in threads


@pytest.mark.parametrize("mode", ["stepping", "stepping-fused"])
def test_it_has_no_threads_and_runs_on_the_callers(monkeypatch, mode):
    import threading

    seen = []

    def body():
        def note(v):
            seen.append(threading.get_ident())
            return v

        k = fn.external_source(numbers, dtype=types.INT32, ndim=0)
        return fn.python_function(k, function=note)

    gc.collect()  # pipelines of other tests
    before = set(os.listdir("/proc/self/task"))
    given(monkeypatch, mode)
    pipe = pipeline_def(body)(batch_size=4, num_threads=3)
    pipe.build()
    assert set(os.listdir("/proc/self/task")) <= before
    pipe.run()
    assert set(seen) == {threading.get_ident()}
    assert len(seen) == 4  # nothing runs ahead


def test_a_function_that_uses_its_own_pipeline_is_an_error(monkeypatch):
    given(monkeypatch, "stepping")
    made = []

    @pipeline_def(batch_size=4, num_threads=1)
    def pipe():
        k = fn.external_source(numbers, dtype=types.INT32, ndim=0)
        return fn.python_function(k, function=lambda v: made[0].run()[0][0].numpy())

    made.append(pipe())
    with pytest.raises(penstock.FunctionError, match="it would wait for itself"):
        made[0].run()


def test_one_pipeline_runs_inside_another(monkeypatch):
    given(monkeypatch, None)

    @pipeline_def(batch_size=1, num_threads=1)
    def inner():
        return fn.external_source(lambda i: [np.int32(i)], dtype=types.INT32, ndim=0)

    def outer():
        k = fn.external_source(numbers, dtype=types.INT32, ndim=0)
        return k + fn.python_function(k, function=lambda v: made.run()[0][0].numpy())

    told = []
    for mode in (None, "stepping"):
        made = inner()
        told.append(told_of(monkeypatch, mode, outer, 3))
    assert told[0] == told[1] and all(isinstance(t, list) for t in told[0])


def test_seek_state_and_feeding(monkeypatch, files):
    program, text = program_of(8)
    saved = saved_program(monkeypatch, program, files[0])
    told = {}
    for mode in (None, "stepping"):
        given(monkeypatch, mode)
        with Pipeline.deserialize(saved) as pipe:
            first = story_of(pipe, 3)
            state = pipe.checkpoint()
            after = story_of(pipe, 2)
            pipe.seek(epoch=1, batch=1)
            sought = story_of(pipe, 2)
        with Pipeline.deserialize(saved, checkpoint=state) as again:
            assert story_of(again, 2) == after, (mode, text)
        told[mode] = first, after, sought
    assert told[None] == told["stepping"]


def test_a_source_that_nobody_has_fed(monkeypatch):
    given(monkeypatch, "stepping")

    @pipeline_def(batch_size=2, num_threads=1, prefetch_queue_depth=1)
    def pipe():
        return fn.external_source(name="x", dtype=types.UINT8) + 1

    p = pipe()
    for k in range(3):
        p.feed_input("x", np.full((2, 3), k, np.uint8))
        assert (p.run()[0].as_array() == k + 1).all()
    with pytest.raises(IndexError, match="'x' was not fed"):
        p.run()
    executor = p._pipeline
    executor.schedule()
    with pytest.raises(ValueError, match="nothing was fed to 'x'"):
        executor.outputs()


def test_a_setting_that_does_not_exist_is_an_error(monkeypatch):
    monkeypatch.setenv("PENSTOCK_EXEC", "steping")
    with pytest.raises(ValueError, match="PENSTOCK_EXEC is 'steping'.*did you mean 'stepping'"):
        pipeline_def(lambda: fn.random.uniform(range=[0, 1]))(batch_size=1, num_threads=1).run()
