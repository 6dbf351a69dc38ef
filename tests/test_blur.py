# SPDX-License-Identifier: Apache-2.0
"""gaussian_blur against the float64 reference, DALI and OpenCV."""

import random
import subprocess
import sys

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import DTYPES, assert_rounds_to, laid_out, random_sample

import penstock
from penstock import fn, types

LAYOUTS = ["HWC", "HWC", "CHW", "HW", "FHWC", "FCHW", "DHWC", "FDHWC", "CDHW", "W", "XYZ"]
seeds = st.integers(0, 2**32 - 1)


def blur_arguments(pick, layout):
    n, ways = sum(c not in "FC" for c in layout), pick.randrange(3)
    arguments = {}
    if ways != 1:
        arguments["sigma"] = [
            float(np.float32(pick.random() * pick.choice([1, 6]) + 0.3)) for _ in range(pick.choice([1, n]))
        ]
    if ways != 0:
        arguments["window_size"] = [pick.choice([1, 3, 5, 11, 101]) for _ in range(pick.choice([1, n]))]
    return arguments


@given(seeds)
def test_blur_is_the_reference(seed):
    pick = random.Random(seed)
    layout, dtype, out = (
        pick.choice(LAYOUTS),
        pick.choice(DTYPES),
        pick.choice([None, None, "float32", "float64", "uint8"]),
    )
    x, arguments = random_sample(pick, layout, dtype), blur_arguments(pick, layout)
    y = fn.gaussian_blur(laid_out(x, layout), **arguments, **({"dtype": out} if out else {}))
    assert y.layout() == layout and y.numpy().dtype == np.dtype(out or dtype)
    assert_rounds_to(
        y.numpy(), reference.gaussian_blur(x, layout=layout, **arguments), x, f"{layout} {x.shape} {arguments}"
    )


@given(seeds)
def test_blur_is_dali(oracle, seed):
    pick = random.Random(seed)
    layout, dtype = pick.choice(["HWC", "CHW", "FHWC", "DHWC", "XYZ"]), pick.choice(["uint8", "int16", "float32"])
    x, arguments = random_sample(pick, layout, dtype), blur_arguments(pick, layout)
    d = oracle.call("gaussian_blur", [x], layout=layout, **arguments)[0]
    y = fn.gaussian_blur(laid_out(x, layout), **arguments).numpy()
    assert y.shape == d.shape and y.dtype == d.dtype
    assert np.abs(y.astype(np.float64) - d).max() <= (1e-5 if dtype == "float32" else 1)


def test_opencv_agrees():
    cv2 = pytest.importorskip("cv2")
    for dtype, limit in (("float32", 1e-5), ("uint8", 1)):
        x = random_sample(random.Random(3), "HWC", dtype, channels=(3,), extents=(70,))
        for sigma, size in ((1.5, 9), (4.0, 25)):
            y = fn.gaussian_blur(laid_out(x, "HWC"), sigma=sigma, window_size=size).numpy().astype(np.float64)
            assert (
                np.abs(y - cv2.GaussianBlur(x, (size, size), sigma, borderType=cv2.BORDER_REFLECT_101)).max() <= limit
            )


def test_samples_have_their_own_windows():
    xs = [random_sample(random.Random(i), "HWC", "float32", extents=(16, 33)) for i in range(3)]
    sigmas, sizes = [0.5, 2.0, 0.0], [0, 5, 7]
    out = fn.gaussian_blur(
        [laid_out(x[..., :1], "HWC") for x in xs],
        sigma=penstock.per_sample(sigmas),
        window_size=penstock.per_sample(sizes),
    )
    for x, sigma, size, y in zip(xs, sigmas, sizes, out):
        assert_rounds_to(y.numpy(), reference.gaussian_blur(x[..., :1], sigma=sigma, window_size=size), x)


def test_without_a_layout_every_axis_is_blurred():
    x = random_sample(random.Random(5), "XYZ", "float32", extents=(7, 16))
    y = fn.gaussian_blur(penstock.tensor(x), sigma=1.0)
    assert_rounds_to(y.numpy(), reference.gaussian_blur(x, layout="XYZ", sigma=1.0), x)
    assert y.layout() == "" and y.dtype == types.FLOAT


@pytest.mark.parametrize(
    "layout, arguments, error, message",
    [
        ("HWC", {}, ValueError, "sigma or window_size must be given"),
        ("HWC", {"window_size": -4}, ValueError, "must not be negative"),
        ("HWC", {"sigma": [0.0]}, ValueError, "positive"),
        ("HWC", {"sigma": -1.0}, ValueError, "sigma must be from 0 to"),
        ("HWC", {"sigma": [1, 2, 3]}, ValueError, "sigma must have 1 or 2"),
        ("HCW", {"sigma": 1.0}, TypeError, "C before or after them"),
        ("HFW", {"sigma": 1.0}, TypeError, "F must come before the axes"),
        ("HWC", {"sigma": float("nan")}, ValueError, "sigma must be"),
    ],
)
def test_wrong_arguments_are_named(layout, arguments, error, message):
    with pytest.raises(error, match=rf"\[gaussian_blur\].*{message}"):
        fn.gaussian_blur(laid_out(np.zeros((5, 6, 3), np.uint8), layout), **arguments)


def test_pictures_without_a_layout_are_pointed_out():
    program = """if 1:
        import numpy as np, penstock, warnings
        from penstock import fn
        picture = np.zeros((9, 8, 3), np.uint8)
        for x, count in ((penstock.tensor(picture, "HWC"), 0), (np.zeros((9, 8, 5)), 0), (picture, 1), (picture, 0)):  # said once
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                fn.gaussian_blur(x, window_size=3)
            assert len(said) == count and all('penstock.tensor(x, "HWC")' in str(w.message) for w in said), (x.shape, said)"""
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(ValueError, match="must have 1 or 3 values, got 2; without a layout all axes are convolved"):
        fn.gaussian_blur(np.zeros((9, 8, 5)), sigma=[1, 1])
