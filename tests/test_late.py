# SPDX-License-Identifier: Apache-2.0
"""late="swap": a sample that is not ready moves to a later batch of its epoch. Each comes once an epoch, with the bytes
that it has in a usual run, whatever is interrupted."""

import collections
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys

import late_folder
import numpy as np
import penstock
import pytest
from late_folder import COUNT, epochs_of, labels_of, pictures
from PIL import Image
from penstock import Pipeline, fn, pipeline_def

CASES = max(1, int(os.environ.get("PENSTOCK_TEST_COUNT", 20)) // 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("late")
    late_folder.write(made)
    return str(made)


@pytest.fixture(scope="module")
def usual(folder):
    """What each sample of an epoch is without late samples, by label."""

    def find(seed, epochs, **reader):
        pipe = pictures(folder, batch_size=7, num_threads=2, seed=seed, **reader)
        batches = epochs_of(pipe, "partial")
        return [dict((s[0], s) for s in samples_of(batches, COUNT)) for _ in range(epochs)]

    return find


def samples_of(batches, count):
    """That many samples, which must be those of whole batches."""
    samples = []
    while len(samples) < count:
        samples += next(batches)
    assert len(samples) == count
    return samples


def swapped(folder, seed=5, **options):
    options = {"batch_size": 8, "num_threads": 3, "late": "swap", "random_shuffle": True, **options}
    return pictures(folder, seed=seed, **options)


@pytest.mark.parametrize("case", range(CASES))
def test_each_sample_comes_once_an_epoch_with_its_bytes(folder, usual, case):
    rng = random.Random(case)
    options = {
        "batch_size": rng.choice([1, 2, 3, 8, 16, 61, 70]),
        "num_threads": rng.choice([1, 2, 4]),
        "prefetch_queue_depth": rng.choice([1, 2, 4]),
        "random_shuffle": rng.random() < 0.7,
    }
    batches = epochs_of(swapped(folder, seed=case, **options), "partial")
    for expected in usual(case, 3, random_shuffle=options["random_shuffle"]):
        samples = samples_of(batches, COUNT)
        assert {s[0]: s for s in samples} == expected, options


def test_only_the_last_batch_of_an_epoch_is_short(folder):
    sizes = [len(b) for b in itertools.islice(epochs_of(swapped(folder), "partial"), 16)]
    assert sizes == 2 * [8, 8, 8, 8, 8, 8, 8, 5]
    pipe = swapped(folder)
    dropped = list(itertools.islice(epochs_of(pipe, "drop"), 14))
    assert [len(b) for b in dropped] == 14 * [8]
    assert all(len(set(sum(map(labels_of, dropped[k : k + 7]), []))) == 56 for k in (0, 7))


def test_batches_without_cut_epochs_are_full(folder):
    batches = list(itertools.islice(epochs_of(swapped(folder), "stream"), 23))
    assert {len(b) for b in batches} == {8}
    labels = sum(map(labels_of, batches), [])
    for k in range(3):
        assert sorted(labels[k * COUNT : (k + 1) * COUNT]) == list(range(COUNT))


def test_a_slow_sample_is_overtaken(tmp_path):
    late_folder.write(tmp_path, count=40, large=1000)
    for _ in range(8):  # other programs may have the cores of the threads that overtake
        pipe = pictures(str(tmp_path), batch_size=6, num_threads=4, late="swap")
        batches = [labels_of(b) for b in itertools.islice(epochs_of(pipe, "partial"), 7)]
        assert sorted(sum(batches, [])) == list(range(40))
        if 3 not in batches[0]:
            return
    raise AssertionError("the slow sample is always in its batch")


def test_shards_have_each_sample_once(folder):
    for epoch_mode in ("partial", "stream"):
        seen = []
        for shard in range(3):
            pipe = swapped(folder, seed=9, num_shards=3, shard_id=shard)
            batches = epochs_of(pipe, epoch_mode)
            own = COUNT // 3 + (shard < COUNT % 3)
            samples = []
            while len(samples) < own:
                samples += labels_of(next(batches))
            seen += samples[:own]
        assert sorted(seen) == list(range(COUNT))


@pytest.mark.parametrize("cut", ["partial", "stream"])
def test_a_checkpoint_knows_what_is_out(folder, cut):
    rng = random.Random(4)
    labels, state = [], None
    while len(labels) < 3 * COUNT:  # a chain of runs, each of which goes on where the one before it was left
        options = {} if state is None else {"checkpoint": state}
        pipe = swapped(folder, num_threads=rng.choice([1, 2, 4]), **options)
        batches = epochs_of(pipe, cut)
        for _ in range(rng.randint(1, 6)):
            labels += labels_of(next(batches))
        state = pipe.checkpoint()
    for k in range(3):
        assert sorted(labels[k * COUNT : (k + 1) * COUNT]) == list(range(COUNT))


def test_a_checkpoint_before_the_first_batch_and_after_an_epoch_is_a_usual_one(folder):
    pipe = swapped(folder)
    batches = epochs_of(pipe, "partial")
    pipe.build()
    states = [pipe.checkpoint()]
    samples_of(batches, COUNT)
    states.append(pipe.checkpoint())
    for state in states:
        usual = pictures(folder, batch_size=4, num_threads=2, checkpoint=state, random_shuffle=True)
        labels = [s[0] for s in samples_of(epochs_of(usual, "partial"), COUNT)]
        assert sorted(labels) == list(range(COUNT))


def test_a_checkpoint_with_samples_out_is_for_the_same_batches(folder):
    pipe = swapped(folder, num_threads=4)
    batches = epochs_of(pipe, "partial")
    for _ in range(50):
        next(batches)
        if b'"late"' in (state := pipe.checkpoint()):
            break
    for options, message in (
        ({"late": "wait"}, 'resume it with late="swap"'),
        ({"batch_size": 9}, "batch_size 8"),
        ({"num_shards": 2}, "shards 1"),
    ):
        with pytest.raises(ValueError, match=message):
            next(epochs_of(swapped(folder, checkpoint=state, **options), "partial"))


def test_a_killed_process_is_resumed(folder, tmp_path):
    out = str(tmp_path / "state")
    program = [sys.executable, late_folder.__file__, folder, out]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        seen = []
        for _ in range(4):
            seen += json.loads(child.stdout.readline())
            child.stdin.write("\n")
            child.stdin.flush()
        seen += json.loads(child.stdout.readline())
        child.kill()
    last, state = json.loads(pathlib.Path(out).read_text())
    assert seen[-len(last) :] == last
    batches = epochs_of(swapped(folder, seed=1, checkpoint=state), "partial")
    while len(seen) < COUNT:
        seen += labels_of(next(batches))
    assert sorted(seen) == list(range(COUNT))


def test_epochs_that_are_left_early(folder):
    pipe = swapped(folder)
    batches = epochs_of(pipe, "partial")
    for stop in (1, 3, 7, 2, 1):
        labels = [label for _ in range(stop) for label in labels_of(next(batches))]
        assert len(set(labels)) == 8 * stop
        pipe._pipeline.begin_epoch()
    assert sorted(s[0] for s in samples_of(batches, COUNT)) == list(range(COUNT))


@pytest.mark.parametrize("policy", ["skip", "replace"])
def test_damaged_files(tmp_path, policy):
    late_folder.write(tmp_path, count=30)
    for bad in (5, 11):
        (tmp_path / f"{bad:04}.png").write_bytes(b"no picture")
    pipe = pictures(str(tmp_path), batch_size=4, num_threads=3, late="swap", on_error=policy, random_shuffle=True)
    batches = epochs_of(pipe, "partial")
    pipe.build()
    for _ in range(3):
        labels = []
        while not pipe._pipeline.at_end_of_epoch() or not labels:
            labels += labels_of(next(batches))
        good = [i for i in range(30) if i not in (5, 11)]
        if policy == "skip":
            assert sorted(labels) == good
        else:
            assert len(labels) == 30 and set(labels) == set(good)
    assert {pathlib.Path(x.source).name for x in pipe.left_out()} == {"0005.png", "0011.png"}


def test_a_damaged_file_raises_and_the_others_come(tmp_path):
    late_folder.write(tmp_path, count=20)
    (tmp_path / "0006.png").write_bytes(b"no picture")
    pipe = pictures(str(tmp_path), batch_size=4, num_threads=2, late="swap")
    batches, labels, raised = None, [], 0
    for _ in range(6):
        try:
            batches = batches or epochs_of(pipe, "partial")
            labels += labels_of(next(batches))
        except penstock.DataError as error:
            assert "0006.png" in str(error)
            batches, raised = None, raised + 1
    assert raised == 1 and len(labels) == len(set(labels)) >= 16 and 6 not in labels


def test_an_error_of_the_next_epoch_comes_after_the_last_batch_of_this_one(tmp_path):
    late_folder.write(tmp_path, count=12)
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (2500, 2500, 3), np.uint8)).save(tmp_path / "0000.png")
    (tmp_path / "0005.png").write_bytes(b"no picture")
    pipe = pictures(str(tmp_path), batch_size=4, num_threads=2, late="swap", prefetch_queue_depth=4)
    for _ in range(3):
        labels, raised = [], 0
        for _ in range(4):
            try:
                labels += labels_of(next(epochs_of(pipe, "partial")))
            except penstock.DataError as error:
                assert "0005.png" in str(error)
                raised += 1
        assert raised == 1 and sorted(labels) == [0, 1, 2, 3, 6, 7, 8, 9, 10, 11]


def test_records_and_a_callable_beside_the_reader():
    @pipeline_def(batch_size=5, num_threads=2, late="swap")
    def beside():
        index = fn.readers.indices(size=25, name="reader")
        other = fn.external_source(lambda info: np.int64([info.idx_in_epoch]), batch=False)
        return index, other, fn.python_function(index, function=lambda x: x * 3)

    pipe = beside()
    pipe._set_epoch_mode("partial")
    seen = []
    for _ in range(5):
        index, other, tripled = (np.asarray(b.as_array()).ravel() for b in pipe.run())
        assert (index == other).all() and (tripled == 3 * index).all()
        seen += index.tolist()
    assert sorted(seen) == list(range(25))


def test_branches_loops_and_a_batch_that_is_padded():
    @pipeline_def(batch_size=6, num_threads=2, late="swap")
    def program():
        index = fn.readers.indices(size=20, name="reader")
        value = fn.cast(index, dtype=penstock.types.FLOAT)
        if index % 2 == 0:
            value = value + 0.5
        else:
            value = value * 2
        ragged = fn.random.uniform(range=[1.0, 2.0], shape=fn.reshape(index % 3 + 1, shape=[1]))
        return index, value, fn.pad(ragged)

    pipe = program()
    pipe._set_epoch_mode("partial")
    seen = []
    for _ in range(4):
        index, value, padded = (b.as_array() for b in pipe.run())
        for i, v, row in zip(index.ravel(), value.ravel(), padded):
            assert v == (i + 0.5 if i % 2 == 0 else 2 * i)
            assert (row > 0).sum() == i % 3 + 1
        seen += index.ravel().tolist()
    assert sorted(seen) == list(range(20))


def test_a_pipeline_without_a_source():
    @pipeline_def(batch_size=4, num_threads=2, seed=2)
    def drawn():
        return fn.random.uniform(range=[0.0, 1.0])

    def numbers(batches, **options):
        pipe = drawn(**options)
        return [x for _ in range(batches) for x in pipe.run()[0].as_array().ravel().tolist()]

    some = numbers(6, late="swap")
    assert len(set(some)) == 24 and set(some) <= set(numbers(30))


REFUSED = {
    "feeds of whole batches": (
        lambda: fn.external_source(lambda: np.zeros((4, 2))) * 2,
        "callable that takes a SampleInfo",
    ),
    "feed_input": (
        lambda: fn.external_source(name="fed", dtype=penstock.types.INT32) * 2,
        "callable that takes a SampleInfo",
    ),
    "permute_batch": (lambda: fn.permute_batch(fn.readers.indices(size=9), indices=[0, 1, 2, 3]), "permute_batch"),
    "filter": (lambda: fn.filter(fn.readers.indices(size=9), keep=fn.random.coin_flip()), "number of samples"),
    "normalize of batches": (
        lambda: fn.normalize(fn.cast(fn.readers.indices(size=9), dtype=penstock.types.FLOAT), batch=True),
        "others of its batch",
    ),
    "batches by length": (lambda: fn.readers.indices(size=9, lengths=list(range(1, 10))), "by length"),
    "nothing on samples": (lambda: fn.pad(fn.readers.indices(size=9)), "no sample can come late"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused(name):
    make, message = REFUSED[name]
    pipe = Pipeline(batch_size=4, num_threads=1, late="swap")
    with pipe:
        made = make()
        pipe.set_outputs(*made) if isinstance(made, (list, tuple)) else pipe.set_outputs(made)
    with pytest.raises(ValueError, match=message) as caught:
        pipe.run(**{"fed": np.zeros((4, 2), np.int32)} if name == "feed_input" else {})
    assert "late" in str(caught.value)


def test_positions_replays_and_logs_are_refused(folder):
    for call in (lambda p: p.seek(batch=1), lambda p: p.schedule([1]), lambda p: p.log_steps().build()):
        with pytest.raises(ValueError, match='omit late="swap"'):
            call(swapped(folder))
    with pytest.raises(ValueError, match="late must be 'wait' or 'swap'"):
        Pipeline(batch_size=1, late="skip")
    with pytest.raises(ValueError, match="debug"):
        Pipeline(batch_size=1, late="swap", debug=True)


def test_a_saved_pipeline_keeps_it(folder, tmp_path):
    pipe = swapped(folder)
    pipe.save(tmp_path / "saved.json")
    loaded = Pipeline.deserialize(filename=tmp_path / "saved.json")
    loaded.build()
    assert loaded._pipeline.options()["late"] == "swap"


def test_loaders_take_it(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        late_folder.write(tmp_path / name, count=10, large=50)
    loader = penstock.image_folder(tmp_path, size=8, batch_size=4, late="swap", framework="numpy", num_threads=2)
    assert "late='swap'" in loader.program
    assert sum(len(batch["label"]) for batch in loader) == 20


def test_a_loader_goes_on_in_the_middle_of_an_epoch(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        late_folder.write(tmp_path / name, count=11, large=200)

    def made():
        return penstock.image_folder(
            tmp_path, size=8, batch_size=3, late="swap", framework="numpy", num_threads=3, training=False
        )

    for stop in range(1, 8):
        first, images = made(), []
        batches = iter(first)
        images += [x.tobytes() for _ in range(stop) for x in next(batches)["image"]]
        second = made()
        second.load_state_dict(first.state_dict())
        assert len(second) == 8
        images += [x.tobytes() for batch in second for x in batch["image"]]
        assert len(images) == 22 and set(collections.Counter(images).values()) == {2}, stop  # in both folders
        assert sum(len(batch["image"]) for batch in second) == 22
