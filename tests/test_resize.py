# SPDX-License-Identifier: Apache-2.0
"""resize, random_resized_crop and resize_crop_mirror against the float64 reference, DALI, OpenCV and Pillow."""

import random

import numpy as np
import pytest
import reference
import torch
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import DTYPES, assert_rounds_to, laid_out, random_sample

import penstock
from penstock import fn, types

LAYOUTS = ["HWC", "HWC", "CHW", "HW", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW", "FDHWC"]
FILTERS = {
    "nn": types.INTERP_NN,
    "linear": types.INTERP_LINEAR,
    "cubic": types.INTERP_CUBIC,
    "lanczos3": types.INTERP_LANCZOS3,
    "triangular": types.INTERP_TRIANGULAR,
    "gaussian": types.INTERP_GAUSSIAN,
    "box": types.INTERP_BOX,
    "hamming": types.INTERP_HAMMING,
    "area": types.INTERP_AREA,
}
seeds = st.integers(0, 2**32 - 1)


def spatial(layout):
    return [c for c in layout if c in "DHW"]


def size_arguments(pick, layout):
    number = lambda: pick.choice([1, 2, 5, 8.5, 20, 31, 64, 90.25])
    axes, way = spatial(layout), pick.randrange(4)
    if way == 0:
        a = {"size": [number() * pick.choice([1, 1, 1, 0, -1]) for _ in axes]}
    elif way == 1:
        names = [f"resize_{'zyx'['DHW'.index(c)]}" for c in axes]
        a = {n: number() for n in names if pick.random() < 0.7} or {names[-1]: number()}
    else:
        a = {"resize_shorter" if way == 2 else "resize_longer": number()}
    if way < 2:
        a["mode"] = pick.choice(["default", "stretch", "not_larger", "not_smaller"])
    if pick.random() < 0.3:
        a["max_size"] = pick.choice([30, 50.5])
    if pick.random() < 0.4:
        a |= {
            "roi_start": [pick.random() for _ in axes],
            "roi_end": [pick.random() for _ in axes],
            "roi_relative": True,
        }
    return a | ({"subpixel_scale": False} if pick.random() < 0.3 else {})


def in_float32(arguments):
    return {k: [float(np.float32(e)) for e in v] if isinstance(v, list) else v for k, v in arguments.items()}


def small(x, layout, arguments):
    extents = [x.shape[layout.index(c)] for c in spatial(layout)]
    return np.prod([float(n) for *_, n in reference.resize_geometry(extents, **in_float32(arguments))]) < 1e5


@given(seeds)
def test_resize_is_the_reference(seed):
    pick = random.Random(seed)
    layout, dtype, out = (
        pick.choice(LAYOUTS),
        pick.choice(DTYPES),
        pick.choice([None, None, "float32", "uint8", "float64"]),
    )
    x, name, antialias = random_sample(pick, layout, dtype), pick.choice(list(FILTERS)), pick.random() < 0.7
    arguments = size_arguments(pick, layout)
    if not small(x, layout, arguments):
        return
    y = fn.resize(
        laid_out(x, layout),
        interp_type=FILTERS[name],
        antialias=antialias,
        **arguments,
        **({"dtype": out} if out else {}),
    )
    assert y.layout() == layout
    exact = reference.resize(x, layout=layout, interp_type=name, antialias=antialias, **in_float32(arguments))
    assert y.numpy().dtype == np.dtype(out or dtype)
    assert_rounds_to(y.numpy(), exact, x, f"{layout} {x.shape} {dtype} {name} {antialias} {arguments}")


@given(seeds)
def test_resize_is_dali(oracle, seed):
    pick = random.Random(seed)
    layout, dtype = pick.choice(["HWC", "CHW", "FHWC", "DHWC"]), pick.choice(["uint8", "int16", "uint16", "float32"])
    name = pick.choice(["linear", "cubic", "lanczos3", "triangular"])  # nearest and gaussian differ in known ways
    x, arguments, antialias = random_sample(pick, layout, dtype), size_arguments(pick, layout), pick.random() < 0.7
    if not small(x, layout, arguments):
        return
    y = fn.resize(laid_out(x, layout), interp_type=FILTERS[name], antialias=antialias, **arguments).numpy()
    d = oracle.call(
        "resize", [x], layout=layout, interp_type="INTERP_" + name.upper(), antialias=antialias, **arguments
    )[0]
    assert y.shape == d.shape
    largest = 1.0 if dtype == "float32" else float(np.iinfo(dtype).max)
    # DALI's coordinates are float32 (a few units of 4e-6 at 70), and it takes the other kernels from tables.
    limit = largest * (4e-5 if name in ("linear", "triangular") else 3e-3)
    step = np.abs(y.astype(np.float64) - d)
    assert step.max() <= limit + (dtype != "float32"), (step.max(), layout, x.shape, dtype, name, antialias, arguments)


@pytest.mark.parametrize("minimal, magnifying", [("cubic", "nn"), ("gaussian", "linear"), ("nn", "lanczos3")])
def test_min_and_mag_filters_are_chosen_per_axis(minimal, magnifying):
    x = random_sample(random.Random(1), "HWC", "float32", extents=(33,))
    y = fn.resize(x, size=[20, 50], min_filter=FILTERS[minimal], mag_filter=FILTERS[magnifying])
    assert_rounds_to(y, reference.resize(x, size=[20, 50], min_filter=minimal, mag_filter=magnifying), x)


def test_arguments_per_sample():
    xs = [random_sample(random.Random(i), "HWC", "uint8", channels=(3,), extents=(16, 33, 70)) for i in range(4)]
    sizes, kinds = [[10, 20], [70, 5], [33, 33], [1, 90]], ["nn", "cubic", "linear", "gaussian"]
    out = fn.resize(
        xs,
        size=penstock.per_sample([np.float32(s) for s in sizes]),
        interp_type=penstock.per_sample([np.int32(FILTERS[k]) for k in kinds]),
    )
    for x, size, kind, y in zip(xs, sizes, kinds, out):
        assert_rounds_to(y.numpy(), reference.resize(x, size=size, interp_type=kind), x, kind)


def test_the_same_size_is_the_identity():
    x = random_sample(random.Random(3), "HWC", "uint8", extents=(33,))
    for name, kind in FILTERS.items():
        np.testing.assert_array_equal(fn.resize(x, size=x.shape[:2], interp_type=kind), x, name)
    np.testing.assert_array_equal(fn.resize(x, size=[-33, 33], interp_type=FILTERS["linear"]), x[::-1])


def test_nearest_copies_every_type_exactly():
    for dtype in [*DTYPES, "bool"]:
        x = random_sample(random.Random(4), "HWC", dtype, channels=(3,), extents=(33,))
        if np.dtype(dtype).kind in "iu":
            x[0, 0, 0], x[-1, -1, -1] = np.iinfo(dtype).max, np.iinfo(dtype).min
        exact = x[np.floor((np.arange(70) + 0.5) * 33 / 70).astype(int)][
            :, np.floor((np.arange(20) + 0.5) * 33 / 20).astype(int)
        ]
        np.testing.assert_array_equal(fn.resize(x, size=[70, 20], interp_type=types.INTERP_NN), exact)


def test_many_channels_and_no_samples():
    x = random_sample(random.Random(5), "HWC", "uint8", channels=(130,), extents=(7, 16))
    assert_rounds_to(fn.resize(x, size=[9, 11]), reference.resize(x, size=[9, 11]), x)
    x = random_sample(random.Random(5), "CHW", "uint8", channels=(130,), extents=(7, 16))
    y = fn.resize(laid_out(x, "CHW"), size=[9, 11]).numpy()
    assert_rounds_to(y, reference.resize(x, layout="CHW", size=[9, 11]), x)
    assert fn.resize(np.zeros((0, 5, 3), np.uint8), size=[4, 4]).shape == (0, 4, 3)


def test_many_taps():
    x = random_sample(random.Random(6), "HWC", "uint8", channels=(3,), extents=(900,))
    for name in ("triangular", "lanczos3"):
        y = fn.resize(x, size=[3, 5], interp_type=FILTERS[name], dtype="float32")
        assert_rounds_to(y, reference.resize(x, size=[3, 5], interp_type=name), x)


def test_opencv_agrees_on_enlarging():
    cv2 = pytest.importorskip("cv2")
    x = random_sample(random.Random(7), "HWC", "float32", channels=(3,), extents=(33,))
    for size in ([70, 90], [33, 40], [200, 34]):
        y = fn.resize(x, size=size, interp_type=types.INTERP_LINEAR)
        np.testing.assert_allclose(y, cv2.resize(x, size[::-1], interpolation=cv2.INTER_LINEAR), atol=1e-5)
    x = random_sample(random.Random(7), "HWC", "uint8", channels=(3,), extents=(33,))
    y = fn.resize(x, size=[70, 90], interp_type=types.INTERP_LINEAR).astype(int)
    assert np.abs(y - cv2.resize(x, (90, 70), interpolation=cv2.INTER_LINEAR)).max() <= 1


@pytest.mark.parametrize("name, pillow", [("triangular", "BILINEAR"), ("cubic", "BICUBIC"), ("lanczos3", "LANCZOS")])
def test_pillow_agrees_inside(name, pillow):
    """At the edges Pillow drops what is outside the image; here, as in DALI, the edge is repeated."""
    from PIL import Image

    x = random_sample(random.Random(8), "HWC", "uint8", channels=(3,), extents=(70,))
    for size in ([20, 31], [30, 90], [100, 100]):
        y = fn.resize(x, size=size, interp_type=FILTERS[name], dtype=types.FLOAT)
        planes = [
            Image.fromarray(x[..., c].astype(np.float32)).resize(size[::-1], getattr(Image, pillow)) for c in range(3)
        ]
        inside = np.s_[5:-5, 5:-5]
        np.testing.assert_allclose(y[inside], np.stack([np.asarray(p) for p in planes], -1)[inside], atol=0.01)


@given(seeds)
def test_without_an_edge_resize_is_pillow(seed):
    from PIL import Image

    pick = random.Random(seed)
    x = random_sample(pick, "HW", "float32", extents=(1, 2, 7, 33, 70))
    filters = ["linear BILINEAR", "cubic BICUBIC", "lanczos3 LANCZOS", "box BOX", "hamming HAMMING"]
    name, pillow = pick.choice(filters).split()
    x = np.clip(x, -1e4, 1e4)
    size = [pick.choice([1, 3, 20, 31, 90, 200]) for _ in "HW"]
    y = fn.resize(laid_out(x, "HW"), size=size, interp_type=FILTERS[name], outside="cut").numpy()
    exact = np.asarray(Image.fromarray(x).resize(size[::-1], getattr(Image, pillow)))
    np.testing.assert_allclose(y, exact, atol=1e-5 * max(1.0, np.abs(x).max()), err_msg=f"{x.shape} {size} {name}")


@given(seeds)
def test_weights_of_16_bits_are_those_of_torch(seed):
    """One axis at a time: torch rounds to bytes between them, halves up."""
    pick = random.Random(seed)
    x = np.random.default_rng(seed).integers(0, 256, [pick.choice([1, 2, 33, 170, 400]) for _ in "HW"] + [3], np.uint8)
    name, mode = pick.choice([("linear", "bilinear"), ("cubic", "bicubic")])
    axis, size = pick.randrange(2), pick.choice([1, 3, 20, 31, 90, 200])
    y = fn.resize(
        laid_out(x, "HWC"),
        **{f"resize_{'yx'[axis]}": size},
        mode="stretch",
        interp_type=FILTERS[name],
        outside="cut",
        weights="int16",
        dtype="float32",
    ).numpy()
    y = np.clip(np.floor(y + 0.5), 0, 255)
    planes = torch.from_numpy(x).permute(2, 0, 1)[:, None].contiguous()  # torch asserts on one pixel of three channels
    sizes = [size if a == axis else x.shape[a] for a in range(2)]
    exact = torch.nn.functional.interpolate(planes, sizes, mode=mode, antialias=True)[:, 0].permute(1, 2, 0).numpy()
    apart = np.abs(y - exact)
    shrinks = x.shape[axis] > 4 * size  # then weights have more bits than a sum in float32 keeps
    assert apart.max(initial=0) <= shrinks and apart.sum() <= 1 + 1e-4 * apart.size, (x.shape, sizes, name, apart.sum())


def test_weights_are_one_of_two():
    with pytest.raises(ValueError, match="weights must be 'float32' or 'int16', got 'int8'"):
        fn.resize(np.zeros((4, 4, 3), np.uint8), size=[2, 2], weights="int8")


def test_outside_is_one_of_two():
    with pytest.raises(ValueError, match="outside must be 'repeat' or 'cut', got 'edge'"):
        fn.resize(np.zeros((4, 4, 3), np.uint8), size=[2, 2], outside="edge")


@given(seeds)
def test_random_resized_crop_resizes_a_window(seed):
    pick = random.Random(seed)
    layout, dtype = pick.choice(["HWC", "CHW", "FHWC", "HW"]), pick.choice(["uint8", "float32"])
    x, size = random_sample(pick, layout, dtype, extents=(16, 33, 70)), [pick.choice([1, 8, 20, 50]) for _ in "HW"]
    h, w = (x.shape[layout.index(c)] for c in "HW")
    y = fn.random_resized_crop(laid_out(x, layout), size=size, seed=seed % 1000).numpy()
    # The window is known from what a picture of coordinates becomes.
    rows, columns = np.mgrid[:h, :w].astype(np.float32)
    grid = fn.random_resized_crop(
        np.stack([rows, columns], -1), size=[h, w], interp_type=types.INTERP_NN, seed=seed % 1000
    )
    y0, x0 = int(grid[0, 0, 0]), int(grid[0, 0, 1])
    y1, x1 = int(grid[-1, 0, 0]) + 1, int(grid[0, -1, 1]) + 1
    assert 0 <= y0 < y1 <= h and 0 <= x0 < x1 <= w
    windows = [
        (a, b, c - a, d - b) for a in (y0 - 1, y0) for b in (x0 - 1, x0) for c in (y1, y1 + 1) for d in (x1, x1 + 1)
    ]
    fits = [
        np.abs(y - reference.random_resized_crop(x, layout=layout, window=v, size=size)).max()
        for v in windows
        if min(v) >= 0
    ]
    assert min(fits) <= (0.501 if dtype == "uint8" else 1e-5)


def test_windows_of_random_resized_crop_follow_area_and_ratio():
    rows, columns = np.mgrid[:200, :300].astype(np.float32)
    grid = np.stack([rows, columns], -1)
    areas, ratios = [], []
    for seed in range(300):
        y = fn.random_resized_crop(
            grid,
            size=[200, 300],
            random_area=[0.2, 0.5],
            random_aspect_ratio=[0.5, 2.0],
            interp_type=types.INTERP_NN,
            seed=seed,
        )
        h, w = y[-1, 0, 0] - y[0, 0, 0] + 1, y[0, -1, 1] - y[0, 0, 1] + 1
        areas.append(h * w / 60000), ratios.append(w / h)
        assert 0.19 <= areas[-1] <= 0.51 and 0.48 <= ratios[-1] <= 2.1
    assert abs(np.mean(areas) - 0.35) < 0.02 and abs(np.mean(np.log(ratios))) < 0.1 and len(set(areas)) > 200


@given(seeds)
def test_resize_crop_mirror_is_resize_then_crop_then_flip(seed):
    pick = random.Random(seed)
    layout, mirror = pick.choice(["HWC", "CHW", "FHWC", "DHWC"]), pick.randrange(8)
    x, axes = laid_out(random_sample(pick, layout, pick.choice(["uint8", "float32"])), layout), spatial(layout)
    size, crop = [pick.choice([20, 33, 64]) for _ in axes], [pick.choice([0, 1, 5, 20]) for _ in axes]
    position = {f"crop_pos_{c}": pick.random() for c in "xyz"}
    y = fn.resize_crop_mirror(x, size=size, crop=crop, mirror=mirror, **position)
    z = fn.crop(fn.resize(x, size=size), crop=crop, **position)
    z = fn.flip(z, horizontal=mirror & 1, vertical=mirror & 2, depthwise=mirror & 4)
    assert y.layout() == layout
    np.testing.assert_array_equal(y.numpy(), z.numpy())


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "one way"),
        ({"size": [4, 4], "resize_shorter": 3}, "one way"),
        ({"size": [4, 4, 4]}, "size must have 1 or 2"),
        ({"size": [4, 4], "mode": "fit"}, "mode must be"),
        ({"resize_shorter": 4, "mode": "stretch"}, "mode='stretch'"),
        ({"size": [4, 4], "roi_start": [0, 0]}, "together"),
        ({"size": [4, 4], "interp_type": 10}, "interp_type must be"),
        ({"size": [float("nan"), 4]}, "size must be a number"),
        ({"size": [float("inf"), 4]}, "finite"),
        ({"size": [1e12, 4]}, "too large"),
        ({"size": [4, 4], "max_size": [1, 2, 3]}, "max_size"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=rf"\[resize\].*{message}"):
        fn.resize(np.zeros((5, 6, 3), np.uint8), **arguments)


def test_wrong_random_resized_crops_are_named():
    x = np.zeros((5, 6, 3), np.uint8)
    assert fn.random_resized_crop(x, size=[4]).shape == (4, 4, 3)  # one value is the side of a square
    for arguments in (
        {"size": [4, 4, 4]},
        {"size": [0, 4]},
        {"size": [4, 4], "random_area": [0.5, 0.1]},
        {"size": [4, 4], "random_aspect_ratio": [0, 1]},
        {"size": [4, 4], "num_attempts": 0},
    ):
        with pytest.raises(ValueError, match=r"\[random_resized_crop\] " + [*arguments][-1]):
            fn.random_resized_crop(x, **arguments)
    with pytest.raises(TypeError, match="volumes"):
        fn.random_resized_crop(laid_out(x[None], "DHWC"), size=[4, 4])
    with pytest.raises(TypeError, match="H and W"):
        fn.resize(laid_out(x, "XYC"), size=[4, 4])
