# SPDX-License-Identifier: Apache-2.0
"""penstock.dali.experimental.dynamic: a program gives the same lines with DALI; what only Penstock says."""

import subprocess
import sys
from pathlib import Path

import cv2
import dali_oracle
import numpy as np
import pytest

import penstock
import penstock.dali.experimental.dynamic as ndd
from penstock import fn

PROGRAM = Path(__file__).with_name("dynamic_program.py")
IMAGES = [np.random.default_rng(i).integers(0, 256, (5 + i, 8, 3), np.uint8) for i in range(3)]


def lines(python, *arguments):
    done = subprocess.run([python, "-W", "ignore", PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_program_gives_what_dali_gives(tmp_path):
    for k in range(7):
        (tmp_path / f"{k}.bin").write_bytes(bytes([k]) * (k + 1))
    ours, theirs = (
        lines(python, str(tmp_path), *more)
        for python, more in ((sys.executable, ["penstock"]), (dali_oracle.interpreter(), []))
    )
    assert len(ours) > 30
    for got, expected in zip(ours, theirs, strict=True):
        assert got == expected


@pytest.fixture
def images():
    return ndd.batch(IMAGES, layout="HWC")


def test_select_and_slices(images):
    some = images.select([2, 0])
    assert [np.array_equal(t, i) for t, i in zip(some, (IMAGES[2], IMAGES[0]))] == [True, True]
    assert images.select(slice(0, 2)).shape == [(5, 8, 3), (6, 8, 3)]
    rows = images.slice[ndd.batch([np.int32(0), np.int32(1), np.int32(2)])]
    assert all((np.asarray(r) == i[k]).all() for k, (r, i) in enumerate(zip(rows, IMAGES))) and rows.layout == "WC"
    one = ndd.as_tensor(IMAGES[0], layout="HWC")
    assert one[..., 0].layout == "HW" and one[None].layout is None and one[ndd.tensor(1)].shape == (8, 3)
    with pytest.raises(IndexError):
        images.select(7)


def test_operators_are_those_of_fn(images):
    blurred = ndd.gaussian_blur(images, sigma=1.5)
    assert all(
        (np.asarray(b) == fn.gaussian_blur(penstock.tensor(i, layout="HWC"), sigma=1.5).numpy()).all()
        for b, i in zip(blurred, IMAGES)
    )
    kernel = np.ones((3, 3), np.float32) / 9
    assert (
        np.asarray(ndd.filter(images, kernel).select(0)) == fn.correlate(images.select(0).held, kernel).numpy()
    ).all()
    assert ndd.experimental.median_blur(images).shape == images.shape
    assert ndd.resize(IMAGES, size=[4, 4]).shape == [(4, 4, 3)] * 3  # a list is a Batch
    mixed = images + np.uint8(1)
    assert np.asarray(mixed.select(0)).shape == (5, 8, 3)
    assert ndd.cast(images, dtype="float32").dtype is ndd.float32
    names = dir(ndd)
    assert {"flip", "readers", "random", "tensor_resize", "imread"} <= set(names) and "external_source" not in names
    assert dir(ndd.readers) == sorted(
        [
            "COCO",
            "Caffe",
            "Caffe2",
            "File",
            "MXNet",
            "NemoAsr",
            "Numpy",
            "TFRecord",
            "Video",
            "VideoResize",
            "Webdataset",
        ]
    )


def test_draws(images):
    rng = ndd.random.RNG(seed=5)
    state, first = rng.get_state(), ndd.random_resized_crop(images, size=[3, 3], rng=rng)
    again = ndd.random_resized_crop(images, size=[3, 3], rng=ndd.random.RNG(state=state))
    other = ndd.random_resized_crop(images, size=[3, 3], rng=rng)
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other))
    ndd.random.set_seed(3)
    a = ndd.random.normal(batch_size=100)
    ndd.random.set_seed(3)
    assert all(float(x) == float(y) for x, y in zip(a, ndd.random.normal(batch_size=100)))
    assert len({float(x) for x in a}) == 100
    assert rng.clone()() == rng()


def test_readers_and_pictures(images, tmp_path):
    files = [tmp_path / f"{k}.jpg" for k in range(3)]
    for file, image in zip(files, IMAGES):
        cv2.imwrite(str(file), image)
    reader = ndd.readers.File(files=[str(f) for f in files], labels=[4, 5, 6], max_batch_size=2)
    (encoded, labels), *_ = reader.next_epoch()
    decoded = ndd.decoders.image(encoded)
    read = ndd.imread(files[:2])
    assert [int(v) for v in labels] == [4, 5] and decoded.shape == read.shape and decoded.layout == "HWC"
    assert all(np.array_equal(a, b) for a, b in zip(decoded, read))
    single = ndd.imread(str(files[0]))
    assert isinstance(single, ndd.Tensor) and np.array_equal(single, read.select(0))
    with pytest.raises(FileNotFoundError):
        ndd.imread("/nowhere.jpg")
    with pytest.raises(penstock.DataError, match="test_dali_dynamic.py: .*not an image"):
        ndd.imread(__file__)
    with pytest.raises(TypeError, match="no_such"):
        ndd.readers.File(files=[str(files[0])], no_such=1)


def test_readers_resume(tmp_path):
    for k in range(9):
        np.save(tmp_path / f"{k}.npy", np.int32([k]))

    def reader(**given):
        return ndd.readers.Numpy(file_root=str(tmp_path), random_shuffle=True, **given)

    for batch_size in (None, 2):
        first = reader(enable_checkpointing=True, seed=3)
        taken = first.next_epoch(batch_size=batch_size)
        for _ in range(3):
            next(taken)
        second = reader(enable_checkpointing=True)
        second.set_state(first.get_state())
        rest = [np.concatenate([np.asarray(t).ravel() for t in x]) for (x,) in taken]
        resumed = [
            np.concatenate([np.asarray(t).ravel() for t in x]) for (x,) in second.next_epoch(batch_size=batch_size)
        ]
        assert len(rest) == len(resumed) > 0 and all((a == b).all() for a, b in zip(rest, resumed))


def test_modes_devices_and_types():
    with ndd.EvalMode.deferred as mode, ndd.EvalContext(num_threads=3), ndd.Device("cpu"):
        assert ndd.EvalMode.current() is mode and ndd.get_num_threads() == 3
    assert ndd.device("gpu:1").device_id == 1 and ndd.Device("gpu", 2) == ndd.device("gpu:2") != ndd.Device.CPU
    assert ndd.dtype("u8") is ndd.dtype(np.uint8) is ndd.dtype(penstock.types.UINT8) is ndd.uint8
    assert ndd.float32([1, 2]).dtype is ndd.float32 and ndd.uint8.bytes == 1 and ndd.DType.parse("int16") is ndd.int16
    held = ndd.ExternalSource(lambda: ([np.zeros(2), np.ones(3)], np.float32(3)), num_outputs=2)()
    assert isinstance(held[0], ndd.Batch) and float(held[1]) == 3.0


def test_types_have_dalis_short_texts():
    assert [str(t) for t in (ndd.int32, ndd.uint8, ndd.float16, ndd.bool)] == ["i32", "u8", "f16", "bool"]
    assert ndd.dtype(str(ndd.float64)) is ndd.float64


def test_classes_take_data_as_their_functions_do():
    tensor = ndd.Tensor([[1, 2]], dtype=ndd.int16, layout="HW")
    assert (tensor.dtype, tensor.layout, np.asarray(tensor).tolist()) == (ndd.int16, "HW", [[1, 2]])
    batch = ndd.Batch([np.int32([1]), np.int32([2, 3])], dtype=ndd.float32, layout="X")
    assert (batch.dtype, batch.layout, batch.shape) == (ndd.float32, "X", [(1,), (2,)])
    assert ndd.Batch(np.int32([[1], [2]])).shape == [(1,), (1,)]


def test_a_batch_has_the_type_of_its_first_sample():
    for make in (ndd.batch, ndd.as_batch, ndd.Batch):
        made = make([np.int32([1]), np.float32([2.7])])
        assert made.dtype is ndd.int32 and [np.asarray(t).tolist() for t in made] == [[1], [3]]


@pytest.mark.parametrize(
    ("kind", "message", "call"),
    [
        (RuntimeError, "one layout", lambda: ndd.batch([ndd.tensor([1], layout="A"), ndd.tensor([1], layout="B")])),
        (RuntimeError, "cannot be broadcast", lambda: ndd.tensor([1, 2]) + ndd.tensor([1, 2, 3])),
        (RuntimeError, "do not fit", lambda: ndd.reshape(ndd.tensor([1, 2]), shape=[3])),
        (RuntimeError, "no_such", lambda: list(ndd.readers.File(file_root="no_such").next_epoch())),
        (AttributeError, "no 'capture'; a pipeline's function", lambda: ndd.capture),
        (AttributeError, "no 'optical_flow'; it needs NVIDIA's engine", lambda: ndd.optical_flow),
        (AttributeError, "no 'external_source'; penstock.fn.external_source works inside", lambda: ndd.external_source),
        (AttributeError, "no 'no_such'$", lambda: ndd.no_such),
        (TypeError, r"rotate\(\) has no argument 'angel'", lambda: ndd.rotate(IMAGES[0], angel=3)),
        (TypeError, "rng= gives the seed", lambda: ndd.random.uniform(seed=3)),
        (ValueError, "as many samples", lambda: ndd.batch(IMAGES) + ndd.batch(IMAGES[:2])),
        (ValueError, "batch_size is 2, but a Batch has 3", lambda: ndd.flip(ndd.batch(IMAGES), batch_size=2)),
        (ValueError, "pad=True", lambda: ndd.batch(IMAGES).torch()),
        (ValueError, 'a device is "cpu"', lambda: ndd.device("tpu")),
        (TypeError, "not an element type", lambda: ndd.dtype("complex64")),
        (ValueError, "no thread_pool", lambda: ndd.EvalContext(thread_pool=3)),
        (ValueError, "cannot begin anew", lambda: ndd.ExternalSource(lambda: 3, cycle=True)),
        (NotImplementedError, "pipeline_def", lambda: ndd.readers.File(files=[__file__]).next_epoch(capture=True)),
    ],
)
def test_refusals(kind, message, call):
    with pytest.raises(kind, match=message):
        call()
