# SPDX-License-Identifier: Apache-2.0
"""Nodes made outside a pipeline by the names of DALI: they join the pipeline whose outputs reach them."""

import gc
import weakref

import numpy as np
import operator_calls
import pytest
import strategies
from hypothesis import HealthCheck, Phase, given, settings

import penstock
from penstock import _core
from penstock.dali import Pipeline, fn, math, ops, pipeline_def, types

IMAGES = [np.random.default_rng(k).integers(0, 256, (4, 5 + k, 3), np.uint8) for k in range(3)]


def values(batch):
    return [np.array(t.numpy()) for t in batch]


def test_random_numbers_are_drawn_again():
    pipe = Pipeline(3, 1, None, seed=4)
    drawn = fn.random.uniform(range=(0, 1))
    pipe.set_outputs(drawn)
    seen = np.array([values(pipe.run()[0]) for _ in range(3)]).ravel()
    assert len(set(seen.tolist())) == 9

    @pipeline_def(batch_size=3, num_threads=1, seed=4)
    def inside():
        return fn.random.uniform(range=(0, 1))

    same = inside()
    assert np.array_equal(seen, np.array([values(same.run()[0]) for _ in range(3)]).ravel())


def test_what_outputs_are_made_of_joins_with_them():
    pipe = Pipeline(3, 1, None)
    images = fn.external_source(source=lambda: IMAGES, layout="HWC", name="images")
    size = fn.stack(types.Constant(3), types.Constant(np.int32(6)))
    small = fn.resize(images, size=size, interp_type=types.INTERP_NN)
    both = [
        small[:, 1:, :] + 1,
        math.sqrt(fn.cast(small, dtype=types.FLOAT)),
        images.shape(),
        abs(fn.cast(images, dtype=types.INT32) - 100),
    ]
    assert small.ndim == 3 and both[1].dtype == types.FLOAT and images.name == "images"
    pipe.set_outputs(*both)
    assert images.pipeline is pipe is small.pipeline
    got = pipe.run()
    small = [penstock.fn.resize(i, size=[3, 6], interp_type=types.INTERP_NN) for i in IMAGES]
    want = [
        [s[:, 1:].astype(np.int32) + 1 for s in small],
        [np.sqrt(s.astype(np.float32)) for s in small],
        [np.int64(i.shape) for i in IMAGES],
        [abs(i.astype(np.int32) - 100) for i in IMAGES],
    ]
    for batch, arrays in zip(got, want, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(values(batch), arrays, strict=True))


def test_a_reader_classes_and_a_with_block(tmp_path):
    for k in range(4):
        (tmp_path / str(k)).write_bytes(bytes([k]))
    read = ops.readers.File(files=[str(tmp_path / str(k)) for k in range(4)])
    data, labels = read(name="Reader")
    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.cast(data, dtype=types.INT32) * 10, labels)
    assert pipe.epoch_size("Reader") == 4
    for first in (0, 2):
        got = pipe.run()
        assert got[0].as_array().ravel().tolist() == [10 * first, 10 * first + 10] and got[
            1
        ].as_array().ravel().tolist() == [first, first + 1]


def test_fed_by_node_and_by_name():
    fed, other = fn.external_source(), fn.external_source(name="other")
    pipe = Pipeline(2, 1, None)
    pipe.set_outputs(fed + other)
    for k in range(2):
        pipe.feed_input(fed, np.int32([k, 2]))
        pipe.feed_input("other", np.int32([10, 20]))
        assert pipe.run()[0].as_array().tolist() == [10 + k, 22]


def test_worker_processes_take_their_pipelines_arguments():
    node = fn.external_source(_numbers, batch=False, parallel=True)
    pipe = Pipeline(4, 1, None, py_num_workers=2, py_start_method="fork")
    pipe.set_outputs(node)
    assert [pipe.run()[0].as_array().tolist() for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert pipe.definition.sources[node.node].count == 2
    pipe.close()


def _numbers(info):
    return np.int32(info.idx_in_epoch)


def test_functions_of_the_program():
    x = fn.external_source(lambda: np.float32([1, 2]))
    doubled = fn.python_function(x, function=lambda a: a * 2)
    pipe = Pipeline(2, 1, None)
    pipe.set_outputs(doubled, x)
    assert [b.as_array().tolist() for b in pipe.run()] == [[2, 4], [1, 2]]


def test_a_pipelines_function_that_uses_one_from_outside():
    u = fn.random.uniform(range=(0, 1), name="u")

    @pipeline_def(batch_size=8, num_threads=1, seed=1)
    def pipe():
        if u > 0.5:
            v = u * 0
        else:
            v = u - u + 1
        return v, u

    low, u = (b.as_array() for b in pipe().run())
    assert np.array_equal(low, (u <= 0.5).astype(np.float32)) and 0 < low.sum() < 8


def test_two_pipelines_do_not_share_one():
    shared = fn.random.uniform()
    Pipeline(2, 1, None).set_outputs(shared + 1)
    with pytest.raises(
        ValueError, match=r"(?s)belongs to another pipeline.*outside a pipeline joins the first one.*test_free_nodes.py"
    ):
        Pipeline(2, 1, None).set_outputs(shared * 2)


def test_what_they_do_not_reach_stays():
    def unread():
        raise AssertionError("nobody reads it")

    first, second = fn.external_source(unread, name="n"), fn.external_source(lambda: np.int32([3]), name="n")
    pipe = Pipeline(1, 1, None)
    total = first + second
    pipe.set_outputs(second)
    assert (
        pipe.run()[0].as_array().tolist() == [3] and total.pipeline is not pipe and pipe.definition.graph.nodes() == 1
    )
    kept = weakref.ref(total.pipeline)
    del first, total
    gc.collect()
    assert kept() is None


def test_errors_name_the_line_that_made_the_node():
    with pytest.raises(RuntimeError, match=r"(?s)\[random.uniform\].*'rnage'.*range"):
        fn.random.uniform(rnage=(0, 1))
    bad = fn.reshape(fn.external_source(lambda: np.zeros((1, 5), np.float32)), shape=[2, 2])  # this line
    pipe = Pipeline(1, 1, None)
    pipe.set_outputs(bad)
    with pytest.raises(
        RuntimeError,
        match="test_free_nodes.py:" + str(test_errors_name_the_line_that_made_the_node.__code__.co_firstlineno + 3),
    ):
        pipe.run()
    with pytest.raises(RuntimeError, match="debug=True"):

        @pipeline_def(batch_size=1, num_threads=1, debug=True)
        def debugged():
            return fn.copy(outside)

        outside = fn.random.uniform()
        debugged().run()


def test_arrays_run_at_once_as_before():
    assert np.array_equal(fn.flip(IMAGES[0]), IMAGES[0][:, ::-1]) and isinstance(
        fn.random.uniform(batch_size=2), penstock.Batch
    )
    assert isinstance(fn.flip([IMAGES[0], IMAGES[1]]), penstock.Batch)
    assert not isinstance(penstock.fn.random.uniform(), penstock.DataNode)
    with pytest.raises(RuntimeError, match="only possible inside a pipeline"):
        penstock.fn.external_source(lambda: IMAGES)


DRAWN = [name for name in _core.operators(True) if name in strategies.CASES]


@pytest.mark.parametrize("name", DRAWN)
def test_every_operator_gives_what_a_call_gives(name):
    function = penstock.dali.fn
    if name.startswith("_") or name == "filter":
        function = _core.operator_function(name)
    else:
        for part in {"correlate": "filter"}.get(name, name).split("."):
            function = getattr(function, part)
    info = {a["name"]: a for a in _core.operator_schema(name)["args"]}

    def source(batch, layout=None):
        return fn.external_source(lambda: batch, layout=layout or None)

    @settings(
        max_examples=1,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(strategies.case_of(name))
    def check(case):
        inputs = [source(penstock.batch(x, layout=layout), layout) for x, layout in zip(case.inputs, case.layouts)]
        keywords = {k: source(operator_calls.per_sample(v, info[k])) for k, v in case.per_sample.items()}
        out = function(*inputs, **case.constants, **keywords)
        out = out[0] if isinstance(out, list) else out
        assert isinstance(out, penstock.DataNode)
        pipe = Pipeline(case.size, 1, None, seed=1, prefetch_queue_depth=1)
        pipe.set_outputs(out)
        got, want = values(pipe.run()[0]), operator_calls.call(name, case)
        pipe.close()
        assert [(g.dtype, g.shape, g.tobytes()) for g in got] == [(w.dtype, w.shape, w.tobytes()) for w in want]

    check()
