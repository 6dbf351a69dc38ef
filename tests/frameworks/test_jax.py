# SPDX-License-Identifier: Apache-2.0
"""Iterators of JAX in .venv-frameworks: memory, shardings, processes, states."""

import inspect
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import grain
import jax
import numpy as np
import orbax.checkpoint as ocp
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import penstock
from penstock import fn, pipeline_def, types
from penstock.plugin.grain import PipelineIterDataset
from penstock.plugin.jax import DALIGenericIterator, LastBatchPolicy, data_iterator
from penstock.plugin.jax.checkpoints import IteratorHandler, IteratorRestore, IteratorSave
from penstock.plugin.jax.clu import peekable_data_iterator
from penstock.plugin.numpy import NumpyIterator

MESH = Mesh(np.array(jax.devices()), ("data",))
BY_ROWS = NamedSharding(MESH, PartitionSpec("data"))
NAMES = ["index", "values"]


@pipeline_def(batch_size=8, num_threads=2, seed=7)
def numbers(size=44, shard_id=0, num_shards=1):
    """Numbers in random order, and 16 random values of each sample: 64 bytes, so that parts of a batch are aligned."""
    index = fn.readers.indices(size=size, random_shuffle=True, name="reader", shard_id=shard_id, num_shards=num_shards)
    return index, fn.random.uniform(range=[0.0, 1.0], shape=[16])


def arrays(outputs):
    return [output.as_array().copy() for output in outputs]


def addresses(array):
    return [
        part.data.unsafe_buffer_pointer()
        for part in sorted(array.addressable_shards, key=lambda p: p.index[0].start or 0)
    ]


def test_arrays_are_the_memory_of_the_batch():
    seen = []

    class Watched(DALIGenericIterator):
        def convert_all(self, outputs, keeps):
            seen.append([batch.as_array().ctypes.data for batch in outputs[0]])
            return super().convert_all(outputs, keeps)

    pipe = numbers()
    for options in ({}, {"sharding": BY_ROWS}):
        iterator = Watched(numbers(), NAMES, reader_name="reader", **options)
        kept = [next(iterator) for _ in range(5)]
        for batch, places in zip(kept, seen[-5:]):
            found = addresses(batch["values"])
            assert found == [places[1] + k * 8 * 64 // len(found) for k in range(len(found))]
    pipe = numbers()
    for batch in kept:  # held while the pipeline ran on
        index, values = arrays(pipe.run())
        np.testing.assert_array_equal(batch["index"], index)
        np.testing.assert_array_equal(batch["values"], values)
    assert kept[0]["values"].sharding == BY_ROWS and kept[0]["values"].shape == (8, 16)


@pytest.mark.parametrize("options", [{}, {"sharding": BY_ROWS}], ids=["one device", "sharded"])
def test_bfloat16_comes_as_jax_has_it(options):
    @pipeline_def(batch_size=8, num_threads=1, seed=1)
    def narrow():
        return fn.cast(fn.random.uniform(range=[0.0, 1.0], shape=[32]), dtype=types.BFLOAT16)

    pipe, iterator = narrow(), DALIGenericIterator(narrow(), ["a"], size=16, **options)
    for batch in iterator:
        assert batch["a"].dtype == jax.numpy.bfloat16
        np.testing.assert_array_equal(batch["a"], arrays(pipe.run())[0])
    whole = jax.numpy.asarray(np.asarray(batch["a"]))
    made = fn.flip(penstock.tensor(whole[:, :, None], layout="HWC"), horizontal=1)
    np.testing.assert_array_equal(made.numpy(), np.asarray(whole)[:, ::-1, None])


def test_parts_that_are_not_aligned_are_copied_and_equal():
    @pipeline_def(batch_size=8, num_threads=1, seed=1)
    def odd():
        return fn.random.uniform(range=[0.0, 1.0], shape=[3]), fn.random.uniform(range=[0.0, 255.0], dtype=types.UINT8)

    pipe, iterator = odd(), DALIGenericIterator(odd(), ["a", "b"], size=32, sharding=BY_ROWS)
    for batch in iterator:
        for array, expected in zip(batch.values(), arrays(pipe.run())):
            np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("policy, count", [("FILL", 6), ("DROP", 5), ("PARTIAL", 6)])
def test_epochs(policy, count):
    policy = LastBatchPolicy[policy]
    iterator = DALIGenericIterator(numbers(), NAMES, reader_name="reader", auto_reset=True, last_batch_policy=policy)
    assert len(iterator) == count
    for _ in range(2):
        seen = np.concatenate([batch["index"] for batch in iterator])
        if policy is LastBatchPolicy.DROP:
            assert len(seen) == len(set(seen.tolist())) == 40
        if policy is LastBatchPolicy.PARTIAL:
            assert sorted(seen.tolist()) == list(range(44))
    if policy is LastBatchPolicy.PARTIAL:
        with pytest.raises(ValueError, match="must be FILL or DROP"):
            DALIGenericIterator(numbers(), NAMES, reader_name="reader", last_batch_policy=policy, sharding=BY_ROWS)


def test_training_step_over_a_sharding():
    @jax.jit
    def step(weights, batch):
        def loss(weights):
            return ((batch["values"] @ weights - batch["index"]) ** 2).mean()

        value, gradient = jax.value_and_grad(loss)(weights)
        return weights - 1e-3 * gradient, value

    weights, losses = jax.numpy.zeros(16), []
    iterator = data_iterator(numbers, NAMES, reader_name="reader", auto_reset=True, sharding=BY_ROWS)()
    for _ in range(20):
        for batch in iterator:
            weights, value = step(weights, batch)
            losses.append(float(value))
    assert np.mean(losses[-6:]) < 0.7 * np.mean(losses[:6])


def test_data_iterator_takes_functions_and_divides_batches():
    @data_iterator(output_map=["index"], reader_name="reader", sharding=BY_ROWS)
    def plain(size, shard_id, num_shards):
        assert (shard_id, num_shards) == (0, 1)
        return fn.readers.indices(size=size, name="reader", shard_id=shard_id, num_shards=num_shards)

    assert next(plain(16, batch_size=8, num_threads=1))["index"].tolist() == list(range(8))
    with_devices = data_iterator(numbers, NAMES, reader_name="reader", devices=jax.local_devices())
    batch = next(with_devices())
    assert batch["values"].shape == (4, 2, 16) and len(batch["values"].addressable_shards) == 4

    @data_iterator(output_map=["index"], reader_name="reader", sharding=BY_ROWS)
    def without():
        return fn.readers.indices(size=4, name="reader")

    with pytest.raises(TypeError, match="'without' must take shard_id and num_shards"):
        without(batch_size=8)
    with pytest.raises(ValueError, match="not both"):
        data_iterator(numbers, NAMES, sharding=BY_ROWS, devices=jax.devices())
    with pytest.raises(ValueError, match="batch_size=7 cannot be divided among 4 shards"):
        data_iterator(numbers, NAMES, devices=jax.devices())(batch_size=7)


@pytest.mark.parametrize("sharding", [MESH, PartitionSpec("data"), jax.devices()[1], "data"])
def test_what_is_not_a_sharding_is_refused(sharding):
    for made in (
        lambda: data_iterator(numbers, NAMES, sharding=sharding),
        lambda: DALIGenericIterator(numbers(), NAMES, sharding=sharding),
    ):
        with pytest.raises(TypeError, match="sharding must be a jax.sharding.Sharding, got .*NamedSharding"):
            made()


@pytest.mark.parametrize("devices", [[], [0, 1], jax.devices()[0], ["cpu"]])
def test_what_are_not_devices_is_refused(devices):
    with pytest.raises(TypeError, match="devices must be devices of JAX"):
        data_iterator(numbers, NAMES, devices=devices)


def test_a_batch_that_a_sharding_cannot_divide_is_refused_before_it_is_made():
    square = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
    make = data_iterator(numbers, NAMES, reader_name="reader", sharding=BY_ROWS)
    with pytest.raises(ValueError, match=r"batch_size=6 cannot be divided among the 4 parts of NamedSharding"):
        make(batch_size=6)
    with pytest.raises(ValueError, match=r"batch_size=7 cannot be divided among the 2 parts of NamedSharding"):
        DALIGenericIterator(
            numbers(batch_size=7), NAMES, size=44, sharding=NamedSharding(square, PartitionSpec("data", "model"))
        )
    by_model = NamedSharding(square, PartitionSpec(("data",), "model"))
    batch = next(data_iterator(numbers, NAMES, reader_name="reader", sharding=by_model)(batch_size=6))
    assert [part.data.shape for part in batch["values"].addressable_shards] == [(3, 8)] * 4
    whole = NamedSharding(square, PartitionSpec())
    batch = next(data_iterator(numbers, NAMES, reader_name="reader", sharding=whole)(batch_size=5))
    assert [part.data.shape for part in batch["values"].addressable_shards] == [(5, 16)] * 4


@pytest.mark.parametrize("state", [None, [], "x", {}, {"pipelines": [{}]}, {"pipelines": 3, "iterator": {}}])
def test_what_is_not_a_state_is_refused(state):
    for made in (data_iterator(numbers, NAMES, reader_name="reader")(), NumpyIterator(numbers(), NAMES)):
        with pytest.raises(ValueError, match="this is not a state of an iterator with these pipelines"):
            made.load_state(state)


def test_samples_of_unlike_shapes_are_refused():
    @pipeline_def(batch_size=4, num_threads=1, seed=1)
    def unlike():
        extent = fn.random.uniform(values=[1, 2, 3, 4, 5, 6, 7], dtype=types.INT32)
        return fn.slice(fn.random.uniform(range=[0.0, 1.0], shape=[8]), 0, extent, axes=[0])

    with pytest.raises(ValueError, match="samples of output 'x' differ in shape.*fn.pad"):
        list(DALIGenericIterator(unlike(), ["x"], size=40))


# --- states -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["FILL", "DROP"])
def test_a_state_at_each_batch_of_two_epochs_is_exact(policy):
    def iterator():
        return DALIGenericIterator(
            numbers(),
            NAMES,
            reader_name="reader",
            auto_reset=True,
            last_batch_policy=LastBatchPolicy[policy],
            sharding=BY_ROWS,
        )

    def run(iterator, epochs=2):
        for _ in range(epochs):
            for batch in iterator:
                yield np.asarray(batch["values"])

    whole, one = list(run(iterator())), iterator()
    for stop, _ in enumerate(run(one)):
        state = json.loads(json.dumps(one.state()))
        other = iterator()
        other.load_state(state)
        for array, expected in zip(run(other), whole[stop + 1 : stop + 3]):
            np.testing.assert_array_equal(array, expected)


def of_processes(count, policy, state=None):
    """What all of `count` processes give, one after the other, in the order of the batches."""
    made = [
        DALIGenericIterator(
            numbers(shard_id=k, num_shards=count, batch_size=8 // count),
            NAMES,
            reader_name="reader",
            auto_reset=True,
            last_batch_policy=LastBatchPolicy[policy],
        )
        for k in range(count)
    ]
    for iterator in made:
        if state is not None:
            iterator.load_state(state)
    return made


@pytest.mark.parametrize("policy", ["FILL", "DROP"])
@pytest.mark.parametrize("before, after", [(1, 2), (2, 1), (4, 2), (1, 4)])
def test_a_state_goes_on_with_other_processes(policy, before, after):
    def batch(iterators):
        return sorted(np.concatenate([next(iterator)["index"] for iterator in iterators]).tolist())

    for stop in range(6 if policy == "FILL" else 5):
        ones = of_processes(before, policy)
        seen = [batch(ones) for _ in range(stop)]
        states = [iterator.state() for iterator in ones]
        assert all(state == states[0] for state in states)
        others = of_processes(after, policy, json.loads(json.dumps(states[0])))
        for _ in range(len(others[0]) if not stop else 100):
            try:
                seen.append(batch(others))
            except StopIteration:
                break
        counts = np.bincount(np.concatenate(seen), minlength=44)
        if policy == "FILL":  # the whole epoch, and the beginning of the next one; after two epochs each sample twice
            assert len(seen) == 6 and counts.min() >= 1 and counts.sum() == 48
            seen += [
                sorted(np.concatenate(parts).tolist()) for parts in zip(*([b["index"] for b in o] for o in others))
            ]
            if stop:
                assert len(seen) == 11 and set(np.bincount(np.concatenate(seen))) == {2}
        else:
            assert len(seen) == 5 and counts.max() == 1 and counts.sum() == 40


def test_checkpoints_of_grain_and_orbax(tmp_path):
    make = data_iterator(numbers, NAMES, reader_name="reader", sharding=BY_ROWS)
    iterator = make()
    for _ in range(3):
        next(iterator)
    manager = ocp.CheckpointManager(tmp_path / "c")
    manager.save(
        3,
        args=ocp.args.Composite(
            data=IteratorSave(iterator),
            grain=grain.checkpoint.CheckpointSave(iterator),
            json=ocp.args.JsonSave(iterator.state()),
        ),
    )
    manager.wait_until_finished()
    expected = np.asarray(next(iterator)["values"])

    def check(restored, arguments):  # by another manager, as another process has
        ocp.CheckpointManager(tmp_path / "c").restore(3, args=ocp.args.Composite(**arguments(restored)))
        np.testing.assert_array_equal(next(restored)["values"], expected)

    check(make(), lambda it: {"data": IteratorRestore(it)})
    check(make(), lambda it: {"grain": grain.checkpoint.CheckpointRestore(it)})
    check(make(), lambda it: {"grain": IteratorRestore(it)})  # that of Grain, on any number of processes
    other = make()
    other.load_state(manager.restore(3, args=ocp.args.Composite(json=ocp.args.JsonRestore()))["json"])
    np.testing.assert_array_equal(next(other)["values"], expected)
    with pytest.raises(FileNotFoundError, match="penstock.json"):
        check(make(), lambda it: {"json": IteratorRestore(it)})


class Numbers(grain.IterDataset):
    """A source of Grain; count: the batches of this many processes, of which this is number `rank`."""

    def __init__(self, rank=0, count=1):
        super().__init__()
        self.rank, self.count = rank, count

    def __iter__(self):
        numbers_of = of_processes(self.count, "FILL")[self.rank]

        class Iterator(grain.DatasetIterator):
            def __next__(self):
                return next(numbers_of)

            def get_state(self):
                return numbers_of.state()

            def set_state(self, state):
                numbers_of.load_state(state)

        return Iterator()


@pytest.mark.parametrize("prefetched", [False, True])
@pytest.mark.parametrize("before, after", [(1, 2), (2, 1), (4, 2)])
def test_a_checkpoint_of_grain_goes_on_with_other_processes(tmp_path, before, after, prefetched):
    def made(count):
        for rank in range(count):
            dataset = Numbers(rank, count).map(lambda batch: {"index": np.asarray(batch["index"]) + 100})
            if prefetched:
                dataset = grain.experimental.ThreadPrefetchIterDataset(dataset, prefetch_buffer_size=2)
            yield iter(dataset)

    def batch(iterators):
        return np.concatenate([next(iterator)["index"] for iterator in iterators])

    ones = list(made(before))
    seen = [batch(ones) for _ in range(3)]
    save = {"data": IteratorSave(ones[-1]), "grain": grain.checkpoint.CheckpointSave(ones[0])}
    with ocp.CheckpointManager(tmp_path / "c") as manager:
        manager.save(3, args=ocp.args.Composite(**save))
    for name in save:
        others = list(made(after))
        for other in others:
            with ocp.CheckpointManager(tmp_path / "c") as manager:
                manager.restore(3, args=ocp.args.Composite(**{name: IteratorRestore(other)}))
        counts = np.bincount(np.concatenate([*seen, *(batch(others) for _ in range(3))]), minlength=144)[100:]
        assert counts.min() >= 1 and counts.sum() == 48
    for iterator in [*ones, *others]:
        iterator.close()


def test_states_of_grain_that_count_in_their_process_are_refused(tmp_path):
    counting = iter(Numbers().map_with_index(lambda index, batch: batch))
    next(counting)
    with pytest.raises(TypeError, match="MapWithIndex.*in its own process.*grain.checkpoint.CheckpointSave"):
        IteratorHandler().save(tmp_path, IteratorSave(counting))
    (tmp_path / "process_0-of-1.json").write_text(json.dumps(counting.get_state()))
    with pytest.raises(TypeError, match="process_0-of-1.json.*in its own process"):
        IteratorHandler().restore(tmp_path, IteratorRestore(iter(Numbers())))
    own = iter(grain.MapDataset.range(8).to_iter_dataset())
    with pytest.raises(TypeError, match="not that of a Penstock iterator"):
        IteratorHandler().save(tmp_path, IteratorSave(own))


def test_positions_of_processes_that_differ(tmp_path, monkeypatch):
    """As filter makes them, which takes more batches in one process than in another."""
    dataset = PipelineIterDataset(numbers(), NAMES, num_epochs=3).filter(lambda batch: batch["index"].sum() % 2 == 0)

    def as_process(rank, count):
        monkeypatch.setattr(jax, "process_index", lambda: rank)
        monkeypatch.setattr(jax, "process_count", lambda: count)

    def next_after(folder):
        iterator = iter(dataset)
        IteratorHandler().restore(folder, IteratorRestore(iterator))
        return next(iterator)["index"].tolist()

    expected = [batch["index"].tolist() for batch in dataset]
    for name, taken in (("alike", (1, 1)), ("apart", (1, 2))):
        (tmp_path / name).mkdir()
        for rank in range(2):
            iterator = iter(dataset)
            for _ in range(taken[rank]):
                next(iterator)
            as_process(rank, 2)
            IteratorHandler().save(tmp_path / name, IteratorSave(iterator))
        for rank in range(2):
            as_process(rank, 2)
            assert next_after(tmp_path / name) == expected[taken[rank]]
    as_process(0, 1)
    assert next_after(tmp_path / "alike") == expected[1]
    with pytest.raises(ValueError, match="different positions.*process_0-of-1.json"):
        next_after(tmp_path / "apart")


def test_peeking_takes_nothing():
    make = peekable_data_iterator(numbers, NAMES, reader_name="reader")
    iterator, plain = make(), data_iterator(numbers, NAMES, reader_name="reader")()
    assert iterator.element_spec["values"].shape == (8, 16)
    for _ in range(3):
        shown, state = iterator.peek(), iterator.state()
        assert iterator.peek_async().result()["values"] is shown["values"]
        expected = next(plain)
        for batch in (shown, next(iterator)):
            np.testing.assert_array_equal(batch["values"], expected["values"])
        other = make()
        other.load_state(state)
        np.testing.assert_array_equal(next(other)["values"], expected["values"])


def test_iterators_and_the_functions_that_make_them_have_one_list_of_parameters():
    of_function, of_class = (dict(inspect.signature(f).parameters) for f in (data_iterator, DALIGenericIterator))
    assert inspect.signature(peekable_data_iterator) == inspect.signature(data_iterator)
    assert list(inspect.signature(peekable_data_iterator).parameters)[:2] == ["pipeline_fn", "output_map"]
    for name in ("pipeline_fn", "output_map", "devices"):
        of_function.pop(name)
    for name in ("pipelines", "output_map"):
        of_class.pop(name)
    assert {n: p.default for n, p in of_function.items()} == {n: p.default for n, p in of_class.items()}
    assert list(of_function) == list(of_class)
    with pytest.raises(TypeError, match="'prepare_first'"):
        peekable_data_iterator(numbers, NAMES, prepare_first=True)


def test_the_names_of_dali():
    import penstock.dali

    penstock.dali.install()
    try:
        import nvidia.dali.plugin.jax as dali_jax
        from nvidia.dali.plugin.jax.clu import peekable_data_iterator as peekable
        from nvidia.dali.plugin.jax.fn import jax_function

        assert dali_jax.DALIGenericIterator is DALIGenericIterator and dali_jax.data_iterator is data_iterator
        assert peekable is peekable_data_iterator and dali_jax.fn.jax_function is jax_function
    finally:
        penstock.dali.uninstall()


# --- processes --------------------------------------------------------------------------------------------------------


def test_two_processes_make_global_arrays(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    program = Path(__file__).with_name("two_processes.py")
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    processes = [
        subprocess.Popen(
            [sys.executable, program, address, str(rank), tmp_path / "c"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "\n".join(said)
    seen, rest = (json.loads((tmp_path / name).read_text()) for name in ("seen.json", "rest.json"))
    restored = data_iterator(numbers, NAMES, reader_name="reader", sharding=BY_ROWS)()  # one process goes on
    ocp.CheckpointManager(tmp_path / "c").restore(3, args=ocp.args.Composite(data=IteratorRestore(restored)))
    alone = [np.asarray(batch["index"]).tolist() for batch in restored]
    assert len(alone) == len(rest) == 3
    for continued in (alone, rest):
        counts = np.bincount(np.concatenate(seen + continued), minlength=44)
        assert counts.min() >= 1 and counts.sum() == 48
