# SPDX-License-Identifier: Apache-2.0
"""Whole operators on a GPU: the CPU's bytes over random shapes, types and layouts; arguments that stay there."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import penstock
from penstock import Pipeline, _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

TYPES = [
    np.uint8,
    np.int8,
    np.uint16,
    np.int16,
    np.uint32,
    np.int32,
    np.uint64,
    np.int64,
    np.float16,
    np.float32,
    np.float64,
    np.bool_,
]


def values(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.uniform(-300, 300, shape).astype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(bool)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def host(batch):
    return [t.numpy() for t in batch.cpu()]


def check(call, arrays, layout=""):
    """The same bytes, type and layout, from kernels: an operator without one would warn."""
    b = penstock.batch(arrays, layout=layout)
    expected = call(b)
    with warnings.catch_warnings():
        warnings.simplefilter("error", penstock.DeviceWarning)
        out = call(b.gpu())
    assert out.device == "gpu:0" and out.dtype == expected.dtype and out.layout() == expected.layout()
    for k, (x, y) in enumerate(zip(host(out), host(expected), strict=True)):
        assert x.shape == y.shape and x.dtype == y.dtype
        np.testing.assert_array_equal(x, y, err_msg=f"sample {k}")


RAGGED = [(5, 7, 3), (1, 1, 3), (33, 64, 3), (0, 4, 3), (48, 31, 3), (2, 5000, 3)]
COPIES = {
    "transpose": lambda x: fn.transpose(x, perm=[2, 0, 1]),
    "transpose of rows": lambda x: fn.transpose(x, perm=[1, 0, 2]),
    "reversed": lambda x: fn.transpose(x),
    "cat": lambda x: fn.cat(x, x, axis=1),
    "cat of channels": lambda x: fn.cat(x, x, x, axis=2),
    "stack": lambda x: fn.stack(x, x, axis=1),
    "pad": lambda x: fn.pad(x, fill_value=7),
    "pad two axes": lambda x: fn.pad(x, axes=[0, 2], shape=[40, 5], align=[1, 2], fill_value=-2.5),
    "reshape": lambda x: fn.reshape(x, shape=[-1]),
    "expand_dims": lambda x: fn.expand_dims(x, axes=[0], new_axis_names="F"),
    "squeeze": lambda x: fn.squeeze(fn.expand_dims(x, axes=[1]), axes=[1]),
    "per_frame": lambda x: fn.per_frame(x, replace=True),
    "erase": lambda x: fn.erase(x, anchor=[1, 1], shape=[3, 2], fill_value=9),
    "erase of channels": lambda x: fn.erase(
        x, anchor=[0.1, 0.2, 0.5, 0.4], shape=[0.3, 0.5, 0.4, 0.4], normalized=True, fill_value=[1, 2, 300]
    ),
    "erase one channel": lambda x: fn.erase(x, axis_names="C", anchor=[1], shape=[1], fill_value=[5, 6, 7]),
}


@pytest.mark.parametrize("call", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.int32, np.float64])
def test_copies(call, dtype):
    check(call, [values(s, dtype, k) for k, s in enumerate(RAGGED)], "HWC")


@pytest.mark.parametrize("dtype", TYPES)
def test_fills_of_all_types(dtype):
    check(lambda x: fn.pad(x, fill_value=-3.5), [values((3, n), dtype, n) for n in (1, 8, 5)])
    check(lambda x: fn.pad(x, fill_value=1e30), [values((n,), dtype, n) for n in (1, 70, 0)])


def test_whole_dimensions():
    for shape in ((), (1,), (2, 3, 4, 5), (3, 1, 2, 1, 4)):
        x = [values(shape, np.int16, k) for k in range(3)]
        check(lambda b: fn.stack(b, b), x)
        check(lambda b: fn.transpose(b), x)
        check(lambda b: fn.reductions.mean(b), x)


@pytest.mark.parametrize("seed", range(40))
def test_random_shapes(seed):
    random = np.random.default_rng(seed)
    ndim, dtype = int(random.integers(1, 6)), TYPES[seed % len(TYPES)]
    extents = [0, 1, 1, 2, 3, 4, 5, 8, 9, 31, 33, 70] if ndim < 4 else [0, 1, 1, 2, 3, 4, 5, 8, 9]
    shapes = [tuple(int(e) for e in random.choice(extents, ndim)) for _ in range(4)]
    x = [values(s, dtype, seed + k) for k, s in enumerate(shapes)]
    letters = "ABHWC"[-ndim:]
    perm = [int(d) for d in random.permutation(ndim)]
    axis = int(random.integers(-ndim, ndim))
    axes = sorted({int(d) for d in random.integers(0, ndim, 2)})
    check(lambda b: fn.transpose(b, perm=perm), x, letters)
    check(lambda b: fn.cat(b, b, axis=axis), x, letters)
    check(lambda b: fn.stack(b, b, b, axis=axis), x, letters)
    fill = float(random.uniform(-300, 300))
    check(lambda b: fn.pad(b, axes=axes, fill_value=fill), x, letters)
    check(lambda b: fn.reshape(b, shape=[-1]), x)
    box = random.uniform(-0.2, 1, (2, len(axes) * 2))
    check(
        lambda b: fn.erase(b, axes=axes, anchor=box[0].tolist(), shape=box[1].tolist(), normalized=True, fill_value=5),
        x,
        letters,
    )
    if np.dtype(dtype).itemsize < 8 or seed % 3 == 0:
        check(lambda b: fn.reductions.mean(b, axes=axes, dtype=types.FLOAT64), x, letters)


AXES = [None, [], [0], [1], [2], [0, 1], [1, 2], [0, 2]]


@pytest.mark.parametrize("dtype", TYPES)
def test_means_of_all_types(dtype):
    x = [values(s, dtype, k) for k, s in enumerate([(5, 7, 3), (1, 1, 3), (48, 31, 3), (90, 80, 3)])]
    for axes in AXES:
        check(lambda b: fn.reductions.mean(b, **({} if axes is None else dict(axes=axes))), x, "HWC")


def test_means_of_long_samples():
    for dtype in (np.uint8, np.float32, np.float64, np.int64):
        x = [values(n, dtype, n) for n in (1, 15, 16, 17, 127, 128, 129, 4095, 4096, 4097, 140000, 300001)]
        check(lambda b: fn.reductions.mean(b), x)
        check(lambda b: fn.reductions.mean(b, dtype=types.FLOAT64), x)
        wide = [values((9001, 3), dtype, 1), values((17, 700), dtype, 2), values((4100, 70), dtype, 3)]
        check(lambda b: fn.reductions.mean(b, axes=[0], dtype=types.FLOAT64), wide)
        check(lambda b: fn.reductions.mean(b, axes=[1], dtype=types.FLOAT64, keep_dims=True), wide)
    check(lambda b: fn.reductions.mean(b, dtype=types.UINT8), [values((50, 60), np.float32)])
    check(
        lambda b: fn.reductions.mean(b, axes=[0, 2], dtype=types.FLOAT64),
        [values((70, 3, 80), np.float32), values((2, 5, 1), np.float32)],
    )


def test_empty_means_are_nan():
    check(lambda b: fn.reductions.mean(b, axes=[0]), [np.zeros((0, 3), np.float32), np.ones((2, 3), np.float32)])


NORMALIZE = {
    "all": {},
    "channels": dict(axes=[0, 1]),
    "rows": dict(axis_names="W"),
    "batch": dict(axes=[0, 1], batch=True),
    "whole batch": dict(batch=True),
    "mean": dict(mean=3.5),
    "stddev": dict(stddev=2.0, axes=[0, 1]),
    "both": dict(mean=1.0, stddev=0.0),
    "parameters": dict(axes=[0, 1], ddof=1, epsilon=1e-2, scale=64, shift=128, dtype=types.UINT8),
    "half": dict(axes=[0, 1], dtype=types.FLOAT16),
    "one by one": dict(axes=[]),
}


@pytest.mark.parametrize("arguments", NORMALIZE.values(), ids=NORMALIZE)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int32])
def test_normalize(arguments, dtype):
    check(
        lambda b: fn.normalize(b, **arguments),
        [values(s, dtype, k) for k, s in enumerate([(5, 7, 3), (1, 1, 3), (90, 80, 3)])],
        "HWC",
    )


def test_normalize_by_tensors():
    x = [values(s, np.uint8, k) for k, s in enumerate([(5, 7, 3), (48, 31, 3)])]
    mean, deviation = (penstock.batch([np.float32([[[k, 2, 3]]]) for k in range(2)]) for _ in range(2))
    check(lambda b: fn.normalize(b, mean=mean, stddev=deviation), x, "HWC")
    check(lambda b: fn.normalize(b, mean=mean), x, "HWC")
    b = penstock.batch(x, layout="HWC")
    for arguments in (
        dict(mean=mean),
        dict(mean=mean, stddev=deviation),
        dict(stddev=deviation),
        dict(mean=mean, batch=True),
    ):
        there = {k: v.gpu() if isinstance(v, penstock.Batch) else v for k, v in arguments.items()}
        for a, e in zip(host(fn.normalize(b.gpu(), **there)), host(fn.normalize(b, **arguments)), strict=True):
            np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT64, types.FLOAT16, types.UINT8, types.INT64, types.BOOL])
def test_random_numbers(dtype):
    calls = [
        lambda **k: fn.random.uniform(range=[-3, 250], dtype=dtype, **k),
        lambda **k: fn.random.uniform(values=[1.0, 5.0, 7.5], dtype=dtype, **k),
        lambda **k: fn.random.normal(mean=10, stddev=30, dtype=dtype, **k),
        lambda **k: fn.random.coin_flip(probability=0.3, dtype=dtype, **k),
    ]
    for call in calls:
        for shape in ({}, dict(shape=[1]), dict(shape=[7, 31]), dict(shape=[0, 3]), dict(shape=[4099])):
            a, e = (call(seed=3, batch_size=3, device=device, **shape) for device in ("gpu", "cpu"))
            assert a.device == "gpu:0"
            for x, y in zip(host(a), host(e), strict=True):
                np.testing.assert_array_equal(x, y)
    like = penstock.batch([values(s, np.uint8) for s in ((3, 5), (70, 9))])
    for x, y in zip(host(fn.random.uniform(like.gpu(), seed=1)), host(fn.random.uniform(like, seed=1)), strict=True):
        np.testing.assert_array_equal(x, y)


def test_samples_with_holes():
    class EverySecondRow:
        def __init__(self, tensor):
            self.inner = tensor
            own = tensor.__cuda_array_interface__
            (h, w), row = own["shape"], own["shape"][1] * 4
            self.__cuda_array_interface__ = {**own, "shape": ((h + 1) // 2, w), "strides": (2 * row, 4)}

    x = [values((9, 8), np.float32, k) for k in range(2)]
    there = penstock.batch([EverySecondRow(penstock.tensor(a).gpu()) for a in x])
    here = penstock.batch([a[::2].copy() for a in x])
    for call in (fn.reductions.mean, fn.reshape, fn.normalize, fn.transpose):
        arguments = dict(shape=[-1]) if call is fn.reshape else {}
        for a, e in zip(host(call(there, **arguments)), host(call(here, **arguments)), strict=True):
            np.testing.assert_array_equal(a, e)


def test_errors_are_those_of_the_cpu():
    b = penstock.batch([values((4, 5, 3), np.uint8), values((4, 6, 3), np.uint8)], layout="HWC")
    for call in (
        lambda x: fn.erase(x, shape=[1, 2, 3]),
        lambda x: fn.reshape(x, shape=[7, -1]),
        lambda x: fn.normalize(x, axes=[0], batch=True),
        lambda x: fn.erase(x, shape=[1, 2], fill_value=[1, 2]),
    ):
        told = []
        for x in (b, b.gpu()):
            with pytest.raises((ValueError, TypeError, IndexError)) as error:
                call(x)
            told.append(str(error.value))
        assert told[0] == told[1]


def chain(x):
    """As users write: the next operators use a value that was computed on the GPU."""
    mean = fn.reductions.mean(x)
    y = x - mean
    return (
        fn.erase(
            fn.normalize(y, mean=fn.reductions.mean(y, axes=[0, 1], keep_dims=True), dtype=types.FLOAT),
            anchor=[1, 1],
            shape=[3, 3],
            fill_value=mean,
        ),
        mean,
        exposed(x, mean),
    )


def exposed(x, mean):
    """Operators that fold arguments into coefficients."""
    y = fn.brightness(fn.hsv(x, hue=mean, saturation=1.3), brightness=mean / 128)
    return fn.contrast(
        fn.color_twist(fn.saturation(y, saturation=mean / 100), brightness=mean / 90), contrast_center=mean
    )


def run(device, define, rounds=3):
    given = [[values((6 + k + i, 9, 3), np.uint8, k + i) for k in range(4)] for i in range(rounds)]
    with Pipeline(batch_size=4, num_threads=2, device_id=0, seed=7) as pipe:
        x = fn.external_source(lambda i: given[i % rounds], layout="HWC", device=device)
        pipe.set_outputs(*define(x))
    return [[host(o) for o in pipe.run()] for _ in range(rounds)]


def test_arguments_stay_on_the_gpu():
    for a, b in zip(run("gpu", chain), run("cpu", chain), strict=True):
        for x, y in zip(a, b, strict=True):
            for s, t in zip(x, y, strict=True):
                np.testing.assert_array_equal(s, t)


def test_nothing_goes_to_the_host():
    with Pipeline(batch_size=2, num_threads=2, device_id=0) as pipe:
        pipe.set_outputs(
            *chain(fn.external_source(lambda: [values((8, 9, 3), np.uint8)] * 2, layout="HWC", device="gpu"))
        )
    pipe.build()
    assert "@cpu" not in pipe.passes()["place"] and "transfer" not in str(pipe.plan())


def test_without_a_compiler_the_cpu_does_the_work(real):
    if real:
        pytest.skip("machine: kernels can be made here")
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_whole; test_whole.test_arguments_stay_on_the_gpu(); test_whole.test_noise_on_the_gpu()"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        cwd=os.getcwd(),
        env={**os.environ, "PENSTOCK_EMULATED_COMPILER": "none"},
    )
    assert done.returncode == 0, done.stderr


def test_noise_on_the_gpu():
    def define(x):
        noise = fn.random.normal(x, stddev=20)
        return fn.cast(x + noise, dtype=types.UINT8), fn.random.uniform(range=[0, 5], shape=[3]), x[::-2, 1:, 1]

    for a, b in zip(run("gpu", define), run("cpu", define), strict=True):
        for k in range(3):
            for s, t in zip(a[k], b[k], strict=True):
                np.testing.assert_array_equal(s, t)


def test_a_call_is_one_copy_and_waits_for_nothing(order):
    g = penstock.batch([values((40, 50, 3), np.uint8, k) for k in range(4)], layout="HWC").gpu()
    fill = fn.reductions.mean(g)
    calls = {
        "transpose": lambda: fn.transpose(g, perm=[2, 0, 1]),
        "mean": lambda: fn.reductions.mean(g),
        "cat": lambda: fn.cat(g, g),
        "normalize": lambda: fn.normalize(g, axes=[0, 1]),
        "erase": lambda: fn.erase(g, shape=[9, 9], fill_value=fill),
        "brightness": lambda: fn.brightness(g, brightness=fill),
        "hsv": lambda: fn.hsv(g, hue=fill, value=0.5),
        "pad": lambda: fn.pad(g, shape=[64, 64, 3]),
        "normal": lambda: fn.random.normal(shape=[9], batch_size=4, device="gpu"),
    }
    most = {
        "transpose": 1,
        "mean": 2,
        "cat": 1,
        "normalize": 5,
        "erase": 2,
        "brightness": 2,
        "hsv": 2,
        "pad": 2,
        "normal": 1,
    }
    for name, call in calls.items():
        call()
        before = len(order())
        call()
        lines = order()[before:]
        assert sum(": copy " in line for line in lines) == 1, (name, lines)
        assert sum(": launch " in line for line in lines) <= most[name], (name, lines)
        assert not any("host waits" in line for line in lines), (name, lines)


CONSTANTS = [
    ({"fdata": 0.1}, np.float32),
    ({"fdata": 0.1}, np.float64),
    ({"fdata": float("nan")}, np.float16),
    ({"fdata": -0.0}, np.float32),
    ({"fdata": 2.5}, np.int16),
    ({"idata": 2**62 + 1}, np.int64),
    ({"idata": -7}, np.int8),
    ({"idata": 123456789}, np.int32),
    ({"idata": 1}, np.bool_),
    ({"idata": [3, -1, 2**31 - 1, 5, 6, 7] * 2}, np.int32),
    ({"fdata": [0.1 * i for i in range(12)]}, np.float64),
    ({"idata": list(range(250, 262))}, np.uint8),
]


@pytest.mark.parametrize(("given", "dtype"), CONSTANTS)
def test_constants_are_made_on_the_gpu(given, dtype):
    def made(device):
        pipe = Pipeline(3, num_threads=1, device_id=0)
        with pipe:
            pipe.set_outputs(fn.constant(**given, shape=[2, 3, 2], dtype=types.to_penstock_type(dtype), device=device))
        assert device == "cpu" or "stage on the GPU: %0 constant" in pipe.text(planned=True)
        return [t.numpy() for t in pipe.run()[0].as_cpu()]

    for x, y in zip(made("gpu"), made("cpu"), strict=True):
        assert x.dtype == y.dtype == dtype and x.tobytes() == y.tobytes()


@pytest.mark.parametrize("border", ["constant", "replicate", "reflect", "reflect_101", "wrap"])
def test_folds_over_windows(border):
    random = np.random.default_rng(3)
    for dtype in (np.float32, np.float16, np.uint8):
        images = [values((h, w, 3), dtype, h) for h, w in [(40, 90), (1, 7), (33, 1)]]
        for x in images:
            x[random.random(x.shape) < 0.2] = 0
            if dtype != np.uint8:
                x[random.random(x.shape) < 0.1] = -0.0
                x[random.random(x.shape) < 0.05] = np.nan
        for arguments in ({}, {"mask_size": [31, 9], "anchor": [30, 2]}):
            for call in (fn.dilate, fn.erode):
                check(lambda b: call(b, border_mode=border, **arguments), images, "HWC")
    # More rows than a block has memory for: the twin's kernel.
    check(lambda b: fn.dilate(b, border_mode=border, mask_size=[1, 299]), [values((300, 2), np.float32)], "HW")
