# SPDX-License-Identifier: Apache-2.0
"""Data sets of Grain over pipelines in .venv-frameworks: order, epochs, filter, workers, states."""

import copy
import itertools
import json

import grain
import numpy as np
import pytest
from absl import flags

from penstock import DataError, fn, pipeline_def
from penstock.plugin.grain import PipelineIterDataset
from penstock.plugin.numpy import NumpyIterator
from penstock.torch.arrays import NumpyArrays
from penstock.torch.loader import DataLoader

NAMES = ["index", "values"]


@pipeline_def(batch_size=4, num_threads=1, seed=7)
def numbers(size=30, shard_id=0, num_shards=1):
    """Eight batches an epoch, the last of two samples; the values say that random numbers are the same."""
    index = fn.readers.indices(size=size, random_shuffle=True, name="reader", shard_id=shard_id, num_shards=num_shards)
    return index, fn.random.uniform(range=[0.0, 1.0], shape=[2])


def even(batch):
    return batch["index"].sum() % 2 == 0


def shown(batches):
    return [(batch["index"].tolist(), batch["values"].tolist()) for batch in batches]


class Loader(DataLoader):
    _arrays = NumpyArrays()


@pytest.mark.parametrize("last_batch, count", [("partial", 8), ("drop", 7), ("fill", 8)])
def test_epochs_are_those_of_the_loader(last_batch, count):
    loader = Loader(numbers(), NAMES, last_batch=last_batch)
    expected = [*shown(loader), *shown(loader), *shown(loader)]
    found = shown(PipelineIterDataset(numbers(), NAMES, num_epochs=3, last_batch=last_batch))
    assert found == expected and len(found) == 3 * count
    endless = PipelineIterDataset(numbers(), NAMES, num_epochs=None, last_batch=last_batch)
    assert shown(itertools.islice(endless, 3 * count)) == expected


def test_arrays_are_of_the_pipeline_and_keep_their_memory():
    kept = list(PipelineIterDataset(numbers(), NAMES))
    (first,) = next(NumpyIterator(numbers(), NAMES, reader_name="reader"))
    assert kept[0]["values"].base is not None and np.array_equal(kept[0]["values"], first["values"])
    assert sorted(np.concatenate([batch["index"] for batch in kept]).tolist()) == list(range(30))
    for form, kind in ((None, tuple), (NAMES, dict)):
        assert type(next(iter(PipelineIterDataset(numbers(), form)))) is kind


@pytest.mark.parametrize("stages", ["none", "partial", "fill", "filter", "threads", "batch"])
def test_a_state_at_each_element_is_exact(stages):
    last_batch = stages if stages in ("partial", "fill") else "drop"

    def made():
        dataset = PipelineIterDataset(numbers(), NAMES, num_epochs=2, last_batch=last_batch)
        if stages == "filter":
            dataset = dataset.filter(even)
        if stages == "threads":
            dataset = grain.experimental.ThreadPrefetchIterDataset(dataset, prefetch_buffer_size=2)
        return iter(dataset.batch(2) if stages == "batch" else dataset)

    iterator = made()
    states, elements = [iterator.get_state()], []
    for batch in iterator:
        elements += shown([batch])
        states.append(json.loads(json.dumps(iterator.get_state())))
    counts = {"none": 14, "partial": 16, "fill": 16, "threads": 14, "batch": 7}
    assert len(elements) == counts.get(stages, len(elements)) and len(elements) > 3
    for k, state in enumerate(states):
        other = made()
        other.set_state(state)
        assert shown(other) == elements[k:], k
        other.close()
    iterator.set_state(states[0])  # one that has run
    assert shown(iterator) == elements
    iterator.close()


def of_worker(dataset, worker, workers):
    dataset = copy.copy(dataset)
    dataset.set_slice(slice(worker, None, workers))
    return dataset


@pytest.mark.parametrize("last_batch", ["partial", "drop", "fill"])
@pytest.mark.parametrize("workers", [2, 3, 5, 20])
def test_workers_give_the_batches_in_turn(last_batch, workers):
    whole = PipelineIterDataset(numbers(), NAMES, num_epochs=2, last_batch=last_batch)
    expected = shown(whole)
    parts = [shown(of_worker(whole, worker, workers)) for worker in range(workers)]
    assert parts == [expected[worker::workers] for worker in range(workers)]
    nested = of_worker(of_worker(whole, 1, 2), 1, 2)  # 1, 3, 5 ..., of those the second, the fourth ...
    assert shown(nested) == expected[3::4]


def test_states_of_workers():
    whole = PipelineIterDataset(numbers(), NAMES, num_epochs=None)
    expected = shown(itertools.islice(whole, 100))
    for begin in (0, 1, 2, 40):  # of more numbers than are given to the pipeline at once
        iterator = iter(of_worker(whole, 1, 2))
        head = shown(itertools.islice(iterator, begin))
        state = json.loads(json.dumps(iterator.get_state()))
        other = iter(of_worker(whole, 1, 2))
        other.set_state(state)
        assert head + shown(itertools.islice(other, 50 - begin)) == expected[1::2]
    with pytest.raises(ValueError, match="not that of worker 0 of 2"):
        iter(of_worker(whole, 0, 2)).set_state(state)


def test_processes_of_grain():
    """Two workers of Grain: the order, a filter after them, and the state of each after some elements."""
    flags.FLAGS.mark_as_parsed()

    @pipeline_def(batch_size=4, num_threads=1)  # without a seed: all workers have the one that was drawn
    def unseeded():
        index = fn.readers.indices(size=30, random_shuffle=True, name="reader")
        return index, fn.random.uniform(range=[0.0, 1.0], shape=[2])

    whole = PipelineIterDataset(unseeded(), NAMES, num_epochs=2)
    options = grain.multiprocessing.MultiprocessingOptions(num_workers=2)
    iterator = iter(whole.mp_prefetch(options).filter(lambda batch: len(batch["index"]) == 4))
    expected = shown(whole)
    full = [batch for batch in expected if len(batch[0]) == 4]
    try:
        found = shown(itertools.islice(iterator, 5))
        state = json.loads(json.dumps(iterator.get_state()))
        found += shown(iterator)
    finally:
        iterator.close()
    assert found == full and len(full) == 14
    for worker, begin in ((0, 3), (1, 2)):  # batches of the five that are this worker's
        part = iter(of_worker(whole, worker, 2))
        part.set_state(state["iterators_in_use_states"][worker])
        assert shown(part) == expected[worker::2][begin:]


def test_wrong_calls_say_what_is_wrong(tmp_path):
    with pytest.raises(TypeError, match=r"call the function, PipelineIterDataset\(numbers\(...\)\)"):
        PipelineIterDataset(numbers, NAMES)
    with pytest.raises(ValueError, match="num_epochs must be a number of at least 1, or None, got 0"):
        PipelineIterDataset(numbers(), NAMES, num_epochs=0)
    with pytest.raises(ValueError, match="last_batch must be"):
        PipelineIterDataset(numbers(), NAMES, last_batch="short")
    with pytest.raises(ValueError, match="not a state"):
        iter(PipelineIterDataset(numbers(), NAMES)).set_state({"next_index": 3})
    with pytest.raises(ValueError, match="divided by slice"):
        PipelineIterDataset(numbers(), NAMES).set_slice(slice(0, 5))
    closed = iter(PipelineIterDataset(numbers(), NAMES))
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        next(closed)

    @pipeline_def(batch_size=4, num_threads=1)
    def filtered():
        index = fn.readers.indices(size=30, name="reader")
        return fn.filter(index, keep=index > 10)

    assert sum(len(batch) for (batch,) in PipelineIterDataset(filtered())) == 19
    with pytest.raises(ValueError, match="min_batch=0"):
        next(iter(of_worker(PipelineIterDataset(filtered()), 0, 2)))

    @pipeline_def(batch_size=1, num_threads=1)
    def damaged():
        return fn.readers.numpy(file_root=str(tmp_path), file_filter="*.npy", name="reader")

    for k in range(4):
        np.save(tmp_path / f"{k}.npy", np.full(2, k))
    (tmp_path / "2.npy").write_bytes(b"not an array")
    iterators = iter(PipelineIterDataset(damaged())), iter(of_worker(PipelineIterDataset(damaged()), 0, 2))
    for iterator, follows in zip(iterators, ([3], [])):
        before = [next(iterator)[0][0, 0] for _ in range(2 if follows else 1)]
        with pytest.raises(DataError, match="2.npy"):
            next(iterator)
        assert before[0] == 0 and [batch[0, 0] for (batch,) in iterator] == follows
