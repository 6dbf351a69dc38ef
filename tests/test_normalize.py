# SPDX-License-Identifier: Apache-2.0
"""normalize and reductions.mean against the float64 reference, NumPy and DALI."""

import dali_oracle
import numpy as np
import pytest
import reference
from hypothesis import given, strategies as st

import penstock
from penstock import fn, types

DTYPES = ["bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
NAMED = {"float32": types.FLOAT, "float64": types.FLOAT64, "uint8": types.UINT8, "int16": types.INT16}


def sample(rng, dtype, shape):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return (rng.random(shape) if np.dtype(dtype).kind == "f" else rng.integers(0, 100, shape)).astype(dtype)


shapes = st.lists(st.integers(1, 21), min_size=1, max_size=4)


@given(st.integers(0, 999), st.sampled_from(DTYPES), shapes, st.data())
def test_mean(seed, dtype, shape, data):
    x = sample(np.random.default_rng(seed), dtype, shape)
    axes = data.draw(st.lists(st.integers(-len(shape), len(shape) - 1), unique_by=lambda a: a % len(shape)))
    keep = data.draw(st.booleans())
    got = fn.reductions.mean(x, axes=axes, keep_dims=keep)
    assert got.dtype == (np.float64 if dtype == "float64" else np.float32)
    want = reference.mean(x, axes=axes, keep_dims=keep)
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-14 if dtype == "float64" else 2.0**-23)
    whole = fn.reductions.mean(x, dtype=NAMED["uint8"])
    assert (
        whole == reference.to_dtype(np.mean(x.astype(np.float64)), np.uint8)
        or abs(np.mean(x.astype(float)) % 1 - 0.5) < 1e-9
    )


def test_mean_of_layouts_and_wrong_axes():
    x = penstock.tensor(np.ones((4, 5, 3), np.uint8), layout="HWC")
    assert fn.reductions.mean(x, axis_names="HW").layout() == "C"
    assert fn.reductions.mean(x, axes=[1], keep_dims=True).layout() == "HWC"
    for wrong in (dict(axes=[3]), dict(axes=[0, 0]), dict(axis_names="D"), dict(axes=[0], axis_names="H")):
        with pytest.raises((ValueError, IndexError)):
            fn.reductions.mean(x, **wrong)
    assert np.isnan(fn.reductions.mean(np.zeros((0, 3), np.float32)))


@given(st.integers(0, 999), st.sampled_from(DTYPES), shapes, st.data())
def test_normalize_computes_what_is_not_given(seed, dtype, shape, data):
    rng = np.random.default_rng(seed)
    x = sample(rng, dtype, shape)
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    options = dict(
        axes=axes,
        ddof=data.draw(st.integers(0, 1)),
        epsilon=data.draw(st.sampled_from([0.0, 0.25])),
        scale=3.0,
        shift=-1.0,
    )
    if data.draw(st.booleans()):
        options["mean"] = 0.5
    elif data.draw(st.booleans()):
        options["stddev"] = 2.0
    got = fn.normalize(x, **options)
    assert got.dtype == np.float32
    f = {k: np.float64(np.float32(v)) if isinstance(v, float) else v for k, v in options.items()}
    want = reference.normalize(x, **f)
    constant = np.broadcast_to(np.isclose(np.std(x.astype(np.float64), axis=tuple(axes), keepdims=True), 0), x.shape)
    few = np.prod([shape[a] for a in axes]) <= options["ddof"]
    if "stddev" not in options and few and options["epsilon"] == 0:
        np.testing.assert_array_equal(got, np.float32(-1))
        return
    if "stddev" not in options and options["epsilon"] == 0 and "mean" not in options:
        assert np.all(got[constant] == -1) or np.allclose(got[constant], -1, atol=1e-3)
        got, want = got[~constant], want[~constant]
    ok = np.isfinite(want)
    np.testing.assert_allclose(got[ok], want[ok], rtol=2.0**-22, atol=2.0**-18)


def test_tensor_arguments_choose_the_axes():
    rng = np.random.default_rng(2)
    x = sample(rng, "uint8", (31, 45, 3))
    mean, std = rng.random((1, 1, 3)).astype(np.float32) * 100, rng.random((1, 1, 3)).astype(np.float32) + 1
    want = reference.normalize(x, mean=mean, stddev=std)
    np.testing.assert_allclose(
        fn.normalize([x], mean=penstock.per_sample([mean]), stddev=penstock.per_sample([std])).at(0),
        want,
        rtol=2.0**-22,
        atol=1e-5,
    )
    np.testing.assert_allclose(
        fn.normalize(x, mean=mean.ravel().tolist(), stddev=std.ravel().tolist(), axes=[0, 1]),
        want,
        rtol=2.0**-22,
        atol=1e-5,
    )
    with pytest.raises(ValueError):
        fn.normalize(x, mean=1.0, stddev=2.0, axes=[0])
    with pytest.raises(ValueError):
        fn.normalize(x, mean=[1.0, 2.0], axes=[0, 1])


def test_statistics_of_the_batch():
    rng = np.random.default_rng(3)
    batch = [sample(rng, "uint8", (h, w, 3)) for h, w in ((9, 14), (30, 5), (1, 1))]
    flat = np.concatenate([x.reshape(-1, 3) for x in batch]).astype(np.float64)
    got = fn.normalize(batch, axes=[0, 1], batch=True)
    for i, x in enumerate(batch):
        np.testing.assert_allclose(got.at(i), (x - flat.mean(0)) / flat.std(0), rtol=2.0**-22, atol=1e-6)
    one = fn.normalize(batch, batch=True, ddof=1, scale=0.5)
    for i, x in enumerate(batch):
        np.testing.assert_allclose(one.at(i), 0.5 * (x - flat.mean()) / flat.std(ddof=1), rtol=2.0**-22, atol=1e-6)
    with pytest.raises(ValueError, match="must have the same extents on the axes that are not reduced"):
        fn.normalize(batch, axes=[1, 2], batch=True)


def test_deviation_of_zero_gives_the_shift():
    np.testing.assert_array_equal(
        fn.normalize(np.full((4, 4), 7, np.uint8), shift=2.5), np.full((4, 4), np.float32(2.5))
    )


@pytest.fixture(scope="module")
def oracle():
    if not dali_oracle.available():
        pytest.skip("needs DALI")
    return dali_oracle.Oracle()


@pytest.mark.parametrize(
    "options",
    [
        {},
        dict(axes=[0, 1]),
        dict(axes=[2], ddof=1, epsilon=0.5),
        dict(mean=10.0, stddev=3.0),
        dict(mean=4.0),
        dict(stddev=5.0, scale=2.0, shift=1.0),
        dict(batch=True, axes=[0, 1]),
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_against_dali(oracle, options, dtype):
    rng = np.random.default_rng(6)
    batch = [sample(rng, dtype, (11, 7, 3)), sample(rng, dtype, (5, 8, 3))]
    got, want = fn.normalize(batch, **options), oracle.call("normalize", batch, layout="HWC", **options)
    for i in range(2):
        np.testing.assert_allclose(got.at(i), want[i], rtol=1e-4, atol=1e-5)
    for over in ([0], [0, 1], None):
        mean = {} if over is None else {"axes": over}
        for a, b in zip(fn.reductions.mean(batch, **mean), oracle.call("reductions.mean", batch, **mean)):
            np.testing.assert_allclose(np.asarray(a.numpy() if hasattr(a, "numpy") else a), b, rtol=1e-5)


@pytest.mark.parametrize("channels", [64, 65, 224, 256])
def test_many_channels(channels):
    rng = np.random.default_rng(channels)
    image = rng.integers(0, 256, (9, 11, channels), np.uint8)
    mean, std = rng.uniform(90, 160, channels).astype(np.float32), rng.uniform(20, 80, channels).astype(np.float32)
    out = fn.crop_mirror_normalize(
        image, mean=mean.tolist(), std=std.tolist(), mirror=1, crop=(5, 7), dtype=types.FLOAT, output_layout="CHW"
    )
    wanted = ((image[2:7, 2:9][:, ::-1] - mean.astype(float)) / std).transpose(2, 0, 1)
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)
    half = fn.resize(image, size=[4, 5])
    np.testing.assert_array_equal(half[..., :3], fn.resize(np.ascontiguousarray(image[..., :3]), size=[4, 5]))


def test_too_many_channels_are_named():
    with pytest.raises(ValueError, match="at most 256 channels"):
        fn.crop_mirror_normalize(np.zeros((4, 4, 257), np.uint8), mean=[1.0] * 257, std=[1.0] * 257, dtype=types.FLOAT)


@pytest.mark.parametrize("columns", [7, 1176, 1300])
@pytest.mark.parametrize("apart", [True, False])
def test_large_results_have_the_values_of_small_ones(columns, apart):
    """Results of a megabyte and more are written past the caches."""
    rows = 400_000 // columns
    x = np.random.default_rng(columns).integers(0, 256, (rows, columns), np.uint8)
    shape = (1, columns) if apart else (1, 1)
    mean = np.linspace(90, 130, shape[1], dtype=np.float32).reshape(shape)
    deviation = np.linspace(50, 70, shape[1], dtype=np.float32).reshape(shape)
    axes = {"axes": [0]} if apart else {}
    made = np.asarray(fn.normalize(x, mean=mean, stddev=deviation, **axes))
    np.testing.assert_allclose(made, (x.astype(np.float64) - mean) / deviation, rtol=3e-7, atol=1e-6)
    few = np.asarray(fn.normalize(x[: 1 + 1000 // columns], mean=mean, stddev=deviation, **axes))
    np.testing.assert_array_equal(made[: len(few)], few)
