# SPDX-License-Identifier: Apache-2.0
"""crop and crop_mirror_normalize against the float64 reference and DALI."""

import random

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import DTYPES, assert_rounds_to, laid_out, random_sample

import penstock
from penstock import fn

LAYOUTS = ["HWC", "HWC", "CHW", "FHWC", "DHWC", "FDHWC", "CFHW", "CDHW"]
seeds = st.integers(0, 2**32 - 1)


def window_arguments(pick, layout, channels):
    axes = [c for c in layout if c in "DHW"]
    position = [float(np.float32(pick.random())) for _ in axes]
    arguments = {
        "crop": [pick.choice([0, 1, 2, 5, 16.7, 40]) for _ in axes],
        "rounding": pick.choice(["round", "truncate"]),
        "out_of_bounds_policy": pick.choice(["error", "constant", "pad", "trim_to_shape"]),
        "fill_values": pick.choice([[0.0], [1.0], [float(i) for i in range(channels)]]),
    }
    return arguments, position, {f"crop_pos_{'zyx'['DHW'.index(c)]}": p for c, p in zip(axes, position)}


def exact_or_none(function, *inputs, **arguments):
    """The reference's result; None if the window leaves the image, which is an error."""
    try:
        return function(*inputs, **arguments)
    except IndexError:
        return None


@given(seeds)
def test_crop_is_the_reference(seed):
    pick = random.Random(seed)
    layout, dtype, out = pick.choice(LAYOUTS), pick.choice([*DTYPES, "bool"]), pick.choice([None, None, *DTYPES])
    x = random_sample(pick, layout, dtype)
    arguments, position, named = window_arguments(pick, layout, x.shape[layout.index("C")])
    exact = exact_or_none(reference.crop, x, layout=layout, crop_pos=position, **arguments)
    call = lambda: fn.crop(laid_out(x, layout), **arguments, **named, **({"dtype": out} if out else {}))
    if exact is None:
        with pytest.raises(ValueError, match=r"\[crop\] the window .* extends beyond the"):
            call()
        return
    y = call()
    assert y.layout() == layout
    np.testing.assert_array_equal(y.numpy(), reference.to_dtype(exact, out or dtype), f"{layout} {x.shape} {arguments}")


@given(seeds)
def test_crop_is_dali(oracle, seed):
    pick = random.Random(seed)
    layout, dtype = pick.choice(["HWC", "CHW", "FHWC", "DHWC"]), pick.choice(["uint8", "int16", "float32", "int64"])
    x = random_sample(pick, layout, dtype)
    arguments, position, named = window_arguments(pick, layout, x.shape[layout.index("C")])
    if exact_or_none(reference.crop, x, layout=layout, crop_pos=position, **arguments) is None:
        return
    d = oracle.call("crop", [x], layout=layout, **arguments, **named)[0]
    np.testing.assert_array_equal(fn.crop(laid_out(x, layout), **arguments, **named).numpy(), d)


def test_single_axes_and_per_sample_windows():
    xs = [random_sample(random.Random(i), "HWC", "uint8", channels=(3,), extents=(33, 70)) for i in range(3)]
    widths, places = [5, 30, 33], [0.0, 0.3, 1.0]
    out = fn.crop(xs, crop_w=penstock.per_sample(widths), crop_h=20, crop_pos_x=penstock.per_sample(places))
    for x, w, p, y in zip(xs, widths, places, out):
        np.testing.assert_array_equal(y.numpy(), reference.crop(x, crop=[20, w], crop_pos=[0.5, p]))
    x = xs[0]
    np.testing.assert_array_equal(fn.crop(x, crop=[9, 4, 5]), fn.crop(x, crop=[4, 5]))  # no depth: the first is omitted
    volume = laid_out(x[None].repeat(3, 0), "DHWC")
    assert fn.crop(volume, crop=[4, 5]).shape() == [3, 4, 5, 3] and fn.crop(volume, crop=[2, 4, 5]).shape() == [
        2,
        4,
        5,
        3,
    ]
    assert fn.crop(np.zeros((3, 9, 9, 2), np.uint8), crop=[2, 4, 5]).shape == (2, 4, 5, 2)  # rank 4 without a layout


def normalization(pick, layout, channels):
    order = list(layout)
    pick.shuffle(order)
    return {
        "mean": [float(np.float32(pick.random() * 100)) for _ in range(pick.choice([1, channels]))],
        "std": [float(np.float32(pick.random() * 50 + 1)) for _ in range(pick.choice([1, channels]))],
        "mirror": pick.choice([0, 1]),
        "scale": pick.choice([1.0, 2.5]),
        "shift": pick.choice([0.0, 1.5]),
        "pad_output": pick.random() < 0.3,
        "output_layout": pick.choice(["", "".join(order)]),
    }


@given(seeds)
def test_crop_mirror_normalize_is_the_reference(seed):
    pick = random.Random(seed)
    layout, dtype = (
        pick.choice(LAYOUTS),
        pick.choice(["uint8", "int8", "uint16", "int16", "float16", "float32", "bool"]),
    )
    out = pick.choice(["float32", "float32", "float16", "float64", "uint8", "int8", "int16"])
    x = random_sample(pick, layout, dtype)
    channels = x.shape[layout.index("C")]
    window, position, named = window_arguments(pick, layout, channels)
    values = normalization(pick, layout, channels)
    exact = exact_or_none(reference.crop_mirror_normalize, x, layout=layout, crop_pos=position, **window, **values)
    call = lambda: fn.crop_mirror_normalize(laid_out(x, layout), dtype=out, **window, **named, **values)
    if exact is None:
        with pytest.raises(ValueError, match=r"\[crop_mirror_normalize\] the window"):
            call()
        return
    y = call()
    assert y.layout() == (values["output_layout"] or layout) and y.numpy().dtype == out
    assert_rounds_to(
        y.numpy(), np.clip(exact, -65504, 65504) if out == "float16" else exact, x, f"{layout} {window} {values}"
    )


@given(seeds)
def test_crop_mirror_normalize_is_dali(oracle, seed):
    pick = random.Random(seed)
    layout, dtype, out = pick.choice(["HWC", "CHW", "FHWC"]), pick.choice(["uint8", "int16", "float32"]), np.float32
    x = random_sample(pick, layout, dtype)
    channels = x.shape[layout.index("C")]
    window, position, named = window_arguments(pick, layout, channels)
    values = normalization(pick, layout, channels)
    if window["out_of_bounds_policy"] in (
        "constant",
        "pad",
    ):  # all scalar or all per channel: else DALI reads beyond arrays
        window["fill_values"] = [2.0] * max(len(values["mean"]), len(values["std"]))
        # It also puts a mirrored window that reaches outside elsewhere if the values are per channel and axes permuted.
        values["pad_output"], values["mirror"] = False, 0
    if exact_or_none(reference.crop_mirror_normalize, x, layout=layout, crop_pos=position, **window, **values) is None:
        return
    y = fn.crop_mirror_normalize(laid_out(x, layout), **window, **named, **values).numpy()
    d = oracle.call("crop_mirror_normalize", [x], layout=layout, dtype=out, **window, **named, **values)[0]
    assert y.dtype == d.dtype
    np.testing.assert_allclose(y, d, rtol=1e-5, atol=1e-5 * max(1, float(np.abs(d).max(initial=0))))


def test_defaults_are_a_network_input():
    x = random_sample(random.Random(2), "HWC", "uint8", channels=(3,), extents=(33,))
    y = fn.crop_mirror_normalize(x)
    assert y.dtype == np.float32 and y.shape == (3, 33, 33)
    np.testing.assert_array_equal(y, x.transpose(2, 0, 1))
    y = fn.crop_mirror_normalize(
        [x, x],
        mean=penstock.per_sample([np.float32([1, 2, 3]), np.float32([4])]),
        std=[2.0, 4.0, 8.0],
        mirror=penstock.per_sample([1, 0]),
        output_layout="HWC",
    )
    np.testing.assert_array_equal(y[0].numpy(), ((x - np.float32([1, 2, 3])) / np.float32([2, 4, 8]))[:, ::-1])
    np.testing.assert_array_equal(y[1].numpy(), (x - np.float32(4)) / np.float32([2, 4, 8]))


@pytest.mark.parametrize(
    "operator, arguments, message",
    [
        (fn.crop, {"crop": [3]}, "crop must have 2 or 3"),
        (fn.crop, {"crop": [3, 3], "crop_w": 1.0}, "crop cannot be combined with"),
        (fn.crop, {"crop_w": 3.0}, "together"),
        (fn.crop, {"crop": [3, 3], "crop_pos_x": 1.5}, "crop_pos_x must be from 0 to 1"),
        (fn.crop, {"crop": [3, 3], "rounding": "up"}, "rounding must be"),
        (fn.crop, {"crop": [30, 3]}, "window -12 to 18"),
        (fn.crop, {"crop": [3, 3], "out_of_bounds_policy": "zero"}, "out_of_bounds_policy must be"),
        (
            fn.crop,
            {"crop": [30, 3], "out_of_bounds_policy": "pad", "fill_values": [1, 2, 3, 4]},
            "fill_values must have 1 or 3",
        ),
        (fn.crop_mirror_normalize, {"mean": [1, 2]}, "mean must have 1 or 3"),
        (fn.crop_mirror_normalize, {"std": [1, 2, 3, 4]}, "std must have 1 or 3"),
        (fn.crop_mirror_normalize, {"output_layout": "FCHW"}, "not a permutation"),
    ],
)
def test_wrong_arguments_are_named(operator, arguments, message):
    with pytest.raises(ValueError, match=message):
        operator(np.zeros((6, 7, 3), np.uint8), **arguments)


@pytest.mark.parametrize("shape", [(5, 8), (8, 5), (8, 3), (1, 8), (8, 8)])
def test_truncated_rounding_puts_an_odd_border_after_the_picture(shape):
    """As the letterbox of detectors has it: docs/examples/yolo.md."""
    got = fn.crop(
        np.full((*shape, 1), 9, np.uint8),
        crop=[8, 8],
        out_of_bounds_policy="constant",
        fill_values=[1],
        rounding="truncate",
    )
    want = np.full((8, 8, 1), 1, np.uint8)
    top, left = (8 - shape[0]) // 2, (8 - shape[1]) // 2
    want[top : top + shape[0], left : left + shape[1]] = 9
    np.testing.assert_array_equal(got, want)
