# SPDX-License-Identifier: Apache-2.0
"""penstock.plugin.mxnet with MXNet, in an environment of its own (`make test-long`):

.venv-mxnet/bin/python -m pytest tests/mxnet_long.py
"""

import ctypes
import itertools

import mxnet as mx
import numpy as np
import pytest

from penstock import batch, fn, pipeline_def, types
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
