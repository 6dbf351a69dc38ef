# SPDX-License-Identifier: Apache-2.0
"""Compiled functions on a GPU: the pipeline's bytes, enqueued on a stream without a wait."""

import io

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


def frames(count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, (*rng.integers(3, 50, 2), 3), np.uint8) for _ in range(count)]


@pipeline_def(batch_size=4, num_threads=1, device_id=0)
def tensors(size=20):
    images = fn.external_source(name="images", device="gpu", layout="HWC", dtype=types.UINT8)
    images = fn.resize(images, size=(size, size))
    return fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=[120.0], std=[60.0])


@pytest.fixture(scope="module")
def expected():
    return tensors().run(images=frames(4))[0].as_cpu().as_array()


def test_it_gives_the_pipelines_bytes(expected):
    function = tensors().compile()
    assert [v.device for v in function.inputs + function.outputs] == ["gpu", "gpu"]
    from_host = function(frames(4))[0]
    assert (from_host.as_cpu().as_array() == expected).all()
    there = penstock.batch(frames(4), layout="HWC").gpu()
    for _ in range(3):
        out = function(there)[0]
        assert out.device == "gpu:0" and (out.as_cpu().as_array() == expected).all()
    assert (function(frames(4)[:1])[0].as_cpu().as_array() == expected[:1]).all()


def test_it_writes_into_the_callers_memory(expected):
    function = tensors().compile()
    room = penstock.batch(np.zeros((4, 3, 20, 20), np.float32)).gpu()
    out = function(penstock.batch(frames(4)).gpu(), into=room)[0]
    assert (out.as_cpu().as_array() == expected).all() and (room.as_cpu().as_array() == expected).all()
    with pytest.raises(ValueError, match="memory for output 0 is on cpu, but the output is on gpu:0"):
        function(frames(4), into=np.zeros((4, 3, 20, 20), np.float32))


def test_nothing_waits_for_the_device(order):
    function = tensors().compile()
    there = penstock.batch(frames(4)).gpu()
    function(there)
    before = len(order())
    out = function(there)[0]
    enqueued = order()[before:]
    assert enqueued and not [line for line in enqueued if "synchron" in line or "wait" in line.split()[0]], enqueued
    del out


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed):
    rng = np.random.default_rng(seed)
    steps = [
        lambda x: fn.flip(x, horizontal=fn.random.coin_flip()),
        lambda x: fn.resize(x, size=tuple(rng.integers(1, 40, 2))),
        lambda x: fn.brightness_contrast(x, brightness=fn.random.uniform(range=(0.5, 1.5))),
        lambda x: fn.rotate(x, angle=fn.random.uniform(range=(-40, 40)), keep_size=True),
        lambda x: fn.gaussian_blur(x, window_size=3),
        lambda x: fn.median_blur(x, window_size=3),
        lambda x: fn.random_resized_crop(x, size=(17, 15)),
        lambda x: fn.pad(x, axes=(0, 1)),
    ]

    @pipeline_def(batch_size=3, num_threads=1, seed=seed, device_id=0)
    def made():
        x = fn.external_source(name="images", layout="HWC", device="gpu" if rng.random() < 0.5 else "cpu")
        x = steps[rng.integers(len(steps))](x).gpu()
        for _ in range(rng.integers(1, 4)):
            x = steps[rng.integers(len(steps))](x)
        return x, fn.reductions.mean(x, axes=(0, 1)), x.cpu()

    pipe = made()
    function = pipe.compile()
    for k in range(2):
        batch = frames(3, seed + k)
        wanted, got = pipe.run(images=batch), function(batch, first_sample=3 * k)
        for a, b in zip(got, wanted):
            assert a.device == b.device
            for x, y in zip(a.cpu(), b.cpu()):
                assert np.asarray(x.numpy()).tobytes() == np.asarray(y.numpy()).tobytes()


def test_decoded_on_the_host_and_damaged():
    files = []
    for k, picture in enumerate(frames(3)):
        data = io.BytesIO()
        Image.fromarray(picture).save(data, "JPEG")
        files.append(np.frombuffer(data.getvalue(), np.uint8)[: 60 if k == 1 else None].copy())

    @pipeline_def(batch_size=3, num_threads=1, device_id=0)
    def decoded(device):
        images = fn.decoders.image(fn.external_source(name="files"), device="mixed" if device == "gpu" else "cpu")
        return fn.resize(images, size=(9, 8))

    there, errors = decoded("gpu").compile().attempt(files)
    here, _ = decoded("cpu").compile().attempt(files)
    assert [isinstance(e, penstock.DataError) for e in errors] == [False, True, False]
    assert there[0].device == "gpu:0"
    assert list(there[0][1].shape()) == [0, 0, 0]
    for i in (0, 2):
        assert np.asarray(there[0][i].cpu().numpy()).tobytes() == np.asarray(here[0][i].numpy()).tobytes()
