# SPDX-License-Identifier: Apache-2.0
"""Random numbers without a seed of their own: in forked processes, in workers of torch and of pipelines, after
torch.manual_seed() and penstock.seed(). Also operators and pipelines that are sent to spawned processes."""

import copy
import functools
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from random_programs import Draws, Iterates, OfClass, batch_of, of_batch, of_sample, of_scale, seed_of

import penstock
from penstock import Pipeline, fn, pipeline_def


@pytest.fixture(autouse=True)
def follows_torch():
    penstock.seed(None)
    yield
    penstock.seed(None)


def drawn(n=2):
    return [float(fn.random.uniform()) for _ in range(n)]


def epochs_of_torch(method, workers=2, epochs=2):
    loader = torch.utils.data.DataLoader(Draws(), batch_size=2, num_workers=workers, multiprocessing_context=method)
    return [np.concatenate([b.numpy() for b in loader])[:, 0] for _ in range(epochs)]


@pytest.mark.parametrize("seed", [torch.manual_seed, penstock.seed], ids=["torch", "penstock"])
def test_workers_of_torch_draw_other_numbers_and_reproducibly(seed):
    seed(3)
    torch.manual_seed(3)
    first = epochs_of_torch("fork")
    assert len(set(np.concatenate(first))) == 16
    seed(3)
    torch.manual_seed(3)
    np.testing.assert_array_equal(epochs_of_torch("fork"), first)
    seed(4)
    torch.manual_seed(4)
    assert not set(np.concatenate(epochs_of_torch("fork"))) & set(np.concatenate(first))


def test_spawned_workers_of_torch_follow_its_seed():
    torch.manual_seed(3)
    forked = epochs_of_torch("fork", 1, 1)
    torch.manual_seed(3)
    np.testing.assert_array_equal(epochs_of_torch("spawn", 1, 1), forked)


def in_child(function):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, pickle.dumps(function()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


def two_levels():
    return drawn() + in_child(drawn) + in_child(drawn)


@pytest.mark.parametrize(
    "seed", [lambda: None, lambda: torch.manual_seed(5), lambda: penstock.seed(5)], ids=["none", "torch", "penstock"]
)
def test_a_forked_process_draws_other_numbers(seed):
    seed()
    before = drawn()
    children = in_child(two_levels) + in_child(two_levels)
    everything = before + children + drawn()
    assert len(set(everything)) == len(everything)


def test_forked_processes_repeat_after_penstock_seed_and_follow_a_seed_of_their_own():
    def family():
        penstock.seed(5)
        return drawn() + in_child(two_levels) + in_child(two_levels)

    assert family() == family()

    def seeded():
        torch.manual_seed(77)
        return drawn()

    penstock.seed(None)
    torch.manual_seed(77)
    want = drawn()
    torch.manual_seed(78)
    assert in_child(seeded) == want == in_child(seeded)


PROGRAM = """
import os, sys, threading
import penstock
from penstock import fn
assert "torch" not in sys.modules
a = float(fn.random.uniform())
r, w = os.pipe()
if not os.fork():
    os.write(w, repr(float(fn.random.uniform())).encode())
    os._exit(0)
os.close(w)
b, c = float(os.fdopen(r).read()), float(fn.random.uniform())
assert len({a, b, c}) == 3
assert "torch" not in sys.modules and "penstock.torch" not in sys.modules
import torch
torch.manual_seed(1)
a = float(fn.random.uniform())
torch.manual_seed(1)
assert a == float(fn.random.uniform())
print(a)
"""


def test_torch_is_followed_where_it_is_imported_and_not_imported():
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    said = subprocess.run([sys.executable, "-c", PROGRAM], env=env, check=True, capture_output=True, text=True).stdout
    torch.manual_seed(1)
    assert float(said) == float(fn.random.uniform())


def test_immediate_calls_follow_torch_until_penstock_seed():
    torch.manual_seed(0)
    first = drawn()
    torch.manual_seed(0)
    assert drawn() == first
    torch.manual_seed(0)
    torch.rand(1)
    assert drawn() != first
    penstock.seed(9)
    own = drawn()
    torch.manual_seed(0)
    penstock.seed(9)
    torch.manual_seed(1)
    assert drawn() == own != first
    penstock.seed(None)
    torch.manual_seed(0)
    assert drawn() == first


def test_calls_that_draw_nothing_or_have_a_seed_leave_torch_alone():
    torch.manual_seed(0)
    state = torch.get_rng_state()
    fn.random.uniform(seed=4)
    fn.flip(np.zeros((2, 2, 3), np.uint8))
    Pipeline(1, 1, seed=5)
    thread = threading.Thread(
        target=drawn
    )  # other threads follow the seed and do not change what the main thread draws
    thread.start()
    thread.join()
    assert torch.equal(state, torch.get_rng_state())
    fn.random.uniform()
    assert not torch.equal(state, torch.get_rng_state())


def test_threads_follow_the_seed_of_torch():
    def in_thread():
        made = []
        thread = threading.Thread(target=lambda: made.extend(drawn()))
        thread.start()
        thread.join()
        return made

    torch.manual_seed(11)
    first = in_thread()
    torch.manual_seed(12)
    second = in_thread()
    torch.manual_seed(11)
    assert in_thread() == first != second and len({*first, *second}) == 4


@pytest.mark.parametrize("seed", [torch.manual_seed, penstock.seed], ids=["torch", "penstock"])
def test_pipelines_without_a_seed_follow(seed):
    def seeds():
        return [Pipeline(1, 1).seed, Pipeline(1, 1, seed=None).seed, Pipeline(1, 1, seed=-1).seed]

    seed(21)
    first = seeds()
    seed(21)
    assert seeds() == first and len(set(first)) == 3
    seed(22)
    assert not set(seeds()) & set(first)


# --- worker processes of pipelines ---------------------------------------------------------------------------------------


def define(kind, workers):
    if kind == "dataset":
        return fn.readers.dataset(Draws(), processes=True, num_workers=workers, name="r")
    if kind == "batches":
        return fn.python_function(
            fn.batch_permutation(),
            function=lambda b: of_batch(0),
            batch_processing=True,
            processes=True,
            num_workers=workers,
        )
    given = {"of_sample": (of_sample, False), "of_batch": (of_batch, True), "iterable": (Iterates(), True)}[kind]
    return fn.external_source(given[0], parallel=True, batch=given[1])


def numbers(kind, batches=4, method="fork", workers=2, **options):
    pipe = Pipeline(
        **{
            "batch_size": 4,
            "num_threads": 2,
            "seed": 3,
            "py_num_workers": workers,
            "py_start_method": method,
            **options,
        }
    )
    with pipe:
        pipe.set_outputs(define(kind, workers))
    got = [np.stack([t.numpy()[:4] for t in pipe.run()[0]]) for _ in range(batches)]
    state = pipe.checkpoint() if kind == "dataset" else None
    pipe.close()
    return np.concatenate(got), state


@pytest.mark.parametrize("kind", ["dataset", "batches", "of_sample", "of_batch", "iterable"])
def test_worker_processes_draw_by_the_place_of_the_sample(kind):
    first, _ = numbers(kind)
    for column in first.T:  # fn, NumPy, random, torch; two epochs of the data set
        assert len(set(column)) == 16
    np.testing.assert_array_equal(numbers(kind, workers=3)[0], first)
    assert not set(numbers(kind, batches=1, seed=4)[0].ravel()) & set(first.ravel())


def test_spawned_worker_processes_draw_as_forked_ones():
    spawned, forked = (
        numbers("of_sample", 2, method)[0][:, :3] for method in ("spawn", "fork")
    )  # torch is not in both
    np.testing.assert_array_equal(spawned, forked)


def test_worker_processes_go_on_from_a_checkpoint():
    torch.manual_seed(1)
    whole, _ = numbers("dataset", 4, seed=None)
    torch.manual_seed(1)
    begun, state = numbers("dataset", 1, seed=None)
    np.testing.assert_array_equal(np.concatenate([begun, numbers("dataset", 3, seed=None, checkpoint=state)[0]]), whole)


# --- pickling ------------------------------------------------------------------------------------------------------------


def test_operators_can_be_pickled():
    for name in penstock._core.operators():
        path, _, last = name.rpartition(".")
        module = sys.modules["penstock.fn" + ("." + path if path else "")]
        function = getattr(module, last)
        assert pickle.loads(pickle.dumps(function)) is function is copy.deepcopy(function), name
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    flip = pickle.loads(pickle.dumps(functools.partial(fn.flip, horizontal=1)))
    np.testing.assert_array_equal(flip(image), image[:, ::-1])


def test_operators_and_pipelines_go_to_spawned_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        flipped = pool.apply(functools.partial(fn.flip, np.arange(6, dtype=np.uint8).reshape(1, 2, 3)))
        np.testing.assert_array_equal(flipped, [[[3, 4, 5], [0, 1, 2]]])
        for pipe in (of_scale(5.0, more=1), of_scale(5.0, seed=8), OfClass()):
            assert pool.apply(batch_of, (pipe,)) == batch_of(pipe)
        assert pool.apply(seed_of, (of_scale, 2.0)) == 5


def test_a_pipeline_that_cannot_be_pickled_says_what_to_do():
    pipe = of_scale(5.0)
    pipe.build()
    with pytest.raises(TypeError, match=r"pickle it before build\(\) and run\(\)"):
        pickle.dumps(pipe)
    pipe = Pipeline(3, 1)
    with pipe:
        pipe.set_outputs(fn.random.uniform())
    with pytest.raises(TypeError, match="@pipeline_def at the top of a module"):
        pickle.dumps(pipe)


# --- functions of the program that run while a pipeline is defined ---------------------------------------------------------


@pytest.mark.parametrize("debug", [False, True])
def test_functions_of_a_pipeline_call_operators_at_once(debug):
    def function(x):
        assert float(fn.random.uniform(seed=4) + 1) == float(fn.random.uniform(seed=4)) + 1
        return fn.flip(x, horizontal=1)

    pipe = pipeline_def(lambda: (fn.readers.dataset(Draws()), fn.python_function(image, function=function)))
    image = np.arange(12, dtype=np.uint8).reshape(1, 4, 3)
    samples, flipped = pipe(batch_size=2, num_threads=1, debug=debug).run()
    assert samples.shape() == [(4,), (4,)]
    np.testing.assert_array_equal(flipped.as_array(), [image[:, ::-1]] * 2)


def test_worker_processes_draw_for_each_trip_and_each_part_of_a_sample():
    @pipeline_def(batch_size=4, num_threads=2, seed=3)
    def pipe():
        x = fn.expand(fn.random.uniform(), k=2)
        first = last = fn.python_function(x, function=draw, processes=True)
        for _ in range(fn.random.coin_flip(probability=1.0) + 1):
            first = last
            last = fn.python_function(x, function=draw, processes=True)
        return first, last

    built = pipe()
    got = np.concatenate([b.as_array().ravel() for b in built.run()])
    built.close()
    assert len(set(got)) == 16


def draw(x):
    return np.array([float(fn.random.uniform())])
