# SPDX-License-Identifier: Apache-2.0
"""PenstockDataset in the TensorFlow of .venv-frameworks: the bytes of Pipeline.run(), positions, inputs, errors."""

import ctypes
import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from penstock import _core, fn, pipeline_def, types
from penstock.plugin.tf import DALIIterator, Input, PenstockDataset

BATCHES = 20
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)


@pipeline_def(batch_size=4, num_threads=2, seed=7)
def numbers(**reader):
    """30 numbers in random order, and random values of each sample."""
    index = fn.readers.indices(size=30, random_shuffle=True, name="reader", **reader)
    return index, fn.random.uniform(range=[0.0, 1.0], shape=[2, 3])


def arrays(outputs):
    return [output.as_array().copy() for output in outputs]


@pytest.fixture(scope="module")
def expected():
    pipe = numbers()
    return [arrays(pipe.run()) for _ in range(BATCHES)]


def same(elements, batches):
    elements = list(elements)
    assert len(elements) == len(batches)
    for element, batch in zip(elements, batches):
        for tensor, array in zip(tf.nest.flatten(element), batch):
            assert tensor.dtype.as_numpy_dtype == array.dtype
            np.testing.assert_array_equal(tensor.numpy(), array)


def test_it_is_a_data_set_with_the_bytes_of_run(expected):
    dataset = PenstockDataset(numbers())
    assert isinstance(dataset, tf.data.Dataset) and dataset.cardinality() == tf.data.INFINITE_CARDINALITY
    assert dataset.element_spec == (tf.TensorSpec([4], tf.int64), tf.TensorSpec([4, 2, 3], tf.float32))
    assert dataset.batches_per_epoch == 8
    same(dataset.take(BATCHES), expected)
    same(dataset.prefetch(2).take(BATCHES), expected)
    same(dataset.map(lambda a, b: (a, b), num_parallel_calls=3).prefetch(tf.data.AUTOTUNE).take(BATCHES), expected)
    same(PenstockDataset(numbers().serialize()).take(2), expected[:2])


def test_bfloat16_comes_and_goes_as_tensorflow_has_it():
    @pipeline_def(batch_size=4, num_threads=1, seed=1)
    def narrow():
        x = fn.external_source(name="x", dtype=types.BFLOAT16, ndim=1)
        return fn.cast(fn.random.uniform(range=[0.0, 1.0], shape=[5]), dtype=types.BFLOAT16), x * 2.0

    fed = [tf.cast(tf.reshape(tf.range(12), [4, 3]) + k, tf.bfloat16) for k in range(3)]
    dataset = PenstockDataset(
        narrow(), input_datasets={"x": Input(tf.data.Dataset.from_tensor_slices(fed), batch=True)}
    )
    assert dataset.element_spec[0] == tf.TensorSpec([None, 5], tf.bfloat16)
    pipe = narrow()
    for k, (drawn, doubled) in enumerate(dataset.take(3)):
        pipe.feed_input("x", fed[k].numpy())
        np.testing.assert_array_equal(drawn.numpy(), arrays(pipe.run())[0])
        np.testing.assert_array_equal(doubled, tf.cast(fed[k], tf.float32) * 2)


def test_parts_of_a_data_set_make_only_their_batches(expected):
    dataset = PenstockDataset(numbers())
    same(dataset.skip(5).take(3), expected[5:8])
    same(dataset.shard(3, 1).take(5), expected[1:15:3])
    same(dataset.skip(1).shard(2, 1).shard(2, 0).take(4), expected[2:18:4])
    same(dataset.take(3).repeat(3), expected[:3] * 3)
    for first, second in tf.data.Dataset.zip((dataset, dataset)).take(9):
        np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("last_batch, sizes", [(None, [4] * 7 + [2]), ("drop", [4] * 7), ("fill", [4] * 8)])
def test_epochs_and_last_batches(last_batch, sizes):
    dataset = PenstockDataset(numbers(), epochs=2, last_batch=last_batch)
    assert len(dataset) == 2 * len(sizes)
    pipe = numbers()
    pipe.driver(epochs={None: "even", "drop": "drop", "fill": "stream"}[last_batch])
    same(dataset, [arrays(pipe.run()) for _ in range(len(dataset))])
    assert [len(index) for index, _ in dataset] == sizes * 2


def test_a_checkpoint_at_each_batch_of_two_epochs_is_exact(tmp_path):
    whole = [tf.nest.map_structure(lambda t: t.numpy(), e) for e in PenstockDataset(numbers(), epochs=2)]
    iterator = iter(PenstockDataset(numbers(), epochs=2))
    saved = tf.train.Checkpoint(data=iterator)
    for stop in range(len(whole)):
        path = saved.write(str(tmp_path / f"{stop}"))
        other = iter(PenstockDataset(numbers(), epochs=2))
        tf.train.Checkpoint(data=other).read(path).assert_consumed()
        for index in range(stop, min(stop + 2, len(whole))):
            for tensor, array in zip(next(other), whole[index]):
                np.testing.assert_array_equal(tensor, array)
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


STAGES = {
    "prefetch": lambda d, folder: d.prefetch(3),
    "shuffle": lambda d, folder: d.shuffle(5, seed=3, reshuffle_each_iteration=False),
    "rebatch": lambda d, folder: d.rebatch(7),
    "unbatch": lambda d, folder: d.unbatch().batch(3),
    "map": lambda d, folder: d.map(lambda i, v: (i + 1, v), num_parallel_calls=3),
    "filter": lambda d, folder: d.filter(lambda i, v: tf.reduce_sum(i) % 2 == 0),
    "cache": lambda d, folder: d.cache().repeat(2),
    "file": lambda d, folder: d.cache(f"{folder}/cache").repeat(2),
    "snapshot": lambda d, folder: d.snapshot(str(folder)),
    "repeat": lambda d, folder: d.repeat(2),
    "errors": lambda d, folder: d.ignore_errors(),
    "window": lambda d, folder: d.window(3).flat_map(lambda i, v: tf.data.Dataset.zip((i, v))),
}


@pytest.mark.parametrize("stage", list(STAGES))
def test_stages_of_tensorflow_and_their_checkpoints(stage, tmp_path):
    """They give what they give over the arrays of the pipeline, and go on in the middle."""
    pipe = numbers()
    pipe.driver(epochs="even")
    batches = [arrays(pipe.run()) for _ in range(16)]
    spec = PenstockDataset(numbers(), epochs=2).element_spec
    plain = tf.data.Dataset.from_generator(lambda: (tuple(batch) for batch in batches), output_signature=spec)

    def made(dataset, name):
        (tmp_path / name).mkdir(exist_ok=True)
        return STAGES[stage](dataset, tmp_path / name)

    expected = [[t.numpy() for t in element] for element in made(plain, "plain")]
    assert len(expected) > 4
    same(made(PenstockDataset(numbers(), epochs=2), "whole"), expected)
    if stage in ("snapshot", "file", "window"):  # what they write or keep is not in a checkpoint
        return
    iterator = iter(made(PenstockDataset(numbers(), epochs=2), "first"))
    for _ in range(3):
        next(iterator)
    path = tf.train.Checkpoint(data=iterator).write(str(tmp_path / "saved"))
    other = iter(made(PenstockDataset(numbers(), epochs=2), "second"))
    tf.train.Checkpoint(data=other).read(path).assert_consumed()
    same(other, expected[3:])


def test_a_saved_model_takes_its_elements_and_holds_a_data_set(tmp_path):
    dataset = PenstockDataset(numbers(), epochs=1)

    class Sums(tf.Module):
        def __init__(self):
            super().__init__()
            self.dataset = dataset

        @tf.function(input_signature=[dataset.element_spec[0]])
        def of_batch(self, index):
            return tf.reduce_sum(index)

        @tf.function(input_signature=[])
        def of_all(self):
            total = tf.constant(0, dataset.element_spec[0].dtype)
            for index, _ in self.dataset:
                total += tf.reduce_sum(index)
            return total

    tf.saved_model.save(Sums(), str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert sum(int(loaded.of_batch(index)) for index, _ in dataset) == int(loaded.of_all()) == sum(range(30))


def address(tensor):
    return np.frombuffer(memoryview(tensor), np.uint8).ctypes.data


class Allocator(ctypes.Structure):
    """penstock_allocator_functions of penstock.h, which keep account of what is allocated."""

    ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
    FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("user", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("deallocate", FREE),
        ("release", ctypes.c_void_p),
    ]

    def __init__(self):
        self.memory = {}
        super().__init__(ctypes.sizeof(self), None, self.ALLOCATE(self._allocated), self.FREE(self._freed), None)

    def _allocated(self, user, size, alignment):
        memory = ctypes.create_string_buffer(size + alignment)
        at = -(-ctypes.addressof(memory) // alignment) * alignment
        self.memory[at] = memory
        return at

    def _freed(self, user, at, size, alignment):
        del self.memory[at]


def test_no_byte_is_copied():
    """A tensor is the memory in which the pipeline has made it, which is freed when the tensor dies."""

    @pipeline_def(batch_size=3, num_threads=1)
    def added():
        return fn.external_source(name="x", dtype=types.FLOAT, ndim=2) + 1

    (file,) = Path(_core.__file__).parent.glob("libpenstock.so.*")
    library = ctypes.CDLL(str(file))
    functions, handle = Allocator(), ctypes.c_void_p()
    assert library.penstock_allocator_create(ctypes.byref(functions), ctypes.byref(handle)) == 0
    assert library.penstock_set_default_allocator(handle) == 0
    try:
        inputs = {"x": Input(tf.data.Dataset.from_tensors(tf.random.uniform([3, 16, 16])).repeat(), batch=True)}
        kept = list(PenstockDataset(added(), input_datasets=inputs).take(3))
        assert all(address(tensor) in functions.memory for tensor in kept)
        places = [address(tensor) for tensor in kept]
        kept.clear()
        gc.collect()
        assert not any(place in functions.memory for place in places)
    finally:
        library.penstock_set_default_allocator(None)


def test_memory_that_is_held_is_not_used_again():
    pipe = numbers()
    for _, values in list(PenstockDataset(numbers()).take(30)):
        assert address(values) % 64 == 0
        np.testing.assert_array_equal(values.numpy(), pipe.run()[1].as_array())


def test_outputs_keep_their_form_and_take_names():
    @pipeline_def(batch_size=2, num_threads=1)
    def formed():
        index = fn.readers.indices(size=4, name="reader")
        return {"a": index, "b": [index, fn.cast(index, dtype=types.FLOAT)]}

    element = next(iter(PenstockDataset(formed())))
    assert set(element) == {"a", "b"} and isinstance(element["b"], tuple) and element["b"][1].dtype == tf.float32
    named = PenstockDataset(numbers(), output_map=["index", "values"])
    assert set(named.element_spec) == {"index", "values"}

    @pipeline_def(batch_size=2, num_threads=1)
    def one():
        return fn.readers.indices(size=4, name="reader")

    assert isinstance(PenstockDataset(one()).element_spec, tf.TensorSpec)
    assert isinstance(PenstockDataset(one(), output_dtypes=(tf.int64,)).element_spec, tuple)


@pytest.mark.parametrize(
    "dtype",
    [
        t
        for t in types.DALIDataType
        if t.name
        in (
            "UINT8",
            "UINT16",
            "UINT32",
            "UINT64",
            "INT8",
            "INT16",
            "INT32",
            "INT64",
            "FLOAT16",
            "FLOAT",
            "FLOAT64",
            "BOOL",
        )
    ],
)
def test_each_type(dtype):
    @pipeline_def(batch_size=3, num_threads=1)
    def typed():
        return fn.cast(fn.readers.indices(size=6, name="reader"), dtype=dtype)

    pipe = typed()
    same(PenstockDataset(typed()).take(2), [arrays(pipe.run()) for _ in range(2)])


@pipeline_def(batch_size=3, num_threads=2, seed=5)
def unlike():
    """Samples of 0 to 3 rows and 0 to 4 columns of 2 values."""
    rows, columns = (fn.random.uniform(values=list(range(n)), dtype=types.INT32) for n in (4, 5))
    canvas = fn.random.uniform(range=[0.0, 1.0], shape=[4, 5, 2])
    return fn.slice(canvas, fn.stack(rows * 0, columns * 0), fn.stack(rows, columns), axes=[0, 1])


def test_samples_of_unlike_shapes_are_ragged_tensors():
    pipe, empty = unlike(), 0
    for batch in PenstockDataset(unlike(), ragged=True).take(30):
        assert isinstance(batch, tf.RaggedTensor)
        for row, sample in zip(batch, pipe.run()[0]):
            sample = sample.numpy()
            assert [int(r.nrows() if isinstance(r, tf.RaggedTensor) else len(r)) for r in row] == [
                sample.shape[1]
            ] * sample.shape[0]
            np.testing.assert_array_equal(row.flat_values.numpy().ravel(), sample.ravel())
            empty += sample.size == 0
    assert empty
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"output 0: the samples of this batch differ in shape.*ragged=True"
    ):
        list(PenstockDataset(unlike()).take(30))


def test_views_are_copied():
    @pipeline_def(batch_size=3, num_threads=1, seed=1)
    def views():
        return fn.random.uniform(range=[0.0, 1.0], shape=[6, 7])[1:5, 2:6]

    pipe = views()
    same(PenstockDataset(views()).take(3), [arrays(pipe.run()) for _ in range(3)])


# --- inputs -----------------------------------------------------------------------------------------------------------


@pipeline_def(batch_size=3, num_threads=2, seed=7)
def fed():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=2)
    return x * 2, fn.random.uniform(range=[0.0, 1.0], shape=[2])


def of_arrays(data):
    return tf.data.Dataset.from_generator(lambda: iter(data), output_signature=tf.TensorSpec([None, 3], tf.float32))


def test_an_input_has_what_run_gives_for_it():
    data = [np.random.default_rng(i).random((i % 4, 3), np.float32) for i in range(10)]
    dataset = PenstockDataset(fed(), input_datasets={"x": of_arrays(data)}, ragged=True)
    pipe, elements = fed(), list(dataset)
    assert [len(e[1]) for e in elements] == [3, 3, 3, 1]
    for k, (doubled, drawn) in enumerate(elements):
        outputs = pipe.run(x=data[3 * k : 3 * k + 3])
        np.testing.assert_array_equal(drawn.numpy(), outputs[1].as_array())
        flat = np.concatenate([sample.numpy().ravel() for sample in outputs[0]])
        np.testing.assert_array_equal(doubled.flat_values.numpy().ravel(), flat)


def test_inputs_of_batches_and_their_checkpoint(tmp_path):
    data = np.random.default_rng(0).random((6, 4, 2, 3), np.float32)
    batches = tf.data.Dataset.from_tensor_slices(data).repeat()
    make = lambda: PenstockDataset(fed(), input_datasets={"x": Input(batches, batch=True)})  # noqa: E731
    assert make().cardinality() == tf.data.INFINITE_CARDINALITY
    whole = [[t.numpy() for t in e] for e in make().take(9)]
    np.testing.assert_array_equal(whole[7][0], data[1] * 2)
    iterator = iter(make())
    for _ in range(4):
        next(iterator)
    path = tf.train.Checkpoint(it=iterator).write(str(tmp_path / "it"))
    other = iter(make())
    tf.train.Checkpoint(it=other).read(path)
    for k in range(4, 9):
        for tensor, array in zip(next(other), whole[k]):
            np.testing.assert_array_equal(tensor, array)


@pipeline_def(batch_size=2, num_threads=1)
def decoded():
    return fn.decoders.image(fn.external_source(name="file", dtype=types.UINT8, ndim=1))


def pictures(count, size=40):
    @pipeline_def(batch_size=count, num_threads=1, seed=2)
    def files():
        noise = fn.random.uniform(range=[0.0, 255.0], shape=[size, size // 2, 3])
        return fn.encoders.png(fn.reinterpret(fn.cast(noise, dtype=types.UINT8), layout="HWC"))

    return [sample.numpy().tobytes() for sample in files().run()[0]]


def test_strings_are_files_and_records(tmp_path):
    files = pictures(5) + pictures(1, 6)
    with tf.io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for file in files:
            writer.write(file)
    pixels = [tf.io.decode_png(file).numpy() for file in files]
    dataset = PenstockDataset(
        decoded(), input_datasets={"file": tf.data.TFRecordDataset(str(tmp_path / "r"))}, ragged=True
    )
    got = [row.to_tensor().numpy() for batch in dataset for row in batch]
    assert len(got) == 6
    for a, b in zip(got, pixels):
        np.testing.assert_array_equal(a, b)
    short = tf.data.Dataset.from_tensor_slices([b"", b"abc"])  # in the element itself
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample 0|empty|image"):
        list(PenstockDataset(decoded(), input_datasets={"file": short}, ragged=True))


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_have_our_text_and_the_next_batch_comes(tmp_path):
    for k, file in enumerate(pictures(6, 8)):
        (tmp_path / f"{k}.png").write_bytes(file if k != 2 else file[:20])

    @pipeline_def(batch_size=2, num_threads=1)
    def folder():
        file, _ = fn.readers.file(files=[str(tmp_path / f"{k}.png") for k in range(6)], name="reader")
        return fn.decoders.image(file)

    iterator = iter(PenstockDataset(folder(), epochs=1))
    first = next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2\.png"):
        next(iterator)
    last = next(iterator)
    assert (
        first.shape == last.shape
        and (last[0].numpy() == tf.io.decode_png((tmp_path / "4.png").read_bytes()).numpy()).all()
    )
    assert len(list(PenstockDataset(folder(), epochs=1).ignore_errors())) == 2
    (tmp_path / "0.png").unlink()
    with pytest.raises((tf.errors.NotFoundError, FileNotFoundError), match=r"0\.png"):
        list(PenstockDataset(folder(), epochs=1))


def test_wrong_calls_say_what_to_write():
    def message(kind, *arguments, **named):
        with pytest.raises(kind) as error:
            PenstockDataset(*arguments, **named)
        return str(error.value)

    assert "PenstockDataset(numbers(...))" in message(TypeError, numbers)
    assert "output_map names 1 outputs, the pipeline has 2" in message(ValueError, numbers(), output_map=["a"])
    assert "epochs must be" in message(ValueError, numbers(), epochs=0)
    assert f"epochs={2**62} of " in message(ValueError, numbers(), epochs=2**62)
    assert "'fill', 'drop' or 'partial'" in message(ValueError, numbers(), last_batch="pad")
    assert "output 0 is int64, and output_dtypes says int32" in message(TypeError, numbers(), (tf.int32, tf.float32))
    assert "output 1 has the shape (4, 2, 3)" in message(ValueError, numbers(), output_shapes=[(4,), (4, 3, 2)])
    assert "not an input of the pipeline; its inputs are 'x'" in message(
        ValueError, fed(), input_datasets={"y": of_arrays([])}
    )
    assert "no data set for them" in message(ValueError, fed())
    assert "must be a tf.data.Dataset or an Input" in message(TypeError, fed(), input_datasets={"x": [1]})
    assert "the outputs are 0, 1" in message(ValueError, numbers(), ragged=["image"])

    @pipeline_def(batch_size=2, num_threads=1)
    def own():
        return fn.python_function(fn.readers.indices(size=4, name="reader"), function=lambda x: x)

    assert "calls a function of this program" in message(ValueError, own())

    @pipeline_def(batch_size=2, num_threads=1)
    def both():
        return fn.external_source(name="x", dtype=types.FLOAT, ndim=2), fn.readers.indices(size=4, name="reader")

    assert "has a reader beside the inputs ['x']" in message(ValueError, both(), input_datasets={"x": of_arrays([])})

    @pipeline_def(batch_size=2, num_threads=1)
    def untyped():
        return fn.external_source(name="x")

    assert "type of output 0 is not known" in message(TypeError, untyped(), input_datasets={"x": of_arrays([])})


# --- what surrounds it ------------------------------------------------------------------------------------------------


def test_keras_fits(tmp_path):
    dataset = PenstockDataset(numbers()).map(lambda index, values: (values, tf.cast(index, tf.float32)))
    model = tf.keras.Sequential([tf.keras.layers.Input((2, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
    history = model.fit(dataset, epochs=2, steps_per_epoch=8, verbose=0)
    assert len(history.history["loss"]) == 2
    exact = PenstockDataset(numbers(), epochs=1).map(lambda i, v: (v, tf.cast(i, tf.float32)))
    model.evaluate(exact, verbose=0)
    assert model.predict(exact, verbose=0).shape == (30, 1)
    history = model.fit(exact, validation_data=exact, verbose=0)
    assert len(history.history["val_loss"]) == 1


def test_distribution_over_two_devices(expected):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    halves = iter(strategy.experimental_distribute_dataset(PenstockDataset(numbers())))
    for batch in expected[:3]:
        parts = strategy.experimental_local_results(next(halves)[0])
        assert [len(part) for part in parts] == [2, 2]
        np.testing.assert_array_equal(np.concatenate(parts), batch[0])
    own = iter(
        strategy.distribute_datasets_from_function(
            lambda context: PenstockDataset(numbers()).shard(context.num_input_pipelines, context.input_pipeline_id)
        )
    )
    parts = strategy.experimental_local_results(next(own)[0])
    np.testing.assert_array_equal(np.stack(parts), [expected[0][0], expected[1][0]])


WORKER = """
import sys
import tensorflow as tf
from penstock.plugin.tf import load
load()
service = tf.data.experimental.service
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=sys.argv[1], heartbeat_interval_ms=100))
print("ready", flush=True)
worker.join()
"""


def test_the_service_of_tf_data(expected):
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer(service.DispatcherConfig(work_dir=None))
    address = dispatcher.target.partition("://")[2]
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert worker.stdout.readline() == b"ready\n"
        for policy in (service.ShardingPolicy.OFF, service.ShardingPolicy.DYNAMIC):
            dataset = PenstockDataset(numbers(), epochs=2, last_batch="fill")
            got = list(dataset.apply(service.distribute(policy, dispatcher.target)))
            same(
                sorted(got, key=lambda e: [e[0].numpy().tolist() == b[0].tolist() for b in expected].index(True)),
                expected[:16],
            )
    finally:
        worker.kill()
        worker.wait()


def test_the_iterator_of_dali(expected):
    pipe = numbers()
    for batch in expected[:3]:
        same([DALIIterator()(pipeline=pipe, dtypes=[tf.int64, tf.float32])], [batch])
    with tf.Graph().as_default():
        outputs = DALIIterator()(
            pipeline=numbers(), shapes=[(4,), (4, 2, 3)], dtypes=[tf.int64, tf.float32], batch_size=4
        )
        assert outputs[1].shape == [4, 2, 3]
        with tf.compat.v1.Session() as session:
            for batch in expected[:3]:
                for got, array in zip(session.run(outputs), batch):
                    np.testing.assert_array_equal(got, array)
    import penstock.dali

    penstock.dali.install()
    try:
        import nvidia.dali.plugin.tf as dali_tf
        from nvidia.dali.plugin.tf.experimental import DALIDatasetWithInputs

        assert dali_tf.DALIDataset is PenstockDataset is DALIDatasetWithInputs
        assert dali_tf.experimental.Input is Input
    finally:
        penstock.dali.uninstall()
