# SPDX-License-Identifier: Apache-2.0
"""A compiled function gives the pipeline's bytes, in the caller's memory, from several threads, sample by sample."""

import io
import threading

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import Function, fn, pipeline_def, types


def jpeg(height, width, seed=0):
    small = np.random.default_rng(seed).integers(0, 256, (height // 9 + 2, width // 9 + 2, 3), np.uint8)
    data = io.BytesIO()
    Image.fromarray(small).resize((width, height), Image.BICUBIC).save(data, "JPEG", quality=85)
    return np.frombuffer(data.getvalue(), np.uint8)


@pipeline_def(batch_size=4, num_threads=1)
def tensors(size=24):
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))
    images = fn.resize(images, size=(size, size))
    return fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=[120.0], std=[60.0])


FILES = [jpeg(60 + 9 * i, 80 - 5 * i, i) for i in range(6)]


@pytest.fixture(scope="module")
def function():
    return tensors().compile()


@pytest.fixture(scope="module")
def expected():
    return tensors(batch_size=6).run(jpegs=FILES)[0].as_array()


def random_graph(rng, images):
    """A chain or a tree of operators over images, with constants, values for each sample, and random numbers."""
    drawn = lambda lo, hi: fn.random.uniform(range=(lo, hi))
    steps = [
        lambda x: fn.flip(x, horizontal=fn.random.coin_flip()),
        lambda x: fn.resize(x, size=tuple(rng.integers(1, 40, 2)), antialias=bool(rng.integers(2))),
        lambda x: fn.resize(x, size=(19, 23), mode="not_larger"),
        lambda x: fn.crop(x, crop=(11, 13), crop_pos_x=drawn(0, 1), out_of_bounds_policy="pad", fill_values=7),
        lambda x: fn.brightness_contrast(x, brightness=drawn(0.5, 1.5), contrast=0.8),
        lambda x: fn.color_twist(x, saturation=drawn(0, 2), hue=30.0),
        lambda x: fn.rotate(x, angle=drawn(-40, 40), keep_size=True),
        lambda x: fn.gaussian_blur(x, window_size=3),
        lambda x: fn.random_resized_crop(x, size=(17, 15)),
        lambda x: fn.cast(fn.cast(x, dtype=types.FLOAT) * 0.5 + 1, dtype=types.UINT8),
        lambda x: x // 2 + fn.flip(x, vertical=1) // 2,
        lambda x: fn.median_blur(x, window_size=3),
        lambda x: fn.pad(x, axes=(0, 1)),
    ]
    outputs = []
    for _ in range(rng.integers(1, 6)):
        images = steps[rng.integers(len(steps))](images)
        if rng.random() < 0.3:
            outputs.append(images)
    if rng.random() < 0.3:
        outputs.append(fn.reductions.mean(images, axes=(0, 1)))
    if rng.random() < 0.3:
        outputs.append(fn.shapes(images))
    return (*outputs, images)


def pictures(rng, count):
    """Images of sizes of their own, some of them not contiguous."""
    all = []
    for _ in range(count):
        height, width = rng.integers(1, 45, 2)
        wide = rng.integers(0, 256, (height * 2, width + 3, 3), np.uint8)
        all.append(wide[::2, 3:] if rng.random() < 0.5 else wide[:height, :width].copy())
    return all


def same(got, wanted):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            x, y = np.asarray(x.numpy()), np.asarray(y.numpy())
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            assert x.tobytes() == y.tobytes()


def memory_like(rng, batch):
    """Room for a result: dense or strided, in one array or sample by sample."""
    shapes = {tuple(t.shape()) for t in batch}
    dtype = np.asarray(batch[0].numpy()).dtype
    if len(shapes) == 1 and rng.random() < 0.5:
        return np.zeros((len(batch), *shapes.pop()), dtype)
    room = []
    for t in batch:
        shape = tuple(t.shape())
        wide = np.zeros([n + int(k) for n, k in zip(shape, rng.integers(0, 3, len(shape)))], dtype)
        room.append(wide[tuple(np.s_[:n] for n in shape)])
    return room


@pytest.mark.parametrize("seed", range(40))
def test_a_random_graph_gives_the_pipelines_bytes(seed):
    rng = np.random.default_rng(seed)

    @pipeline_def(batch_size=3, num_threads=2, seed=seed)
    def made():
        return random_graph(rng, fn.external_source(name="images", layout="HWC"))

    pipe = made()
    batches = [pictures(rng, 3) for _ in range(2)]
    function = pipe.compile()
    for k, batch in enumerate(batches):
        wanted = pipe.run(images=batch)
        same(function(images=batch, first_sample=3 * k), wanted)
        room = [memory_like(rng, b) if rng.random() < 0.7 else None for b in wanted]
        same(function(batch, into=room, first_sample=3 * k), wanted)
        for place, b in zip(room, wanted):
            for x, y in zip(place if place is not None else [], b):
                assert x.tobytes() == np.asarray(y.numpy()).tobytes()
    same([b.cpu() for b in Function.load(pipe.to_json())(batches[0])], function(batches[0]))


def test_memory_of_the_caller(function, expected):
    out = np.zeros((6, 3, 24, 24), np.float32)
    result = function(FILES, into=out)[0]
    assert (out == expected).all() and result.layout() == "CHW" and np.shares_memory(result.as_array(), out)
    atlas = np.full((2, 3, 60, 100), np.nan, np.float32)
    place = [atlas[i % 2, :, 3 + 28 * (i // 4) : 27 + 28 * (i // 4), 30 * (i // 2 % 2) :][:, :, :24] for i in range(6)]
    function(FILES, into=[place])
    assert all((a == b).all() for a, b in zip(place, expected))
    assert np.isnan(atlas).sum() == atlas.size - expected.size
    turned = np.zeros((6, 24, 24, 3), np.float32)
    function(FILES, into=turned.transpose(0, 3, 1, 2))
    assert (turned == expected.transpose(0, 2, 3, 1)).all()


def decoded(images):
    return fn.decoders.image(images)


def letterboxed(images):
    images = fn.resize(fn.decoders.image(images), size=(40, 50), mode="not_larger")
    return fn.crop(images, crop=(40, 50), out_of_bounds_policy="constant", fill_values=[9.0, 99.0, 199.0])


def planes(images):
    return fn.crop_mirror_normalize(
        fn.decoders.image(images),
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(70, 90),
        out_of_bounds_policy="pad",
        fill_values=[1.0, 2.0, 3.0],
    )


@pytest.mark.parametrize("graph", [decoded, letterboxed, planes])
@pytest.mark.parametrize("seed", range(4))
def test_a_stage_writes_rows_of_a_canvas(graph, seed):
    """Rows with gaps, pixels with gaps (an RGBA canvas), and both; what lies between them is not touched."""
    rng = np.random.default_rng(seed)

    @pipeline_def(batch_size=1, num_threads=1)
    def made():
        return graph(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))

    function = made().compile()
    for file in FILES[:3]:
        expected = function([file])[0].as_array()[0]
        before, after = rng.integers(0, 4, (2, 3))
        canvas = np.full(before + expected.shape + after, 77, expected.dtype)
        place = canvas[tuple(np.s_[b : b + n] for b, n in zip(before, expected.shape))]
        function([file], into=[[place]])
        assert (place == expected).all()
        place[...] = 77
        assert (canvas == 77).all()


def test_a_call_takes_any_number_of_samples(function, expected):
    for count in (1, 2, 5, 6):
        assert (function(FILES[:count])[0].as_array() == expected[:count]).all()


def test_a_stream_of_the_caller_needs_no_gpu(function, expected):
    """What calls all functions alike, such as a framework, has a stream also where nothing of the function is on a GPU."""
    assert (function(FILES, stream=7)[0].as_array() == expected).all()


def test_a_damaged_file_fails_alone(function, expected):
    files = list(FILES)
    files[1], files[4] = files[1][:200].copy(), np.uint8([1, 2, 3])
    out = np.full((6, 3, 24, 24), -1, np.float32)
    results, errors = function.attempt(files, into=out)
    assert [i for i, e in enumerate(errors) if e] == [1, 4]
    assert all(isinstance(errors[i], penstock.DataError) and f"(sample {i})" in str(errors[i]) for i in (1, 4))
    assert (out[[0, 2, 3, 5]] == expected[[0, 2, 3, 5]]).all() and (out[[1, 4]] == -1).all()
    results, _ = function.attempt(files)
    assert list(results[0][1].shape()) == [0, 0, 0] and (np.asarray(results[0][5].numpy()) == expected[5]).all()
    with pytest.raises(penstock.DataError, match=r"\[decoders.image\].*sample 1"):
        function(files)
    results, errors = function.attempt([np.uint8([1])])
    assert len(results[0]) == 1 and errors[0]


def test_steps_after_a_damaged_file_see_the_others_alone():
    @pipeline_def(batch_size=3, num_threads=1)
    def padded():
        files = fn.external_source(name="files", dtype=types.UINT8)
        numbers = fn.external_source(name="numbers", dtype=types.INT32)
        images = fn.pad(fn.decoders.image(files))
        return fn.crop(images, crop=(20, 20), out_of_bounds_policy="pad") * numbers, numbers

    function = padded().compile()
    assert [v.name for v in function.inputs] == ["files", "numbers"]
    numbers = np.int32([1, 2, 3])
    results, errors = function.attempt([FILES[0], FILES[1][:99].copy(), FILES[2]], numbers)
    assert [bool(e) for e in errors] == [False, True, False]
    wanted = function([FILES[0], FILES[2]], numbers[[0, 2]])
    for k in range(2):
        for i, j in ((0, 0), (2, 1)):
            assert np.asarray(results[k][i].numpy()).tobytes() == np.asarray(wanted[k][j].numpy()).tobytes()


def test_threads_share_a_function(function, expected):
    wrong = []

    def calls(first):
        out = np.zeros((2, 3, 24, 24), np.float32)
        for k in range(20):
            i = (first + k) % 5
            function(FILES[i : i + 2], into=out)
            if not (out == expected[i : i + 2]).all():
                wrong.append((first, k))

    threads = [threading.Thread(target=calls, args=[i]) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_threads_of_a_function_share_a_picture(tmp_path):
    rng = np.random.default_rng(8)
    pixels = np.clip(rng.normal(128, 50, (400, 520, 3)), 0, 255).astype(np.uint8)
    files = []
    for options in ({}, {"subsampling": 0}, {"subsampling": 1}, {"restart_marker_rows": 2}, {"progressive": True}):
        data = io.BytesIO()
        Image.fromarray(pixels).save(data, "JPEG", quality=88, **options)
        files.append(np.frombuffer(data.getvalue(), np.uint8))
    data = io.BytesIO()
    Image.fromarray(pixels[..., 0]).save(data, "JPEG")
    files.append(np.frombuffer(data.getvalue(), np.uint8))
    one = tensors(224).compile()
    tensors(224).save(tmp_path / "saved.json")
    for function in (tensors(224).compile(num_threads=2), Function.load(tmp_path / "saved.json", num_threads=4)):
        for file in files:
            (want,), (got,) = one([file]), function([file])
            assert np.array_equal(got[0].numpy(), want[0].numpy())
            half = file[: len(file) // 2]
            want, got = one.attempt([half])[1], function.attempt([half])[1]
            assert type(got[0]) is type(want[0]) and str(got[0]) == str(want[0])


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", None, float("inf"), float("nan"), True, np.True_])
def test_numbers_of_threads_that_are_none(threads):
    with pytest.raises(ValueError, match="num_threads must be a whole number of at least 1"):
        tensors().compile(num_threads=threads)


@pytest.mark.parametrize(
    "threads, most", [(4097, "between 1 and 4096"), (1 << 31, "less than 2.31"), (1 << 64, "less than 2.31")]
)
def test_more_threads_than_there_may_be(threads, most):
    with pytest.raises(ValueError, match=f"num_threads must be {most}"):
        tensors().compile(num_threads=threads)


def test_a_function_outlives_its_pipeline(expected):
    pipe = tensors()
    function = pipe.compile()
    pipe.close()
    assert (function(FILES)[0].as_array() == expected).all()


def test_functions_without_inputs_and_with_the_same_value_twice():
    @pipeline_def(batch_size=2, num_threads=1, seed=3)
    def numbers():
        x = fn.random.uniform(range=(0, 1), shape=[3])
        return x, x, x + 1

    pipe = numbers()
    function = pipe.compile()
    first = pipe.run()
    same(function(batch_size=2), first)
    same(function(batch_size=2, first_sample=2), pipe.run())
    out = [np.zeros((2, 3), np.float32) for _ in range(3)]
    function(batch_size=2, into=out)
    assert all((a == b.as_array()).all() for a, b in zip(out, first))
    assert len(function()[0]) == 1


def test_inputs_that_are_outputs_are_copied():
    @pipeline_def(batch_size=1, num_threads=1)
    def copy():
        return fn.external_source(name="x")

    x = np.float32([[1, 2], [3, 4]])
    out = copy().compile()(x)[0]
    x[:] = 0
    assert out.as_array().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "error, message, call",
    [
        (ValueError, r"takes 1 inputs \('jpegs'\), got 0", lambda f: f()),
        (ValueError, "there is no input 'jpeg': the function has 'jpegs'", lambda f: f(jpeg=FILES)),
        (ValueError, "the input 'jpegs' is given twice", lambda f: f(FILES, jpegs=FILES)),
        (ValueError, "empty batch", lambda f: f([])),
        (TypeError, "item of type str: samples are arrays", lambda f: f(["a.jpg"])),
        (TypeError, "gave bytes for a batch", lambda f: f(b"abc")),
        (TypeError, "'jpegs' is float32, but dtype=uint8 was declared", lambda f: f([np.float32([1])])),
        (TypeError, "samples of 0 dimensions, but 1 were declared", lambda f: f(FILES[0])),
        (ValueError, "output 0 has 2 samples, but the call has 6", lambda f: f(FILES, into=np.zeros((2, 3, 24, 24)))),
        (TypeError, "type float64, but the output is float32", lambda f: f(FILES, into=np.zeros((6, 3, 24, 24)))),
        (
            ValueError,
            r"has the shape \(3, 9, 24\), but the output has \(3, 24, 24\)",
            lambda f: f(FILES, into=np.zeros((6, 3, 9, 24), np.float32)),
        ),
        (ValueError, "into needs one entry for each of the 1 outputs, got 6", lambda f: f(FILES, into=[None] * 6)),
        (ValueError, "read-only", lambda f: f(FILES, into=np.broadcast_to(np.float32(0), (6, 3, 24, 24)))),
        (
            ValueError,
            "overlaps an input or another output",
            lambda f: f(FILES[:2], into=[[np.zeros((3, 24, 24), np.float32)] * 2]),
        ),
    ],
)
def test_wrong_calls(function, error, message, call):
    with pytest.raises(error, match=message):
        call(function)


def test_graphs_that_are_no_functions(tmp_path):
    (tmp_path / "a.jpg").write_bytes(FILES[0].tobytes())

    @pipeline_def(batch_size=1, num_threads=1)
    def reads():
        return fn.readers.file(files=[str(tmp_path / "a.jpg")])[0]

    @pipeline_def(batch_size=1, num_threads=1)
    def calls():
        return fn.python_function(fn.external_source(name="x"), function=lambda x: x)

    @pipeline_def(batch_size=1, num_threads=1)
    def filters():
        x = fn.external_source(name="x")
        return fn.filter(x > 0, x)

    for make, message in [
        (reads, "readers.file.*external_source"),
        (calls, "calls a function of the program"),
        (filters, "changes the number of samples"),
    ]:
        with pytest.raises(ValueError, match=rf"(?s){message}.*at .*test_function.py"):
            make().compile()
    with pytest.raises(ValueError, match="debug=True"):
        tensors(debug=True).compile()
    with pytest.raises(ValueError, match="not a saved pipeline"):
        Function.load("{}")
    with pytest.raises(FileNotFoundError):
        Function.load(tmp_path / "absent.json")
