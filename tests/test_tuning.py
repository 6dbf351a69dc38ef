# SPDX-License-Identifier: Apache-2.0
"""num_threads="auto" and its sisters: what is chosen on pipelines that a function describes, and that batches stay the same."""

import json
import logging
import pickle
import random
import warnings

import numpy as np
import pytest

from penstock import Pipeline, _core, fn, pipeline_def
from penstock._command_line.bench import Batches
from penstock._pipeline import tuning

CORES = 8


def saturating(most, each=100.0):
    """The rate of a pipeline that no more than `most` threads make faster."""
    return lambda threads, depth: each * min(threads, most)


# name: (samples a second with so many threads and so many batches ahead, those that the training takes)
MODELS = {
    "as many threads as cores": (saturating(8), 1e9),
    "few threads are enough": (saturating(3), 1e9),
    "storage that needs many requests": (saturating(16), 1e9),
    "storage that is halfway": (saturating(12), 1e9),
    "memory that more threads slow down": (lambda t, d: 100 * t / (1 + (t / 4) ** 2), 1e9),
    "a lock": (lambda t, d: 300 - 10 * t, 1e9),
    "a training that is slow": (saturating(8), 50.0),
    "a training that is nearly as fast": (saturating(8), 790.0),
    "batches of different cost": (lambda t, d: 100 * min(t, 8) * (1 - 0.5 / d), 1e9),
    "both": (lambda t, d: 100 * min(t, 14) * (1 - 0.4 / d), 1e9),
}


def run_model(rate, training, noise, seed=0, threads="auto", depth="auto"):
    """What a tuner chooses, and the batches that it takes until then."""
    draw, now, setting = random.Random(seed), [0.0], {}
    options = {"num_threads": threads, "prefetch_queue_depth": depth}
    tuner = tuning.tuner_of(
        options, lambda t, d: setting.update(threads=t, depth=d), CORES, tuning.most_threads(CORES), tuning.MOST_DEPTH
    )
    tuner._clock = lambda: now[0]
    for batches in range(100_000):
        if tuner.done:
            assert setting == tuner.setting
            return tuner, batches
        assert 1 <= setting["threads"] <= 2 * CORES and 1 <= setting["depth"] <= tuning.MOST_DEPTH
        made = 32 / (rate(setting["threads"], setting["depth"]) * (1 + noise * draw.uniform(-1, 1)))
        trained = 32 / training
        now[0] += max(made, trained)
        tuner.took(32, max(0.0, made - trained))
    pytest.fail("it does not end")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_choice_is_within_5_percent_of_the_best(name, noise):
    rate, training = MODELS[name]
    sweep = [min(training, rate(t, d)) for t in range(1, 2 * CORES + 1) for d in range(1, tuning.MOST_DEPTH + 1)]
    for seed in range(5):
        tuner, batches = run_model(rate, training, noise, seed)
        found = min(training, rate(tuner.setting["threads"], tuner.setting["depth"]))
        assert found >= 0.95 * max(sweep), (tuner.report(), max(sweep))
        assert batches < 600 and tuner.why


def test_one_of_both_is_left_as_it_is():
    tuner, _ = run_model(saturating(4), 1e9, 0.0, depth=2)
    assert {m["depth"] for m in tuner.windows} == {tuning.MOST_DEPTH}  # what the pipeline was made with
    tuner, _ = run_model(saturating(4), 1e9, 0.0, threads=3)
    assert {m["threads"] for m in tuner.windows} == {2 * CORES}


def test_on_a_gpu_the_depth_stays():
    @pipeline_def(batch_size=2, num_threads=1, prefetch_queue_depth="auto")
    def noise():
        return fn.random.uniform(range=[0.0, 1.0], shape=[4], device="gpu")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe = noise()
        for _ in range(30):
            pipe.run()
    assert pipe.cpu_queue_size == pipe.tuned()["depth"] == 2


def test_where_the_loop_never_waits_nothing_is_tried():
    tuner, _ = run_model(saturating(8), 50.0, 0.0)
    assert len(tuner.windows) == 1 and tuner.setting == {"threads": CORES, "depth": 2}
    assert "the pipeline keeps up" in tuner.why


@pytest.fixture
def hasty(monkeypatch):
    """Each measurement ends after a few batches, and each setting is worth a try."""
    monkeypatch.setattr(tuning, "_WINDOW", 0.0)
    monkeypatch.setattr(tuning, "_WAITS", -1.0)
    monkeypatch.setattr(tuning, "_GAIN", 0.0)  # all are tried, up to the most threads


@pipeline_def(batch_size=5, seed=11)
def drawn(source=None):
    numbers = fn.readers.indices(size=37, random_shuffle=True, name="reader")
    noise = fn.random.uniform(range=[0.0, 1.0], shape=[6, 48])
    return numbers, fn.gaussian_blur(noise, window_size=3)


def batches_of(pipe, count):
    return [[np.stack([np.asarray(s) for s in output]) for output in pipe.run()] for _ in range(count)]


def test_batches_and_their_order_are_the_same(hasty):
    count = 160
    expected = batches_of(drawn(num_threads=2), count)
    pipe = drawn(num_threads="auto", prefetch_queue_depth="auto")
    got = batches_of(pipe, count)
    assert all(np.array_equal(a, b) for x, y in zip(expected, got) for a, b in zip(x, y))
    tuned = pipe.tuned()
    assert tuned["done"] and len({(m["threads"], m["depth"]) for m in tuned["measured"]}) > 2
    assert pipe.cpu_queue_size == tuned["depth"]


def test_external_sources_and_what_the_program_feeds(hasty):
    @pipeline_def(batch_size=2, seed=1)
    def sourced():
        return fn.external_source(lambda info: np.int64([info.iteration]), batch=False)

    pipe = sourced(num_threads="auto", prefetch_queue_depth="auto")
    assert [int(np.asarray(b[0][0])[0]) for b in (pipe.run() for _ in range(80))] == list(range(80))

    @pipeline_def(batch_size=2, seed=1)
    def fed():
        return fn.external_source(name="x") + 1

    pipe = fed(num_threads="auto", prefetch_queue_depth="auto")
    for i in range(80):
        (batch,) = pipe.run(x=[np.int64(i), np.int64(-i)])
        assert batch.as_array().tolist() == [i + 1, 1 - i]


def test_epochs_end_and_checkpoints_resume(hasty):
    pipe = drawn(num_threads="auto", prefetch_queue_depth="auto")
    plain = drawn(num_threads=1)
    batches_of(pipe, 33), batches_of(plain, 33)
    again = drawn(num_threads="auto", checkpoint=pipe.checkpoint())
    for a, b in zip(batches_of(again, 20), batches_of(plain, 20)):
        assert all(np.array_equal(x, y) for x, y in zip(a, b))
    assert sum(1 for _ in drawn(num_threads="auto")) == 8


def test_it_says_what_it_chose(hasty, caplog):
    with caplog.at_level(logging.INFO, "penstock"):
        pipe = drawn(num_threads="auto")
        batches_of(pipe, 150)
    start, tuned = caplog.records
    assert "(at most, auto," in start.getMessage()
    report = pipe.tuned()
    assert tuned.name == "penstock.pipeline" and f"{report['threads']} threads, 2 batches ahead" in tuned.getMessage()
    assert report["why"] in tuned.getMessage() and set(report["measured"][0]) == {"threads", "depth", "rate", "waits"}
    assert drawn(num_threads=2).tuned() is None
    waiting = drawn(num_threads="auto")
    waiting.run()
    assert not waiting.tuned()["done"] and "still" in waiting.tuned()["why"]


def test_saved_forms_keep_no_choice_of_this_machine():
    pipe = drawn(num_threads="auto", prefetch_queue_depth="auto")
    saved = json.loads(pipe.to_json())
    assert (saved["threads"], saved["prefetch"]) == (0, 2)
    loaded = Pipeline.deserialize(pipe.serialize())
    assert loaded.num_threads == _core.usable_cores() and loaded.prefetch_queue_depth == 2
    assert pickle.loads(pickle.dumps(drawn(num_threads="auto"))).num_threads == "auto"
    assert repr(drawn(num_threads="auto")).startswith("Pipeline(batch_size=5, num_threads=auto")


@pytest.mark.parametrize("name", ["num_threads", "prefetch_queue_depth", "py_num_workers"])
def test_other_words_are_refused(name):
    with pytest.raises((TypeError, ValueError), match=f"^{name}(:| must be) .*integer.*'best'"):
        Pipeline(batch_size=1, **{name: "best"})


def test_workers_of_external_sources():
    @pipeline_def(batch_size=2, num_threads=1, py_num_workers="auto")
    def numbers():
        return fn.external_source(lambda info: np.int64([info.idx_in_epoch]), batch=False, parallel=True)

    pipe = numbers()
    assert [int(np.asarray(s)[0]) for _ in range(3) for s in pipe.run()[0]] == list(range(6))
    pipe.close()


def test_bench_runs_pipelines_that_tune_themselves(hasty):
    batches = Batches(drawn(num_threads="auto"))
    assert [batches.next() for _ in range(60)] == [5] * 60
