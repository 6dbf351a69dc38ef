# SPDX-License-Identifier: Apache-2.0
"""slice, pad, flip and erase against the reference and DALI: integer maps, so results are equal."""

import random

import numpy as np
import pytest
import reference
from dali_oracle import DaliError
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import DTYPES, laid_out, random_sample

import penstock
from penstock import fn, pipeline_def, types

seeds = st.integers(0, 2**32 - 1)
POLICIES = [
    "error",
    "constant",
    "pad",
    "trim_to_shape",
    "edge",
    "clamp",
    "reflect",
    "reflect_1001",
    "reflect_101",
    "wrap",
]
LAYOUTS = ["HWC", "CHW", "HW", "FHWC", "DHWC", "FCDHW"]


def small_sample(pick, shape, dtype):
    return np.random.default_rng(pick.getrandbits(32)).integers(0, 120, shape).astype(dtype)


def slice_arguments(pick, axes):
    """The arguments of a window, as in tests/check_reference_against_dali.py; few digits put coordinates on halves."""
    digits = pick.randint(1, 7)
    number = lambda low, high: [pick.randrange(low, high) for _ in axes]
    real = lambda low, high: [float(np.float32(round(pick.uniform(low, high), digits))) for _ in axes]
    start, stop, a = pick.randrange(3), pick.randrange(5), {}
    start = start or int(stop == 0)
    if start == 1:
        a["start"] = number(-6, 6)
    if start == 2:
        a["rel_start"] = real(-0.5, 0.6)
    if stop:
        a |= {
            1: {"end": number(6, 20)},
            2: {"rel_end": real(0.6, 1.6)},
            3: {"shape": number(0, 20)},
            4: {"rel_shape": real(0.2, 1.5)},
        }[stop]
    return a


@given(seeds)
def test_slice_is_the_reference(seed):
    pick = random.Random(seed)
    x = small_sample(pick, [pick.randint(1, 11) for _ in range(pick.randint(1, 5))], pick.choice([*DTYPES, "bool"]))
    axes = pick.sample(range(x.ndim), pick.randint(1, x.ndim))
    policy, fill, a = pick.choice(POLICIES), pick.randrange(2 if x.dtype == bool else 90), slice_arguments(pick, axes)
    call = lambda: fn.slice(x, axes=axes, out_of_bounds_policy=policy, fill_values=float(fill), **a)
    try:
        expected = reference.slice(x, axes=axes, out_of_bounds_policy=policy, fill_values=fill, **a)
    except (IndexError, ValueError):
        with pytest.raises(ValueError, match=r"\[slice\]"):
            call()
        return
    got = call()
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, expected, f"{x.shape} {axes} {policy} {a}")


@given(seeds)
def test_slice_of_images_is_dali(oracle, seed):
    pick = random.Random(seed)
    layout = pick.choice(["HWC", "CHW", "HW", "DHWC"])
    x = random_sample(pick, layout, pick.choice(["uint8", "int16", "float32", "int64"]), extents=[1, 2, 5, 9, 14])
    names = "".join(pick.sample(layout, pick.randint(1, len(layout))))
    a = slice_arguments(pick, names) | {"axis_names": names, "out_of_bounds_policy": pick.choice(POLICIES)}
    if "C" in layout and a["out_of_bounds_policy"] == "pad" and "C" not in names:
        a["fill_values"] = [float(pick.randrange(100)) for _ in range(x.shape[layout.index("C")])]
    try:
        expected = oracle.call("slice", [x], layout=layout, **a)[0]
    except DaliError:
        with pytest.raises(ValueError, match=r"\[slice\]"):
            fn.slice(laid_out(x, layout), **a)
        return
    got = fn.slice(laid_out(x, layout), **a)
    assert got.layout() == layout
    np.testing.assert_array_equal(got.numpy(), expected, f"{layout} {x.shape} {a}")


@given(seeds)
def test_positional_anchor_and_shape(oracle, seed):
    pick = random.Random(seed)
    xs = [small_sample(pick, (pick.randint(4, 12), pick.randint(4, 12), 3), "uint8") for _ in range(3)]
    kind, flags = pick.choice(["int32", "int64", "float32"]), {"out_of_bounds_policy": "pad"}
    number = lambda: [pick.randint(0, 3), pick.randint(0, 3)]
    if kind == "float32":
        flags |= {"normalized_anchor": pick.random() < 0.5, "normalized_shape": pick.random() < 0.5}
        part = lambda on: [round(pick.random() / 2, 2) if on else pick.uniform(0, 3) for _ in range(2)]
        pairs = [(part(flags["normalized_anchor"]), part(flags["normalized_shape"])) for _ in xs]
    else:
        pairs = [(number(), number()) for _ in xs]
    anchors, shapes = ([np.array(p[k], kind) for p in pairs] for k in (0, 1))
    expected = oracle.call("slice", [xs, anchors, shapes], inputs_layouts=["HWC", None, None], **flags)
    got = fn.slice(penstock.batch(xs, layout="HWC"), anchors, shapes, **flags)
    for i, e in enumerate(expected):
        np.testing.assert_array_equal(got.at(i), e, f"{pairs[i]} {flags}")


def test_slice_in_another_type():
    x = np.array([[-3, 2, 300]], np.int16)
    y = fn.slice(x, axes=[1], start=[-1], end=[4], out_of_bounds_policy="constant", fill_values=2.5, dtype=types.UINT8)
    np.testing.assert_array_equal(y, np.array([[2, 0, 2, 255, 2]], np.uint8))
    y = fn.slice(x, axes=[1], start=[-1], end=[4], out_of_bounds_policy="wrap", dtype=types.FLOAT)
    np.testing.assert_array_equal(y, np.array([[300, -3, 2, 300, -3]], np.float32))


@given(seeds)
def test_windows_of_a_reflected_window_are_numpys(seed):
    """Each axis reflects, then is cut or filled, in one stage; the channels, too."""
    pick = random.Random(seed)
    shape = [pick.randint(3, 6) for _ in range(pick.randint(2, 5))]
    x = small_sample(pick, shape, "uint8")
    layout = {2: "HW", 3: "HWC", 4: "FHWC", 5: "FDHWC"}[len(shape)]
    axes = [a for a in range(len(shape)) if pick.random() < 0.5] or [0]
    start = [pick.randint(-3, 4) for _ in axes]
    size = [pick.randint(1, 9) for _ in axes]

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipe():
        y = fn.external_source(source=lambda: [x], batch=True, layout=layout)
        grown = [shape[a] + 4 for a in axes]
        y = fn.slice(y, axes=axes, start=[-2] * len(axes), shape=grown, out_of_bounds_policy="reflect_101")
        policy = {"out_of_bounds_policy": "pad", "fill_values": 9}
        return fn.slice(y, axes=axes, start=start, shape=size, dtype=pick.choice([types.UINT8, types.FLOAT]), **policy)

    expected = np.pad(x, [(2, 2) if a in axes else (0, 0) for a in range(x.ndim)], mode="reflect")
    for a, begin, n in zip(axes, start, size):
        room = np.pad(expected, [(20, 20) if d == a else (0, 0) for d in range(x.ndim)], constant_values=9)
        expected = room.take(range(20 + begin, 20 + begin + n), axis=a)
    built = pipe()
    np.testing.assert_array_equal(np.array(built.run()[0].at(0)), expected)


def test_more_channels_than_the_cpu_keeps_together_may_be_reflected():
    x = np.arange(3 * 200, dtype=np.float32).reshape(1, 3, 200)
    y = fn.slice(laid_out(x, "HWC"), axes=[2], start=[-100], shape=[400], out_of_bounds_policy="reflect_101")
    np.testing.assert_array_equal(y.numpy(), np.pad(x, [(0, 0), (0, 0), (100, 100)], mode="reflect"))
    z = fn.slice(
        laid_out(x, "HWC"), axes=[2], start=[-100], shape=[400], out_of_bounds_policy="wrap", dtype=types.INT32
    )
    np.testing.assert_array_equal(z.numpy(), np.pad(x, [(0, 0), (0, 0), (100, 100)], mode="wrap"))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"start": [1]},
        {"start": [0, 0], "rel_start": [0, 0]},
        {"start": [3, 3], "end": [1, 9]},
        {"start": [0, 0], "shape": [-1, 2]},
        {"start": [0, 0], "axes": [0, 0]},
        {"start": [0], "axes": [3]},
        {"start": [0], "axis_names": "D"},
        {"start": [0, 0], "out_of_bounds_policy": "mirror"},
        {"start": [0, 0], "end": [99, 99]},
        {"rel_start": [float("nan")] * 2},
    ],
)
def test_windows_that_cannot_be(arguments):
    with pytest.raises(ValueError, match=r"\[slice\]"):
        fn.slice(laid_out(np.zeros((5, 6, 3), np.uint8), "HWC"), **arguments)


@given(seeds)
def test_pad_is_the_reference_and_dali(oracle, seed):
    pick = random.Random(seed)
    rank, dtype = pick.randint(1, 4), pick.choice(["uint8", "int32", "float32", "float16", "int64"])
    shape = lambda: [pick.randint(0 if pick.random() < 0.1 else 1, 9) for _ in range(rank)]
    xs = [small_sample(pick, shape(), dtype) for _ in range(3)]
    axes = pick.sample(range(rank), pick.randint(1, rank))
    a = dict(axes=axes, fill_value=float(pick.randint(0, 9)))
    if pick.random() < 0.5:
        a["shape"] = [pick.choice([-1, pick.randint(1, 12)]) for _ in axes]
    if pick.random() < 0.5:
        a["align"] = [pick.randint(1, 6) for _ in axes]
    largest = np.max([x.shape for x in xs], 0)
    got = fn.pad(xs, **a)
    for i, x in enumerate(xs):
        np.testing.assert_array_equal(got.at(i), reference.pad(x, largest=largest, **a), f"{x.shape} {a}")
    if all(x.size for x in xs):
        for i, e in enumerate(oracle.call("pad", xs, **a)):
            np.testing.assert_array_equal(got.at(i), e)


def test_pad_by_names_and_by_sample():
    xs = [np.ones((2, 3, 1), np.uint8), np.ones((4, 1, 2), np.uint8)]
    out = fn.pad(penstock.batch(xs, layout="HWC"), axis_names="HW", fill_value=300)
    assert out.shape() == [(4, 3, 1), (4, 3, 2)] and out.layout() == "HWC" and out.at(0).max() == 255
    out = fn.pad(xs, fill_value=penstock.per_sample([7, 8]), align=4)
    assert out.shape() == [(4, 4, 4), (4, 4, 4)] and out.at(0)[3, 3, 3] == 7 and out.at(1)[3, 3, 3] == 8
    for bad in (
        {"align": 0},
        {"axes": [3]},
        {"axes": [0], "axis_names": "H"},
        {"axes": [0, 1], "shape": [4, 4, 4]},
        {"axis_names": "D"},
    ):
        with pytest.raises(ValueError, match=r"\[pad\]"):
            fn.pad(penstock.batch(xs, layout="HWC"), **bad)


@given(seeds)
def test_flip_is_the_reference(seed):
    pick = random.Random(seed)
    layout, dtype = pick.choice(LAYOUTS), pick.choice([*DTYPES, "bool"])
    x = random_sample(pick, layout, dtype, extents=[1, 2, 7, 16, 33])
    a = {k: pick.choice([0, 1, 2]) for k in ("horizontal", "vertical")} | (
        {"depthwise": pick.choice([0, 1])} if "D" in layout else {}
    )
    y = fn.flip(laid_out(x, layout), **a)
    assert y.layout() == layout
    np.testing.assert_array_equal(y.numpy(), reference.flip(x, layout=layout, **a), f"{layout} {a}")


def test_flip_by_sample(oracle):
    xs = [np.arange(24, dtype=np.uint8).reshape(2, 4, 3) + i for i in range(4)]
    h, v = [0, 1, 0, 1], [0, 0, 1, 1]
    got = fn.flip(xs, horizontal=penstock.per_sample(h), vertical=penstock.per_sample(v))
    per_sample = lambda values: {"per_sample": [np.int32(k) for k in values]}
    for i, e in enumerate(oracle.call("flip", xs, layout="HWC", horizontal=per_sample(h), vertical=per_sample(v))):
        np.testing.assert_array_equal(got.at(i), e)
    with pytest.raises(TypeError, match="layout"):
        fn.flip(laid_out(xs[0], "FGC"))


@given(seeds)
def test_erase_is_the_reference_and_dali(oracle, seed):
    pick = random.Random(seed)
    layout = pick.choice(["HWC", "CHW", "FHWC"])
    x = random_sample(pick, layout, pick.choice(["uint8", "int16", "float32"]), extents=[2, 5, 9, 24])
    axes = pick.sample([i for i, c in enumerate(layout) if c in "HW"], pick.randint(1, 2))
    k = len(axes) * pick.randint(1, 3)
    flags = {f: pick.random() < 0.5 for f in ("normalized_anchor", "normalized_shape", "centered_anchor")}
    single = lambda low, high: [float(np.float32(pick.uniform(low, high))) for _ in range(k)]
    anchor, shape = single(-0.2, 1), single(0, 0.7)
    if not flags["normalized_anchor"]:
        anchor = [20 * v for v in anchor]
    if not flags["normalized_shape"]:
        shape = [12 * v for v in shape]
    anchor, shape = ([float(np.float32(v)) for v in values] for values in (anchor, shape))
    channel = layout.index("C")
    fill = [float(pick.randrange(99)) for _ in range(x.shape[channel] if pick.random() < 0.5 else 1)]
    a = dict(anchor=anchor, shape=shape, fill_value=fill, **flags)
    names = "".join(layout[i] for i in axes)
    got = fn.erase(laid_out(x, layout), axis_names=names, **a).numpy()
    np.testing.assert_array_equal(got, reference.erase(x, axes=axes, channel=channel, **a), f"{layout} {x.shape} {a}")
    np.testing.assert_array_equal(got, oracle.call("erase", [x], layout=layout, axis_names=names, **a)[0])


def test_regions_of_erase():
    x = np.zeros((6, 8, 3), np.uint8)
    image = laid_out(x, "HWC")
    y = fn.erase(image, anchor=[1, 2], shape=[2, 3], fill_value=[300, 2.5, -1]).numpy()  # y first
    assert (y[1:3, 2:5] == [255, 2, 0]).all() and y.astype(int).sum() == 6 * 257
    y = fn.erase(x, axes=[1], anchor=[6], shape=[9], fill_value=1)  # all rows and channels
    assert y.sum() == 6 * 2 * 3 and (y[:, 6:] == 1).all()
    np.testing.assert_array_equal(fn.erase(image).numpy(), x)
    ys = fn.erase(
        penstock.batch([x, x], layout="HWC"), anchor=penstock.per_sample([[0, 0], [5, 7]]), shape=[4, 4], fill_value=1
    )
    assert ys.at(0).sum() == 48 and ys.at(1).sum() == 3
    for bad in (
        {"anchor": [1], "shape": [1]},
        {"anchor": [1, 2]},
        {"anchor": [1, 2], "shape": [1, 1, 1, 1]},
        {"shape": [1, 1], "fill_value": [1, 2]},
        {"normalized": True, "normalized_shape": True},
    ):
        with pytest.raises(ValueError, match=r"\[erase\]"):
            fn.erase(image, **bad)
