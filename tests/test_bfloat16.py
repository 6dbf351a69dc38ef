# SPDX-License-Identifier: Apache-2.0
"""bfloat16 as a type of storage. ml_dtypes has the type for NumPy, torch has its own: both are oracles."""

import re
import sys

import ml_dtypes
import numpy as np
import operator_calls
import pytest
import strategies
import torch
from hypothesis import HealthCheck, Phase, given, settings

import penstock
from penstock import Pipeline, _core, fn, types

BF16 = np.dtype(ml_dtypes.bfloat16)
ALL = np.arange(65536, dtype=np.uint16).view(BF16)
TYPES = {
    t.name: t
    for t in types.DType
    if 0 <= t <= types.BFLOAT16 and t not in (types.BFLOAT16, types.STRING)
}  # fmt: skip
NUMPY = {"FLOAT": "float32"}
few = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


def bits(x):
    """The bits, with one pattern for all NaN."""
    x = np.asarray(x)
    return np.where(np.isnan(x.astype(np.float32)), np.uint16(0x7FC0), x.view(np.uint16))


def of_numpy(x):
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(x).astype(BF16)


# --- values -----------------------------------------------------------------------------------------------------------


def test_every_value_becomes_float32_and_comes_back():
    wide = fn.cast(ALL, dtype=types.FLOAT)
    np.testing.assert_array_equal(wide, ALL.astype(np.float32))
    back = fn.cast(wide, dtype=types.BFLOAT16)
    assert back.dtype == BF16
    np.testing.assert_array_equal(bits(back), bits(ALL))
    assert np.isnan(back[np.isnan(ALL.astype(np.float32))].astype(np.float32)).all()


def test_float32_rounds_to_nearest_even():
    """Every value, the middle between it and its neighbor, and the float32 beside the middle."""
    low = ALL.view(np.uint16).astype(np.uint32) << 16
    x = np.concatenate([low + d for d in (0, 0x7FFF, 0x8000, 0x8001, 0xFFFF)]).view(np.float32)
    np.testing.assert_array_equal(bits(fn.cast(x, dtype="bfloat16")), bits(of_numpy(x)))
    theirs = torch.from_numpy(x).to(torch.bfloat16).view(torch.uint16).numpy().view(BF16)
    np.testing.assert_array_equal(bits(fn.cast(x, dtype="bfloat16")), bits(theirs))


def test_float64_is_rounded_once():
    """Beside the middle of two neighbors, by less than float32 shows: the nearer one, not the even one."""
    below = ALL[np.isfinite(ALL.astype(np.float32))][:0x7F00].astype(np.float64)
    above = np.append(below[1:], 2 * below[-1] - below[-2])
    middle, nearer = (below + above) / 2, (above - below) / 2**30
    for x, want in ((middle - nearer, below), (middle + nearer, above)):
        np.testing.assert_array_equal(fn.cast(x, dtype="bfloat16").astype(np.float64), want)
        np.testing.assert_array_equal(fn.cast(-x, dtype="bfloat16").astype(np.float64), -want)


@pytest.mark.parametrize("name", TYPES)
def test_casts_between_all_types(name):
    """As by way of float32, which holds every bfloat16."""
    made = fn.cast(ALL, dtype=TYPES[name])
    np.testing.assert_array_equal(made, fn.cast(ALL.astype(np.float32), dtype=TYPES[name]), strict=True)
    back = fn.cast(made, dtype=types.BFLOAT16)
    np.testing.assert_array_equal(bits(back), bits(of_numpy(made.astype(np.float32))))
    np.testing.assert_array_equal(bits(fn.cast_like(made, ALL)), bits(back))
    np.testing.assert_array_equal(fn.cast_like(ALL, np.zeros(1, made.dtype)), made, strict=True)
    held = penstock.tensor(made, dtype=types.BFLOAT16).numpy()
    np.testing.assert_array_equal(bits(held), bits(back))


def test_constants_and_fills_are_rounded():
    values = [1.00390625, 1.01171875, -3.4e38, 3.4e38, 1e-45, float("nan")]
    held = np.asarray(fn.constant(fdata=values, dtype=types.BFLOAT16, batch_size=1)[0])
    np.testing.assert_array_equal(bits(held), bits(of_numpy(np.float64(values))))
    padded = fn.pad(ALL[:3], axes=[0], shape=[6], fill_value=1.01171875)
    np.testing.assert_array_equal(bits(padded), bits(np.append(ALL[:3], of_numpy([1.01171875] * 3))))
    assert fn.full_like(ALL[:3], np.float32(1.01171875)).tolist() == of_numpy([1.01171875] * 3).tolist()


# --- arrays in and out ------------------------------------------------------------------------------------------------


def test_tensors_of_torch_share_the_memory():
    x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).to(torch.bfloat16)
    for held in (penstock.tensor(x), penstock.batch(x)):
        assert held.dtype == types.BFLOAT16 == types.DType.BFLOAT16
        out = torch.from_dlpack(held if isinstance(held, _core.Tensor) else held.as_tensor())
        assert out.dtype == torch.bfloat16 and out.data_ptr() == x.data_ptr() and torch.equal(out, x)
    image = torch.rand(3, 8, 9).to(torch.bfloat16)
    made = fn.flip(image, horizontal=1)
    assert isinstance(made, torch.Tensor) and torch.equal(made, image.flip(2))


def test_arrays_of_ml_dtypes_share_the_memory():
    x = ALL[:24].reshape(2, 3, 4).copy()
    held = penstock.tensor(x)
    for out in (held.numpy(), np.asarray(held), penstock.batch([x])[0].numpy(), penstock.batch([x]).at(0)):
        assert out.dtype == BF16 and np.shares_memory(out, x)
    turned = penstock.tensor(x.T).numpy()
    assert turned.strides == x.T.strides and turned.tobytes() == x.T.tobytes()
    assert types.to_numpy_type(types.BFLOAT16) is ml_dtypes.bfloat16
    for name in ("bfloat16", BF16, ml_dtypes.bfloat16, torch.bfloat16, 13):
        assert types.to_penstock_type(name) is types.BFLOAT16
    assert float(types.Constant(1.01171875).bfloat16()) == 1.01171875  # the value is rounded where it is used


def test_other_types_of_ml_dtypes_are_refused():
    with pytest.raises(TypeError, match="float8_e4m3fn are not supported"):
        penstock.tensor(np.zeros(3, ml_dtypes.float8_e4m3fn))
    with pytest.raises(TypeError, match="12 is not an element type"):
        fn.cast(np.zeros(3, np.float32), dtype=12)


def test_without_ml_dtypes_torch_still_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    held = penstock.tensor(torch.ones(3, dtype=torch.bfloat16))
    with pytest.raises(TypeError, match="ml_dtypes"):
        held.numpy()
    with pytest.raises(TypeError, match="ml_dtypes"):
        types.to_numpy_type(types.BFLOAT16)
    assert torch.equal(torch.from_dlpack(held), torch.ones(3, dtype=torch.bfloat16))
    assert fn.cast(held, dtype=types.FLOAT).numpy().tolist() == [1, 1, 1]
    assert held.show(size=16).size  # pictures need no NumPy type


def test_the_array_interface_has_no_such_type():
    assert not hasattr(penstock.tensor(ALL), "__array_interface__")


# --- operators --------------------------------------------------------------------------------------------------------

IMAGE = np.random.default_rng(3).integers(0, 256, (3, 20, 30, 3), np.uint8)
ENDINGS = {
    "crop_mirror_normalize": dict(crop=[16, 16], mean=[120.0, 110, 100], std=[50.0, 60, 70], mirror=1),
    "crop_mirror_normalize in rows": dict(crop=[17, 19], mean=[120.0], std=[50.0], output_layout="HWC"),
    "resize": dict(size=[11, 13]),
    "resize cubic": dict(size=[41, 33], interp_type="cubic"),
    "resize nearest": dict(size=[41, 33], interp_type="nn"),
    "warp_affine": dict(matrix=[0.9, 0.2, 1, -0.1, 1.1, 2], fill_value=3.25),
    "brightness_contrast": dict(brightness=1.3, contrast=0.7),
    "normalize": dict(axes=[0, 1]),
    "cast": {},
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("given", ["uint8", "float32", "bfloat16"])
def test_endings_round_what_float32_gives(ending, given):
    call, arguments = getattr(fn, ending.split()[0]), ENDINGS[ending]
    source = IMAGE.astype(np.float32) if given == "float32" else of_numpy(IMAGE / 7) if given == "bfloat16" else IMAGE
    wide = source.astype(np.float32) if given == "bfloat16" else source
    made = call(penstock.batch(source, layout="HWC"), dtype=types.BFLOAT16, **arguments)
    want = call(penstock.batch(wide, layout="HWC"), dtype=types.FLOAT, **arguments)
    assert made.dtype == types.BFLOAT16 and made.layout() == want.layout() and made.shape() == want.shape()
    np.testing.assert_array_equal(bits(made.as_array()), bits(of_numpy(want.as_array())))


@pytest.mark.parametrize("other", TYPES)
def test_arithmetic_promotes_as_torch_does(other):
    a, b = of_numpy([1.0, 2.5, -3.0]), np.array([3, 2, 1]).astype(NUMPY.get(other, other.lower()))
    made = (penstock.batch([a]) + penstock.batch([b]))[0]
    want = torch.from_numpy(a.view(np.uint16)).view(torch.bfloat16) + torch.from_numpy(b)
    assert made.dtype == types.to_penstock_type(want.dtype)
    assert np.asarray(made).astype(np.float64).tolist() == want.to(torch.float64).tolist()


def test_reductions_and_their_types():
    x = of_numpy(np.random.default_rng(1).normal(3, 2, (7, 11)))
    wide = x.astype(np.float32)
    for name in ("sum", "mean", "mean_square", "rms"):
        call = getattr(fn.reductions, name)
        assert call(x, axes=[0]).tobytes() == call(wide, axes=[0]).tobytes()
        made = call(x, axes=[0], dtype=types.BFLOAT16)
        np.testing.assert_array_equal(bits(made), bits(of_numpy(call(wide, axes=[0], dtype=types.FLOAT64))))
    assert fn.reductions.max(x, axes=[1]).tobytes() == x.max(axis=1).tobytes()
    assert fn.reductions.min(x.T, axes=[0]).tobytes() == x.min(axis=1).tobytes()
    assert fn.reductions.variance(x, np.float32(3)).tobytes() == fn.reductions.variance(wide, np.float32(3)).tobytes()


DRAWN = [n for n in _core.operators(True) if n in strategies.CASES and _core.operator_schema(n)["max_inputs"]]
DRAWN.remove("reinterpret")  # its result follows the size of an element


@pytest.mark.parametrize("name", DRAWN)
def test_every_operator_takes_it_as_float32_or_refuses_it(name):
    """No operator reads the elements as another type: a result is that of the same values as float32, rounded where it
    has the input's type; anything else is a TypeError that says so."""

    @few
    @given(strategies.case_of(name))
    def check(case):
        narrow = [
            [of_numpy(x) if k == 0 or (x.dtype.kind == "f" and name != "box_blur_regions") else x for x in samples]
            for k, samples in enumerate(case.inputs)
        ]
        wide = [[s.astype(np.float32) if s.dtype == BF16 else s for s in samples] for samples in narrow]
        if case.constants.get("seed") is None and _core.operator_schema(name)["random"]:
            case.constants["seed"] = 7
        case.inputs = narrow
        try:
            made = operator_calls.call(name, case)
        except (TypeError, ValueError) as error:
            case.inputs = wide
            if "bfloat16" not in str(error):
                with pytest.raises(type(error)):
                    operator_calls.call(name, case)
            return
        case.inputs = wide
        want = operator_calls.call(name, case)
        assert len(made) == len(want)
        for got, exact in zip(made, want):
            if got.dtype == BF16:
                assert exact.dtype in (BF16, np.float32)
                np.testing.assert_array_equal(bits(got), bits(of_numpy(exact)))
            else:
                assert (got.dtype, got.shape, got.tobytes()) == (exact.dtype, exact.shape, exact.tobytes())

    check()


# --- pipelines --------------------------------------------------------------------------------------------------------


def test_a_pipeline_takes_makes_saves_and_gives_it():
    batches = [torch.randn(4, 6, 5, 3).to(torch.bfloat16) for _ in range(2)]
    factors = [torch.rand(4).to(torch.bfloat16) for _ in range(2)]

    def defined(feeds):
        with Pipeline(batch_size=4, num_threads=2) as pipe:
            x = fn.external_source(feeds[0], layout="HWC", name="x", dtype=types.BFLOAT16, ndim=3)
            k = fn.external_source(feeds[1], name="k", dtype=types.BFLOAT16, ndim=0)
            bright = fn.brightness(x, brightness=k, dtype=types.BFLOAT16)
            small = fn.resize(bright, size=[3, 3], dtype=types.BFLOAT16)
            pipe.set_outputs(fn.flip(small, horizontal=1), bright * 2.0, bright * k, x > 0)
        return pipe

    def assert_made(outputs, x, k):
        small, doubled, again, truth = outputs
        k = k[:, None, None, None]
        bright = (x.float() * k.float()).to(torch.bfloat16)
        assert torch.equal(torch.from_dlpack(doubled.as_tensor()), bright.float() * 2)
        assert torch.equal(torch.from_dlpack(again.as_tensor()), bright * k)
        assert np.array_equal(truth.as_array(), (x > 0).numpy())
        want = fn.resize(penstock.batch(bright.float(), layout="HWC"), size=[3, 3])
        want = torch.from_dlpack(want.as_tensor()).to(torch.bfloat16).flip(2)
        assert torch.equal(torch.from_dlpack(small.as_tensor()), want)

    pipe = defined((batches, factors))
    for x, k in zip(batches, factors):
        assert_made(pipe.run(), x, k)
    text = defined((None, None)).to_json()
    again = Pipeline.deserialize(text)
    again.feed_input("x", batches[1])
    again.feed_input("k", factors[1])
    assert_made(again.run(), batches[1], factors[1])
    with pytest.raises(TypeError, match="12 is not an element type"):
        Pipeline.deserialize(re.sub(r'("dtype": \[\s*)13', r"\g<1>12", text)).build()


def test_errors_say_what_to_do():
    image = penstock.tensor(of_numpy(IMAGE[0]), layout="HWC")
    with pytest.raises(
        TypeError, match="median_blur.*does not compute with bfloat16: cast to float32 or float16 first"
    ):
        fn.median_blur(image)
    with pytest.raises(TypeError, match="random.uniform.*does not write bfloat16: cast its result"):
        fn.random.uniform(range=[0.0, 1.0], dtype=types.BFLOAT16, batch_size=1)
    with Pipeline(batch_size=1, num_threads=1) as pipe:
        x = fn.external_source([of_numpy(IMAGE[:1])], layout="HWC", dtype=types.BFLOAT16, ndim=3)
        with pytest.raises(TypeError, match="does not compute with bfloat16"):
            pipe.set_outputs(fn.median_blur(x))
            pipe.build()
