# SPDX-License-Identifier: Apache-2.0
"""penstock.plugin.paddle with PaddlePaddle, in an environment of its own (`make test-long`):

.venv-paddle/bin/python -m pytest tests/paddle_long.py
"""

import itertools

import numpy as np
import paddle
import pytest

from penstock import DataError, batch, fn, pipeline_def, types
from penstock.plugin.numpy import NumpyIterator
from penstock.plugin.paddle import (
    DALIClassificationIterator,
    DALIGenericIterator,
    LastBatchPolicy,
    feed_ndarray,
    tensor_of,
)

KINDS = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool")


@pipeline_def(batch_size=3, num_threads=1, seed=3)
def indices(shard=0, shards=1, pad=False):
    index = fn.readers.indices(
        size=20, name="reader", random_shuffle=True, shard_id=shard, num_shards=shards, pad_last_batch=pad
    )
    return fn.cast(index, dtype=types.FLOAT) + types.Constant(0.0, shape=[4]), index


@pytest.fixture(params=["dynamic", "static"])
def form(request):
    (paddle.enable_static if request.param == "static" else paddle.disable_static)()
    yield request.param
    paddle.disable_static()


@pytest.mark.parametrize("kind", KINDS)
def test_tensors_share_memory(kind, form):
    dense = batch(np.arange(24).reshape(2, 3, 4).astype(kind))
    tensor = tensor_of(dense)
    pointer = tensor.data_ptr() if form == "dynamic" else tensor._ptr()
    assert pointer == dense.data_ptr() and np.array_equal(np.asarray(tensor), dense.as_array())


def test_refusals(form):
    with pytest.raises(TypeError, match="the output is uint16, which Paddle would take for bfloat16"):
        tensor_of(batch(np.zeros((2, 3), np.uint16)))
    with pytest.raises(ValueError, match="differ in shape"):
        tensor_of(batch([np.zeros(2), np.zeros(3)]))
    with pytest.raises(ValueError, match="level of detail 1"):
        DALIGenericIterator(indices(), [("x", 1), "y"], reader_name="reader")
    for entry in (("x",), ("x", 0, 1)):
        with pytest.raises(ValueError, match="an entry of output_map is a name, or a pair"):
            DALIGenericIterator(indices(), [entry, "y"], reader_name="reader")


CASES = list(itertools.product(LastBatchPolicy, (1, 3), (False, True)))


@pytest.mark.parametrize(("policy", "shards", "pad"), CASES)
def test_epochs_are_those_of_numpy(form, policy, shards, pad):
    def made(kind):
        pipelines = [indices(s, shards, pad) for s in range(shards)]
        return kind(pipelines, ["x", "index"], reader_name="reader", last_batch_policy=policy, auto_reset=True)

    ours, expected = made(DALIGenericIterator), made(NumpyIterator)
    for _ in range(2):
        for entry, other in itertools.zip_longest(ours, expected):
            for a, b in zip(entry, other, strict=True):
                for name in ("x", "index"):
                    assert np.array_equal(np.asarray(a[name]), np.asarray(b[name]))


def test_states_continue():
    def made():
        return DALIGenericIterator(indices(), [("x", 0), "index"], reader_name="reader", prepare_first_batch=False)

    first = made()
    head = [next(first) for _ in range(3)]
    second = made()
    second.load_state(first.state())
    assert len(head) == 3
    for (a,), (b,) in zip(first, second, strict=True):
        assert np.array_equal(a["index"].numpy(), b["index"].numpy())


def test_states_in_files_of_paddle(tmp_path):
    def made():
        return DALIGenericIterator(indices(), ["x", "index"], reader_name="reader", prepare_first_batch=False)

    first = made()
    next(first)
    paddle.save(first.state(), str(tmp_path / "state.pdparams"))
    second = made()
    second.load_state(paddle.load(str(tmp_path / "state.pdparams")))
    assert np.array_equal(next(first)[0]["x"].numpy(), next(second)[0]["x"].numpy())


def test_tensors_outlive_their_iterator_and_are_the_programs():
    batches = DALIGenericIterator(indices(), ["x", "index"], reader_name="reader", auto_reset=True)
    kept = [(entry["index"], entry["index"].numpy().copy()) for _ in range(2) for (entry,) in batches]
    del batches
    for _ in range(3):
        for (entry,) in DALIGenericIterator(indices(), ["x", "index"], reader_name="reader"):
            entry["index"].fill_(77)  # is seen by no other tensor
    assert all(np.array_equal(tensor.numpy(), numbers) for tensor, numbers in kept)


def test_views_and_empty_batches():
    @pipeline_def(batch_size=2, num_threads=1)
    def views():
        index = fn.cast(fn.readers.indices(size=4, name="reader"), dtype=types.FLOAT)
        x = index + types.Constant(np.arange(12, dtype=np.float32).reshape(3, 4))
        return x[:, ::2], x[1], fn.transpose(x, perm=[1, 0])

    ((entry,),) = itertools.islice(DALIGenericIterator(views(), ["a", "b", "c"], reader_name="reader"), 1)
    expected = np.arange(2, dtype=np.float32)[:, None, None] + np.arange(12, dtype=np.float32).reshape(1, 3, 4)
    assert np.array_equal(entry["a"].numpy(), expected[:, :, ::2])
    assert np.array_equal(entry["b"].numpy(), expected[:, 1])
    assert np.array_equal(entry["c"].numpy(), expected.transpose(0, 2, 1))
    assert tensor_of(batch(np.zeros((2, 0, 3), np.float32))).shape == [2, 0, 3]


def test_errors_of_a_pipeline_and_what_follows(tmp_path):
    np.save(tmp_path / "0.npy", np.zeros((2, 3), np.uint8))
    (tmp_path / "1.npy").write_bytes(b"not an array")

    @pipeline_def(batch_size=1, num_threads=1)
    def arrays():
        return fn.readers.numpy(file_root=str(tmp_path), file_filter="*.npy", name="reader")

    batches = DALIGenericIterator(arrays(), ["x"], reader_name="reader", auto_reset=True)
    for _ in range(2):
        assert next(batches)[0]["x"].shape == [1, 2, 3]
        with pytest.raises(DataError, match="1.npy"):
            next(batches)
        with pytest.raises(StopIteration):
            next(batches)


class Numbers(paddle.io.IterableDataset):
    """The shard of a worker process, by an iterator that begins there."""

    def __iter__(self):
        info = paddle.io.get_worker_info()
        pipeline = indices(shard=info.id, shards=info.num_workers)
        policy = LastBatchPolicy.PARTIAL
        for (entry,) in DALIGenericIterator(pipeline, ["x", "index"], reader_name="reader", last_batch_policy=policy):
            yield entry["index"].numpy()


def test_worker_processes():
    assert fn.resize(np.zeros((8, 8, 3), np.uint8), size=[4, 4]).shape == (4, 4, 3)  # threads before the processes fork
    found = [b for b in paddle.io.DataLoader(Numbers(), batch_size=None, num_workers=2, use_shared_memory=False)]
    assert sorted(np.concatenate([np.asarray(f).ravel() for f in found]).tolist()) == list(range(20))


def test_training_in_the_dynamic_form():
    model = paddle.nn.Linear(4, 1)
    optimizer = paddle.optimizer.SGD(0.001, parameters=model.parameters())
    losses = []
    batches = DALIClassificationIterator(indices(), reader_name="reader", auto_reset=True)
    for _ in range(5):
        for (entry,) in batches:
            loss = ((model(entry["data"] / 20).squeeze() - entry["label"].astype("float32") / 20) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    assert np.mean(losses[-7:]) < np.mean(losses[:7])


def test_a_program_in_the_static_form():
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.static.data("data", [-1, 4], "float32")
            label = paddle.static.data("label", [-1], "int64")
            result = [x.sum(), label.sum()]
        run = paddle.static.Executor(paddle.CPUPlace()).run
        batches = DALIClassificationIterator(indices(), reader_name="reader", last_batch_policy=LastBatchPolicy.PARTIAL)
        sums = [run(program, feed=entry, fetch_list=result) for (entry,) in batches]
    finally:
        paddle.disable_static()
    assert sum(float(s) for s, _ in sums) == 4 * 190 and sum(int(n) for _, n in sums) == 190


def test_feed_ndarray():
    dense = batch(np.arange(6, dtype=np.float32).reshape(2, 3))
    tensor = paddle.zeros([2, 3])
    feed_ndarray(dense, tensor.data_ptr())
    assert np.array_equal(tensor.numpy(), dense.as_array())


def test_the_name_of_dali():
    import penstock.dali

    penstock.dali.install()
    try:
        from nvidia.dali.plugin.paddle import DALIGenericIterator as theirs
    finally:
        penstock.dali.uninstall()
    assert theirs is DALIGenericIterator
