# SPDX-License-Identifier: Apache-2.0
"""Pipelines from Python: definition, running, external sources, saved forms, errors, signals."""

import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from small_pipelines import ramp, source_pipe

import penstock
from penstock import Pipeline, fn, pipeline_def, types


def one(function, data, **options):
    """The result of a pipeline with the body `function` for one batch of samples."""

    @pipeline_def(batch_size=len(data), num_threads=2, seed=1, **options)
    def pipe():
        return function(fn.external_source([data], layout=None))

    out = pipe().run()
    return [b.tensors for b in out] if len(out) > 1 else [t.numpy() for t in out[0]]


# --- definition -------------------------------------------------------------------------------------------------------


def test_decorator_with_and_without_arguments():
    def body(value=1):
        return fn.external_source(lambda: np.full((2, 1), value, np.int32))

    bare, called = pipeline_def(body), pipeline_def(batch_size=2, num_threads=1)(body)
    assert bare(batch_size=3, num_threads=1).max_batch_size == 3
    assert called().max_batch_size == 2 and called(batch_size=5).max_batch_size == 5
    assert called(7).run()[0].as_array().tolist() == [[7], [7]]
    assert called(value=4).run()[0].at(1).tolist() == [4]
    assert called.__name__ == "body"
    with pytest.raises(TypeError, match="no_such"):
        pipeline_def(no_such=1)
    with pytest.raises(TypeError):
        called(no_such=1)


def test_every_documented_argument_is_accepted():
    p = Pipeline(
        2,
        1,
        None,
        3,
        True,
        2,
        True,
        0,
        False,
        None,
        None,
        enable_memory_stats=True,
        enable_checkpointing=True,
        checkpoint=None,
        py_num_workers=2,
        py_start_method="spawn",
        py_callback_pickler=None,
        output_dtype=None,
        output_ndim=None,
        output_layout=None,
        exec_dynamic=False,
        experimental_exec_dynamic=None,
        stream_policy=None,
        concurrency=None,
    )
    assert (p.batch_size, p.max_batch_size, p.num_threads, p.seed, p.device_id) == (2, 2, 1, 3, None)
    assert (p.exec_pipelined, p.exec_async, p.prefetch_queue_depth, p.max_streams) == (True, True, 2, -1)
    assert p.default_cuda_stream_priority == 0 and not p.set_affinity and p.py_start_method == "spawn"
    assert Pipeline(2, 1, prefetch_queue_depth={"cpu_size": 3, "gpu_size": 1}).exec_separated


def test_every_parameter_and_property_of_the_table():
    import inspect

    with open(os.path.join(os.path.dirname(__file__), "dali_arguments.json")) as file:
        known = json.load(file)["Pipeline"]
    assert set(known["python"]) <= set(inspect.signature(Pipeline.__init__).parameters)
    p = Pipeline(1, 1)
    with p:
        p.set_outputs(types.Constant(1, device="cpu"))
    for name in known["properties"]:
        getattr(p, name)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(batch_size=0),
        dict(num_threads=0),
        dict(batch_size="x"),
        dict(prefetch_queue_depth=0),
        dict(py_start_method="thread"),
    ],
)
def test_wrong_pipeline_arguments(arguments):
    with pytest.raises(ValueError):
        Pipeline(**{"batch_size": 1, "num_threads": 1, **arguments})


def test_outputs():
    def make(returned):
        @pipeline_def(batch_size=2, num_threads=1)
        def pipe():
            return returned(fn.external_source([ramp(2, 3)], name="x"))

        return pipe()

    assert len(make(lambda x: (x, 5, [1, 2], np.ones((2, 2), np.float32))).run()) == 4
    out = make(lambda x: (x, 5, [1, 2], 2.5, np.ones((2, 2)), True)).run()
    assert [o.dtype for o in out[1:]] == [types.INT32, types.INT32, types.FLOAT, types.FLOAT, types.BOOL]
    assert [o.shape()[0] for o in out[1:]] == [(), (2,), (), (2, 2), ()]
    assert len(make(lambda x: [x, x]).run()) == 2
    for wrong in (lambda x: "x", lambda x: {"a": "x"}, lambda x: (x, {1, 2}), lambda x: (x, (x, "x"))):
        with pytest.raises(TypeError):
            make(wrong)
    with pytest.raises(ValueError, match="no outputs"):
        make(lambda x: None).run()


def test_with_block_set_outputs_and_current():
    p = Pipeline(batch_size=2, num_threads=1)
    assert Pipeline.current() is None
    with p:
        assert Pipeline.current() is p
        p.set_outputs(fn.flip(fn.external_source([ramp(2, 4, 5, 3)])))
    assert Pipeline.current() is None
    np.testing.assert_array_equal(p.run()[0].as_array(), ramp(2, 4, 5, 3)[:, :, ::-1])
    with pytest.raises(RuntimeError):
        p.set_outputs()


def test_define_graph_of_a_subclass():
    class Mine(Pipeline):
        def define_graph(self):
            return fn.external_source([ramp(2, 3)])

    assert Mine(2, 1).run()[0].as_array().tolist() == ramp(2, 3).tolist()


def test_declared_outputs_are_checked():
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return fn.external_source(lambda: ramp(2, 3, 4, 3), layout="HWC")

    assert pipe(output_dtype=types.UINT8, output_ndim=3, output_layout="HWC").run()
    for wrong in (
        dict(output_dtype=types.FLOAT),
        dict(output_ndim=[2]),
        dict(output_layout="CHW"),
        dict(output_ndim=[3, 3]),
    ):
        with pytest.raises(RuntimeError):
            pipe(**wrong).run()


# --- arithmetic and indexing ------------------------------------------------------------------------------------------

X = ramp(4, 5, dtype=np.float32) + 1


@pytest.mark.parametrize(
    "expression",
    [
        "x + 2",
        "2 - x",
        "x * x",
        "x / 4",
        "1 / x",
        "-x",
        "+x",
        "x ** 2",
        "x < 5",
        "5 <= x",
        "x == 3",
        "x != x",
        "x * 2 + 1 > 7",
        "x * np.float32(1.5)",
        "np.float32(2) + x",
        "x + np.ones(5, np.float32)",
    ],
)
def test_float_expressions(expression):
    got = one(lambda x: eval(expression, {"x": x, "np": np}), [X])[0]
    want = eval(expression, {"x": X, "np": np})
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    "expression", ["x + 300", "x & 7", "x | 8", "x ^ 5", "~x", "x << 2", "x >> 1", "x // 3", "x % 4", "x * x"]
)
def test_integer_expressions(expression):
    x = ramp(3, 4)
    got = one(lambda v: eval(expression, {"x": v}), [x])[0]
    wide = expression not in ("~x", "x * x")
    want = eval(expression, {"x": x.astype(np.int32) if wide else x})
    assert got.dtype == (np.int32 if wide else np.uint8)
    np.testing.assert_array_equal(got, want)


def test_scalars_that_differ_between_samples():
    a, b = ramp(3, 4, dtype=np.float32), ramp(2, 4, dtype=np.float32)

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        x = fn.external_source([[a, b]])
        s = fn.external_source([[np.float32(2), np.float32(3)]], dtype=types.FLOAT, ndim=0)
        return x * s, s - x

    p = pipe()
    product, difference = p.run()
    np.testing.assert_array_equal(product.at(1), b * 3)
    np.testing.assert_array_equal(difference.at(0), 2 - a)


@pytest.mark.parametrize(
    "index",
    ["1", "-1", "1:", ":2", "-3:-1", "::2", "::-1", "1, 2", "1, :, 2", ":, -1", "1:3, 2:, :1", "..., 0", "1, ..., 1:"],
)
def test_indexing(index):
    x = ramp(4, 5, 3)
    got = one(lambda v: eval(f"v[{index}]", {"v": v.pipeline and fn.reshape(v, layout="HWC", shape=[4, 5, 3])}), [x])[0]
    np.testing.assert_array_equal(got, eval(f"x[{index}]", {"x": x}))


def test_indexing_with_values_and_new_axes():
    x = ramp(2, 4, 5)

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        v = fn.external_source([x])
        i = fn.external_source([[np.int32(1), np.int32(3)]])
        return v[i], v[i:], v[:, penstock.newaxis, 1]

    at, after, wider = pipe().run()
    np.testing.assert_array_equal(at.at(1), x[1][3])
    assert after.shape() == [(3, 5), (1, 5)]
    np.testing.assert_array_equal(wider.at(0), x[0][:, None, 1])


def test_shape_of_a_value():
    shapes = one(lambda x: x.shape(), [ramp(4, 5, 3), ramp(2, 2, 1)])
    assert [s.tolist() for s in shapes] == [[4, 5, 3], [2, 2, 1]]
    assert one(lambda x: x.shape(dtype=types.INT32), [ramp(4)])[0].dtype == np.int32


def test_what_values_cannot_do():
    def raises(error, body):
        with pytest.raises(error):
            one(body, [ramp(3, 3)])

    raises(TypeError, eval("lambda x: x if x else x"))  # without a source that could be converted
    raises(TypeError, lambda x: [v for v in x][0])
    raises(TypeError, lambda x: len(x))
    raises(TypeError, lambda x: x + "1")
    raises(TypeError, lambda x: x.__setitem__(0, 1))
    raises(TypeError, lambda x: x["a"])
    raises(IndexError, lambda x: x[..., ...])
    raises(OverflowError, lambda x: x + 2**40)


def test_constants():
    def values(*a, **k):
        return one(lambda x: types.Constant(*a, device="cpu", **k), [ramp(1)])[0]

    assert values(300, dtype=types.UINT8) == 255 and values(300, dtype=types.UINT8).dtype == np.uint8
    assert values([1, 2, 3]).tolist() == [1, 2, 3] and values([1.0, 2]).dtype == np.float32
    assert values(1.5, shape=[2, 2]).tolist() == [[1.5, 1.5], [1.5, 1.5]]
    assert values(np.ones((2, 3))).dtype == np.float32 and values(np.ones(2), dtype=types.FLOAT64).dtype == np.float64
    with pytest.raises(TypeError):
        values([[1], [2]])


def test_per_sample_arguments_are_values():
    @pipeline_def(batch_size=3, num_threads=2)
    def pipe():
        x = fn.external_source([[ramp(3, 4, 3)] * 3])
        return fn.flip(x, horizontal=fn.external_source([[np.int32(v) for v in (0, 1, 0)]]))

    out = pipe().run()[0]
    np.testing.assert_array_equal(out.at(1), ramp(3, 4, 3)[:, ::-1])
    np.testing.assert_array_equal(out.at(2), ramp(3, 4, 3))


def test_lists_of_values_as_inputs():
    @pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        a, b = fn.external_source([(ramp(1, 3, 4, 3), ramp(1, 2, 2, 3))], num_outputs=2)
        return tuple(fn.flip([a, b]))

    assert [o.shape() for o in pipe().run()] == [[(3, 4, 3)], [(2, 2, 3)]]


# --- saved forms ------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    for i in range(10):
        (tmp_path / f"{i}.bin").write_bytes(bytes([i]))
    return [str(tmp_path / f"{i}.bin") for i in range(10)]


def reading(files, batch_size=3, checkpoint=None, **reader):
    @pipeline_def(batch_size=batch_size, num_threads=2, seed=7, checkpoint=checkpoint, enable_checkpointing=True)
    def pipe():
        data, label = fn.readers.file(files=files, random_shuffle=True, name="Files", **reader)
        return data, label

    return pipe()


def labels(pipe, n):
    return [pipe.run()[1].as_array().ravel().tolist() for _ in range(n)]


def test_a_pipeline_is_saved_without_the_paths_of_the_program(files, tmp_path):
    p = reading(files)
    assert Path(__file__).name in p.to_json()
    p.save(tmp_path / "bare.json", lines=False)
    text = (tmp_path / "bare.json").read_text()
    assert str(Path(__file__).parent) not in text and '"line"' not in text
    assert labels(Pipeline.load(filename=tmp_path / "bare.json"), 6) == labels(reading(files), 6)


def test_saved_pipelines_give_the_same(files, tmp_path):
    p = reading(files)
    text = p.to_json()
    p.save(tmp_path / "pipe.json")
    want = labels(p, 6)
    assert labels(Pipeline.deserialize(text), 6) == want
    assert labels(Pipeline.deserialize(p.serialize()), 6) == want
    assert labels(Pipeline.load(filename=tmp_path / "pipe.json"), 6) == want
    other = Pipeline.deserialize(text, batch_size=5, num_threads=1)
    assert sum(labels(other, 2), []) == sum(want, [])[:10]
    p.save_graph_to_dot_file(tmp_path / "graph.dot", show_tensors=True, use_colors=True)
    assert "digraph" in (tmp_path / "graph.dot").read_text()
    for broken in ("{}", "x", '{"penstock_pipeline": 1, "graph": {}}', b"\x00"):
        with pytest.raises(ValueError):
            Pipeline.deserialize(broken)


def test_checkpoints(files, tmp_path):
    p = reading(files)
    labels(p, 2)
    state = p.checkpoint(tmp_path / "state")
    rest = sum(labels(p, 4), [])
    assert sum(labels(reading(files, checkpoint=state), 4), []) == rest
    assert sum(labels(reading(files, checkpoint=str(tmp_path / "state"), batch_size=2), 6), []) == rest
    assert reading(files, checkpoint=state).is_restored_from_checkpoint and not p.is_restored_from_checkpoint
    for wrong in (b"{}", b"nonsense {", state.replace(b"Files", b"Other")):
        with pytest.raises(ValueError):
            reading(files, checkpoint=wrong).build()
    with pytest.raises(ValueError):
        reading(files[:5], checkpoint=state).build()


def test_checkpoints_of_external_sources():
    def numbered(checkpoint=None):
        return source_pipe(checkpoint=checkpoint)(lambda i: np.full((2, 1), i, np.int32))

    p = numbered()
    p.run(), p.run()
    assert int(numbered(p.checkpoint()).run()[0].at(0)[0]) == 2

    class Stateful:
        def __init__(self):
            self.i = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.i += 1
            return np.full((2, 1), self.i, np.int32)

        def state_dict(self):
            return {"i": self.i}

        def load_state_dict(self, state):
            self.i = state["i"]

    p = source_pipe()(Stateful())
    p.run(), p.run()
    assert int(source_pipe(checkpoint=p.checkpoint())(Stateful()).run()[0].at(0)[0]) == 3
    plain = source_pipe()(np.full((2, 1), i, np.int32) for i in range(9))
    plain.run()
    with pytest.raises(ValueError, match="state_dict"):
        plain.checkpoint()


def test_reader_questions(files):
    p = reading(files, num_shards=3, shard_id=1)
    meta = p.reader_meta("Files")
    assert meta["epoch_size"] == 10 and meta["number_of_shards"] == 3 and meta["shard_id"] == 1
    assert p.epoch_size("Files") == 10 and p.epoch_size() == {"Files": 10} and p.reader_meta() == {"Files": meta}
    with pytest.raises(RuntimeError):
        p.reader_meta("Other")


def test_statistics_and_trace(files, tmp_path):
    p = reading(files)
    p.trace()
    labels(p, 3)
    stats = p.stats()
    assert stats["iterations"] == 3 and stats.samples == 9 and stats.verdict and "stage" in str(stats)
    p.trace(tmp_path / "trace.json")
    assert len(json.loads((tmp_path / "trace.json").read_text())) > 0
    assert "readers.file" in p.text() and p.text(planned=True)
    assert f"{os.path.basename(__file__)}:" in p.text()  # each node knows its line


# --- errors, devices, signals -----------------------------------------------------------------------------------------


def test_errors_name_the_operator_and_the_line():
    @pipeline_def(batch_size=1, num_threads=1)
    def pipe(**wrong):
        return fn.flip(fn.external_source([ramp(1, 3, 3, 3)]), **wrong)

    with pytest.raises(TypeError, match=r"\[flip\].*did you mean 'horizontal'(.|\n)*test_pipeline.py:\d+"):
        pipe(horisontal=1)
    with pytest.raises(TypeError, match=r"\[flip\]"):
        pipe(horizontal="yes")
    with pytest.raises(ValueError, match=r"\[brightness_contrast\]|\[flip\]"):
        with Pipeline(1, 1):
            fn.flip()


def test_missing_and_damaged_files(files):
    p = reading([*files[:2], "/no/such/file.jpg"])
    with pytest.raises((FileNotFoundError, penstock.DataError), match="no/such/file.jpg"):
        labels(p, 3)

    @pipeline_def(batch_size=2, num_threads=1)
    def decode(**options):
        return fn.decoders.image(fn.readers.file(files=files[:4])[0])

    with pytest.raises(penstock.DataError, match=r"\[decoders.image\](.|\n)*\.bin(.|\n)*test_pipeline.py:\d+"):
        decode().run()


def test_devices():
    source = [ramp(1, 3, 3, 3)]
    code = (
        "import warnings, penstock\nfrom penstock import fn, Pipeline\nimport numpy as np\n"
        "p = Pipeline(1, 1)\nwarnings.simplefilter('always')\n"
        "with warnings.catch_warnings(record=True) as w, p:\n"
        "    x = fn.external_source([np.zeros((1, 2, 2, 3), np.uint8)])\n"
        "    p.set_outputs(fn.flip(fn.flip(x.gpu(), device='gpu'), device='gpu').cpu())\n"
        "assert [v.category for v in w] == [penstock.DeviceWarning], w\np.run()\n"
    )
    env = {**os.environ, "PENSTOCK_REQUIRE_GPU": "", "PENSTOCK_GPU_LIBRARY": "/no/such/library"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    done = subprocess.run(
        [sys.executable, "-c", code], env={**env, "PENSTOCK_REQUIRE_GPU": "1"}, capture_output=True, text=True
    )
    assert done.returncode != 0 and "PENSTOCK_REQUIRE_GPU" in done.stderr
    with pytest.raises(ValueError, match="device"):
        one(lambda x: fn.flip(x, device="tpu"), source)


def test_an_interrupt_ends_the_wait():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits "ignored"
    entered, released, waited = threading.Event(), threading.Event(), []

    def slow(i):
        entered.set()
        waited.append(released.wait(60))
        return np.zeros((2, 1))

    p = source_pipe()(slow)

    def interrupt():
        entered.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(10):
            p.run()
    released.set()  # the source returns after the wait for it has ended
    thread.join()
    signal.signal(signal.SIGINT, before)
    assert len(p.run()[0]) == 2  # usable after it
    assert all(waited)


def test_a_fork_is_refused(files):
    p = reading(files)
    p.run()
    pid = os.fork()
    if pid == 0:
        try:
            p.run()
            os._exit(1)
        except ValueError as error:
            os._exit(0 if "fork" in str(error) else 2)
    assert os.waitpid(pid, 0)[1] == 0


def test_pipelines_end_with_the_interpreter():
    code = (
        "import numpy as np\nfrom penstock import fn, pipeline_def\n"
        "@pipeline_def(batch_size=2, num_threads=2)\ndef pipe():\n    return fn.external_source(lambda i: np.zeros((2, 1)))\n"
        "p = pipe()\np.run()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_nodes_of_two_pipelines_do_not_mix():
    a, b = Pipeline(1, 1), Pipeline(1, 1)
    with a:
        x = fn.external_source([ramp(1, 3)])
    with b, pytest.raises(ValueError, match="another pipeline"):
        fn.copy(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = fn.copy(x)  # outside any pipeline: the value knows its own
    a.set_outputs(y)
    assert a.run()[0].as_array().tolist() == ramp(1, 3).tolist()
    with pytest.raises(RuntimeError):
        fn.copy(x)
    with pytest.raises(RuntimeError, match="inside"):
        fn.external_source([1])


def test_true_division_is_real_and_floor_division_truncates():
    @pipeline_def(batch_size=1, num_threads=1)
    def body():
        x = fn.external_source(source=lambda: [np.array([7, -7], np.int32)])
        return x / 2, x // 2, 7 / x

    real, whole, inverse = body().run()
    np.testing.assert_array_equal(real.at(0), np.float32([3.5, -3.5]))
    np.testing.assert_array_equal(whole.at(0), np.int32([3, -3]))
    np.testing.assert_array_equal(inverse.at(0), np.float32([1, -1]))


def test_constants_of_64_bits_keep_their_digits():
    big = 2**60 + 1

    @pipeline_def(batch_size=1, num_threads=1)
    def body():
        x = fn.external_source(source=lambda: [np.array([1, 2], np.int64)])
        return x + types.Constant(big, dtype=types.INT64)

    np.testing.assert_array_equal(body().run()[0].at(0), np.array([1, 2], np.int64) + big)


def test_two_readers_read_their_own_files(tmp_path):
    for name in "ab":
        (tmp_path / name / "x").mkdir(parents=True)
        (tmp_path / name / "x" / f"{name}.jpg").write_bytes(name.encode() * 4)

    @pipeline_def(batch_size=1, num_threads=1)
    def two():
        return tuple(fn.readers.file(file_root=str(tmp_path / name))[0] for name in "ab")

    assert [np.asarray(out[0]).tobytes() for out in two().run()] == [b"aaaa", b"bbbb"]


@pytest.mark.parametrize(
    "read",
    [
        lambda d: fn.cast(d, dtype=types.FLOAT),
        lambda d: d + 1,
        lambda d: fn.slice(d, 1, 3, axes=[0]),
        lambda d: fn.reshape(d, shape=[-1, 1]),
        lambda d: d[2:4],
        lambda d: fn.cat(d, d),
        lambda d: fn.stack(d, d),
    ],
    ids=["cast", "add", "slice", "reshape", "index", "cat", "stack"],
)
def test_bytes_of_files_are_values_like_others(tmp_path, read):
    texts = [b"one file", b"another"]
    for k, text in enumerate(texts):
        (tmp_path / f"{k}").write_bytes(text)

    def pipe(source):
        p = Pipeline(batch_size=2, num_threads=2, device_id=None, seed=1)
        with p:
            p.set_outputs(read(source()))
        return [np.asarray(x) for x in p.run()[0]]

    got = pipe(lambda: fn.readers.file(files=[str(tmp_path / "0"), str(tmp_path / "1")])[0])
    fed = pipe(
        lambda: fn.external_source(lambda: [np.frombuffer(t, np.uint8) for t in texts], dtype=types.UINT8, ndim=1)
    )
    for a, b in zip(got, fed):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype and a.size


def test_numbers_may_come_before_the_source():
    """As in scripts for DALI's older pipelines: draws, constants and matrices first, then the reader."""
    images = [np.full((4, 6, 3), k, np.uint8) for k in range(3)]

    @pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=5)
    def pipe():
        coin, angle = fn.random.coin_flip(), fn.random.uniform(range=[0.0, 1.0])
        ones, moved = fn.ones(shape=[2]), fn.transforms.translation(offset=[1, 2])
        order = fn.batch_permutation()
        x = fn.external_source(lambda: images, layout="HWC")
        return (
            coin,
            fn.rotate(fn.flip(x, horizontal=coin), angle=angle),
            ones,
            moved,
            fn.permute_batch(x, indices=order),
        )

    assert [len(batch) for batch in pipe().run()] == [3] * 5


def test_threads_that_build_one_pipeline_are_told():
    """Two threads that ran a pipeline which was not built were told that it has no outputs."""
    told = set()

    def run(pipe):
        try:
            pipe.run()
        except ValueError as error:
            told.add(str(error))

    for _ in range(60):
        pipe = pipeline_def(batch_size=4, num_threads=1)(lambda: fn.random.uniform(range=[0.0, 1.0]))()
        threads = [threading.Thread(target=run, args=(pipe,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(pipe.run()[0]) == 4
    assert all("give each thread its own pipeline" in text for text in told)


def test_a_saved_pipeline_keeps_a_layout_whose_dimensions_only_data_tell(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(24, dtype=np.uint8).reshape(2, 4, 3))

    @pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        return fn.reshape(fn.readers.numpy(file_root=str(tmp_path)), layout="HWC")

    (out,) = Pipeline.deserialize(pipe().serialize()).run()
    assert out.layout() == "HWC" and list(out[0].shape()) == [2, 4, 3]


class OfFolder(Pipeline):
    """A pipeline of the arrays in a folder, by define_graph()."""

    def __init__(self, folder):
        super().__init__(1, 1)
        self.folder = folder

    def define_graph(self):
        return fn.readers.numpy(file_root=self.folder, file_filter="*.npy", name="reader")


@pytest.mark.parametrize("kind", ["function", "class", "outputs"])
def test_a_start_that_fails_may_be_tried_again(tmp_path, kind):
    """It says the same again, until the file is there: not that there are no outputs, or two readers."""
    if kind == "class":
        pipe = OfFolder(str(tmp_path))
    elif kind == "function":
        pipe = pipeline_def(OfFolder.define_graph)(batch_size=1, num_threads=1, self=OfFolder(str(tmp_path)))
    else:
        pipe = Pipeline(1, 1)
        with pipe:
            pipe.set_outputs(fn.readers.numpy(file_root=str(tmp_path), file_filter="*.npy", name="reader"))
    for _ in range(2):
        with pytest.raises(penstock.DataError, match=r'no file matches "\*.npy"'):
            pipe.run()
    np.save(tmp_path / "a.npy", np.float32([1, 2]))
    assert pipe.run()[0].as_array().tolist() == [[1, 2]]
