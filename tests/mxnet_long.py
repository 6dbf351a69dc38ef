# SPDX-License-Identifier: Apache-2.0
"""penstock.plugin.mxnet with MXNet, in an environment of its own (`make test-long`):

.venv-mxnet/bin/python -m pytest tests/mxnet_long.py
"""

import ctypes
import itertools

import mxnet as mx
import numpy as np
import pytest

from penstock import DataError, batch, fn, pipeline_def, types
from penstock.plugin.mxnet import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIGluonIterator,
    LastBatchPolicy,
    array_of,
    feed_ndarray,
)
from penstock.plugin.numpy import NumpyIterator

TAGS = [("x", DALIGenericIterator.DATA_TAG), ("index", DALIGenericIterator.LABEL_TAG)]


@pipeline_def(batch_size=3, num_threads=1, seed=3)
def indices(shard=0, shards=1, pad=False):
    index = fn.readers.indices(
        size=20, name="reader", random_shuffle=True, shard_id=shard, num_shards=shards, pad_last_batch=pad
    )
    return fn.cast(index, dtype=types.FLOAT) + types.Constant(0.0, shape=[4]), fn.expand_dims(index, axes=[0])


def pointer(array):
    found = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayGetData(array.handle, ctypes.byref(found)))
    return found.value


@pytest.mark.parametrize("kind", ["uint8", "int8", "int32", "int64", "float16", "float32", "float64"])
def test_arrays_share_memory(kind):
    dense = batch(np.arange(24).reshape(2, 3, 4).astype(kind))
    array = array_of(dense)
    assert pointer(array) == dense.data_ptr() and np.array_equal(array.asnumpy(), dense.as_array())


@pytest.mark.parametrize("kind", ["bool", "int16", "uint16", "uint32", "uint64"])
def test_types_that_mxnet_has_not(kind):
    with pytest.raises(TypeError, match=f"the output is {kind}, which MXNet does not have"):
        array_of(batch(np.zeros((2, 3), kind)))


def test_refusals():
    with pytest.raises(ValueError, match="differ in shape"):
        array_of(batch([np.zeros(2), np.zeros(3)]))
    with pytest.raises(ValueError, match="no elements"):
        array_of(batch(np.zeros((2, 0))))
    with pytest.raises(ValueError, match="the tag of 'x' must be"):
        DALIGenericIterator(indices(), [("x", "picture"), "y"], reader_name="reader")
    with pytest.raises(ValueError, match="output_types has"):
        DALIGluonIterator(indices(), reader_name="reader", output_types=["dense", "thin"])
    with pytest.raises(ValueError, match="output_types has 1 tags, the pipeline has 2 outputs"):
        DALIGluonIterator(indices(), reader_name="reader", output_types=["dense"])
    for entry in (("x",), ("x", "data", 3), 7):
        with pytest.raises(ValueError, match="an entry of output_map is a name, or a pair"):
            DALIGenericIterator(indices(), [entry, "y"], reader_name="reader")


@pytest.mark.parametrize(("policy", "shards", "pad"), list(itertools.product(LastBatchPolicy, (1, 3), (False, True))))
def test_epochs_are_those_of_numpy(policy, shards, pad):
    def made(kind, names):
        pipelines = [indices(s, shards, pad) for s in range(shards)]
        return kind(pipelines, names, reader_name="reader", last_batch_policy=policy, auto_reset=True)

    ours, expected = made(DALIGenericIterator, TAGS), made(NumpyIterator, ["x", "index"])
    for _ in range(2):
        for entry, other in itertools.zip_longest(ours, expected):
            for a, b in zip(entry, other, strict=True):
                count = a.data[0].shape[0] - a.pad
                assert np.array_equal(a.data[0].asnumpy()[:count], np.asarray(b["x"]).reshape(count, 4))
                assert np.array_equal(a.label[0].asnumpy()[:count], np.asarray(b["index"]).reshape(count))
                assert a.provide_data[0].shape == a.data[0].shape and a.provide_label[0].shape == a.label[0].shape


def test_module_fit():
    data = mx.sym.Variable("data")
    label = mx.sym.Variable("softmax_label")
    net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(data / 20, num_hidden=1), label / 20)

    @pipeline_def(batch_size=3, num_threads=1)
    def pipe():
        index = fn.cast(fn.readers.indices(size=20, name="reader"), dtype=types.FLOAT)
        return index + types.Constant(0.0, shape=[4]), fn.reshape(index, shape=[1])

    batches = DALIClassificationIterator(pipe(), reader_name="reader", auto_reset=True, squeeze_labels=False)
    assert batches.provide_data[0].name == "data" and batches.provide_label[0].shape == (3, 1)
    module = mx.mod.Module(net, label_names=["softmax_label"])
    seen = []
    module.fit(
        batches,
        num_epoch=3,
        eval_metric="mse",
        optimizer_params={"learning_rate": 0.01},
        batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1]),
    )
    assert len(seen) == 20  # 20 samples: 7, 7 and 6 batches of 3


@pipeline_def(batch_size=3, num_threads=1, seed=3)
def classes(shard=0, shards=1):
    index = fn.cast(
        fn.readers.indices(size=20, name="reader", random_shuffle=True, shard_id=shard, num_shards=shards),
        dtype=types.FLOAT,
    )
    return index + types.Constant(0.0, shape=[4]), index


def module(**options):
    net = mx.sym.FullyConnected(mx.sym.Variable("data") / 20, num_hidden=20)
    return mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), **options)


def of_epochs(policy, shards=1):
    pipelines = [classes(shard, shards) for shard in range(shards)]
    return DALIClassificationIterator(pipelines, reader_name="reader", auto_reset=True, last_batch_policy=policy)


def test_a_shorter_last_batch_in_fit():
    counts = []
    module().fit(
        of_epochs(LastBatchPolicy.PARTIAL),
        eval_data=of_epochs(LastBatchPolicy.PARTIAL),
        num_epoch=2,
        batch_end_callback=lambda p: counts.append(p.locals["data_batch"].provide_label[0].shape[0]),
    )
    assert counts == [3] * 6 + [2] + [3] * 6 + [2]


def test_a_context_for_each_pipeline():
    batches = of_epochs(LastBatchPolicy.FILL, shards=2)
    assert batches.provide_data[0].shape == (6, 4) and batches.provide_label[0].shape == (6,)
    ends = []
    trained = module(context=[mx.cpu(0), mx.cpu(1)])
    trained.fit(batches, num_epoch=2, batch_end_callback=lambda p: ends.append(p.epoch))
    assert ends == [0] * 4 + [1] * 3  # 20 samples in batches of 6, which go across the ends of epochs
    assert [name for name, _ in trained.score(batches, "acc")] == ["accuracy"]


def test_outputs_of_iter_predict_have_no_repeated_samples():
    batches = DALIClassificationIterator(classes(), reader_name="reader", auto_reset=True)
    ready = module()
    ready.bind(batches.provide_data, batches.provide_label, for_training=False)
    ready.init_params()
    sizes = [outputs[0].shape[0] for outputs, _, _ in ready.iter_predict(of_epochs(LastBatchPolicy.PARTIAL))]
    assert sizes == [3] * 6 + [2]


def test_states_after_a_description():
    def iterator(**options):
        return DALIGenericIterator(indices(), TAGS, reader_name="reader", prepare_first_batch=False, **options)

    first, second, third = iterator(), iterator(), iterator()
    assert first.provide_data[0].shape == (3, 4)
    second.load_state(first.state())  # before the first batch, which is described
    expected = [made.label[0].asnumpy() for (made,) in third]
    for found in (first, second):
        for (given,), numbers in zip(found, expected, strict=True):
            assert np.array_equal(given.label[0].asnumpy(), numbers)


def test_arrays_outlive_their_iterator():
    batches = DALIGenericIterator(indices(), TAGS, reader_name="reader")
    kept, numbers = zip(*((b.data[0], b.label[0].asnumpy()) for (b,) in batches))
    sums = [(array * 1.0).sum() for array in kept]  # MXNet computes them later
    del batches, kept
    others = [next(DALIGenericIterator(indices(), TAGS, reader_name="reader")) for _ in range(3)]
    assert len(others) == 3 and [int(s.asscalar()) for s in sums] == [4 * int(n.sum()) for n in numbers]


def test_samples_without_elements():
    @pipeline_def(batch_size=3, num_threads=1)
    def boxes():
        number = fn.cast(fn.readers.indices(size=3, name="reader"), dtype=types.INT32)
        return fn.full(number, shape=fn.stack(number, fn.full(4, shape=[])))

    batches = DALIGluonIterator(boxes(), reader_name="reader", output_types=[DALIGluonIterator.SPARSE_TAG])
    (((found,),),) = batches
    assert [s.shape for s in found] == [(0, 4), (1, 4), (2, 4)] and {s.dtype for s in found} == {np.int32}
    assert found[0].asnumpy().shape == (0, 4) and found[2].asnumpy().tolist() == [[2] * 4] * 2


def test_errors_of_a_pipeline_and_what_follows(tmp_path):
    good = tmp_path / "0.npy"
    np.save(good, np.zeros((2, 3), np.uint8))
    (tmp_path / "1.npy").write_bytes(b"not an array")

    @pipeline_def(batch_size=1, num_threads=1)
    def arrays():
        return fn.readers.numpy(file_root=str(tmp_path), file_filter="*.npy", name="reader")

    batches = DALIGenericIterator(arrays(), ["x"], reader_name="reader", auto_reset=True)
    for _ in range(2):
        assert next(batches)[0].data[0].shape == (1, 2, 3)
        with pytest.raises(DataError, match="1.npy"):
            next(batches)
        with pytest.raises(StopIteration):
            next(batches)


def test_functions_in_worker_processes():
    class Pictures(mx.gluon.data.Dataset):
        def __getitem__(self, i):
            return np.asarray(fn.resize(np.full((8, 8, 3), i, np.uint8), size=[4, 4]))

        def __len__(self):
            return 8

    assert Pictures()[3].shape == (4, 4, 3)  # the library has threads before the processes fork
    found = [b.asnumpy() for b in mx.gluon.data.DataLoader(Pictures(), 4, num_workers=2, timeout=60)]
    assert [f.shape for f in found] == [(4, 4, 4, 3)] * 2 and found[1][:, 0, 0, 0].tolist() == [4, 5, 6, 7]


def test_gluon():
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        index = fn.readers.indices(size=5, name="reader")
        number = fn.cast(index, dtype=types.INT32)
        return index, fn.full(number, shape=fn.reshape(number + 1, shape=[1]))

    batches = DALIGluonIterator(
        pipe(),
        reader_name="reader",
        output_types=[DALIGluonIterator.DENSE_TAG, DALIGluonIterator.SPARSE_TAG],
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    found = [(dense.asnumpy().tolist(), [s.asnumpy().tolist() for s in sparse]) for ((dense, sparse),) in batches]
    assert [d for d, _ in found] == [[0, 1], [2, 3], [4]]
    assert found[1][1] == [[2] * 3, [3] * 4] and found[2][1] == [[4] * 5]


def test_feed_ndarray():
    dense = batch(np.arange(6, dtype=np.float32).reshape(2, 3))
    array = feed_ndarray(dense, mx.nd.zeros((2, 3)))
    assert np.array_equal(array.asnumpy(), dense.as_array())
    with pytest.raises(ValueError, match=r"the array is float64\(2, 3\), the data float\(2, 3\)"):
        feed_ndarray(dense, mx.nd.zeros((2, 3), dtype="float64"))
