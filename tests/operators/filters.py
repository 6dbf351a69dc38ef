# SPDX-License-Identifier: Apache-2.0
"""Thresholds, morphology, bilateral filters and what chooses among channels and elements: the references, random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.blur import gaussian_window
from operators.box_blur import box_blur
from operators.draws import number
from operators.geometry import border_index
from operators.picture_draws import of_axes, per_sample, pictures, some

NARROW = ["uint8", "int8", "uint16", "int16", "float16", "float32"]
IMAGES = ["HWC", "CHW", "HW", "FHWC"]
ONE_CHANNEL = ["HW", "FHW"]
BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]


def threshold(x, *, threshold, max_value=255.0, mode="binary"):
    if x.dtype.kind in "iu":
        threshold = np.floor(threshold)
    v = x.astype(np.float64)
    above, below = {
        "binary": (max_value, 0.0),
        "binary_inv": (0.0, max_value),
        "trunc": (threshold, v),
        "tozero": (v, 0.0),
        "tozero_inv": (0.0, v),
    }[mode]
    return np.where(v > threshold, above, below)


def otsu(plane):
    counts = np.bincount(plane.ravel(), minlength=2).astype(np.float64)
    number, total = np.cumsum(counts), np.cumsum(counts * np.arange(len(counts)))
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = total / number - (total[-1] - total) / (number[-1] - number)
        between = np.nan_to_num(number * (number[-1] - number) * apart**2, posinf=0.0)
    return int(between.argmax())


def triangle(plane):
    counts = np.bincount(plane.ravel(), minlength=256).astype(np.int64)
    some_of = np.flatnonzero(counts)
    first, last, peak = max(some_of[0] - 1, 0), min(some_of[-1] + 1, 255), int(counts.argmax())
    turned = peak - first < last - peak
    if turned:
        counts, first, peak = counts[::-1], 255 - last, 255 - peak
    slope = np.arange(first + 1, peak + 1)
    below = counts[peak] * slope - (peak - first) * counts[slope]
    at = (int(slope[below.argmax()]) if below.size and below.max() > 0 else first) - 1
    return 255 - at if turned else at


def find_threshold(x, layout, *, method="otsu"):
    one = {"otsu": otsu, "triangle": triangle}[method]
    x = x.reshape([n for n, k in zip(x.shape, layout) if k != "C"])
    return np.float32([one(p) for p in x]) if "F" in layout else np.float32(one(x))


def adaptive_threshold(x, layout, *, block_size=3, offset=0.0, max_value=255.0, method="mean", mode="binary"):
    if method == "mean":
        mean = np.rint(box_blur(x, layout, (block_size, block_size), "replicate"))
    else:
        small = {3: [1, 2, 1], 5: [1, 4, 6, 4, 1], 7: [2, 7, 14, 18, 14, 7, 2]}
        w = np.asarray(small[block_size]) if block_size in small else gaussian_window(0, block_size)
        w = np.float32(w / w.sum()).astype(np.float64)
        mean = x.astype(np.float64)
        for axis in of_axes(layout):
            n = x.shape[axis]
            taps = border_index(np.arange(n)[:, None] + np.arange(block_size) - block_size // 2, n, "edge")
            mean = np.moveaxis(np.moveaxis(mean, axis, -1)[..., taps] @ w, -1, axis)
        mean = np.rint(mean)
    inverse = mode == "binary_inv"
    above = x + (np.floor(offset) if inverse else np.ceil(offset)) > mean
    return np.where(above != inverse, max_value, 0.0)


def composite(foreground, background, mask):
    alpha = mask.astype(np.float64) / (255 if mask.dtype == np.uint8 else 1)
    background = background.astype(np.float64)
    return background + (foreground.astype(np.float64) - background) * alpha


def rectangle(x, layout, size, anchor, border, function, nothing):
    """The least or greatest elements under a rectangle; outside a constant border is nothing."""
    axes = of_axes(layout)
    for axis, n, at in zip(axes, reversed(size), reversed(anchor)):
        extent = x.shape[axis]
        taps = np.arange(extent)[:, None] + np.arange(n) - (n // 2 if at < 0 else at)
        name = {"replicate": "edge"}.get(border, border)
        inside = (taps >= 0) & (taps < extent)
        taken = x.take(np.where(inside, taps, 0) if name == "constant" else border_index(taps, extent, name), axis)
        if name == "constant":
            taken = np.where(inside.reshape([*taps.shape, *[1] * (x.ndim - axis - 1)]), taken, nothing)
        x = function(taken, axis + 1)
    return x


def morphology(x, layout, *, operation="open", mask_size=(3, 3), anchor=(-1, -1), iterations=1, border_mode="constant"):
    def erode(v):
        return rectangle(v, layout, mask_size, anchor, border_mode, np.min, np.inf)

    def dilate(v):
        return rectangle(v, layout, mask_size, anchor, border_mode, np.max, -np.inf)

    def again(function, v):
        for _ in range(iterations):
            v = function(v)
        return v

    v = x.astype(np.float64)
    opened = lambda: again(dilate, again(erode, v))
    closed = lambda: again(erode, again(dilate, v))
    return {
        "open": opened,
        "close": closed,
        "gradient": lambda: again(dilate, v) - again(erode, v),
        "tophat": lambda: v - opened(),
        "blackhat": lambda: closed() - v,
    }[operation]()


def joint_bilateral(x, guide, layout, guide_layout, diameter, sigma_color, sigma_space, border_mode):
    """Channels last inside."""
    reach = max(1, diameter // 2 if diameter else int(np.rint(1.5 * sigma_space)))

    def last(v, letters):
        v = v.astype(np.float64)
        v = np.moveaxis(v, letters.index("C"), -1) if "C" in letters else v[..., None]
        return v if "F" in letters else v[None]

    def moved(v, dy, dx):
        for axis, by in ((1, dy), (2, dx)):
            n = v.shape[axis]
            at = np.arange(n) + by
            inside = (at >= 0) & (at < n)
            if border_mode == "constant":
                v = v.take(np.where(inside, at, 0), axis) * inside.reshape([-1] + [1] * (v.ndim - axis - 1))
            else:
                v = v.take(border_index(at, n, {"replicate": "edge"}.get(border_mode, border_mode)), axis)
        return v

    image, other = last(x, layout), last(guide, guide_layout)
    sums, weights = np.zeros(image.shape), 0.0
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if dy * dy + dx * dx > reach * reach:
                continue
            differs = np.abs(moved(other, dy, dx) - other).sum(-1, keepdims=True)
            weight = np.exp(-(dy * dy + dx * dx) / (2 * sigma_space**2) - differs**2 / (2 * sigma_color**2))
            sums, weights = sums + weight * moved(image, dy, dx), weights + weight
    out = sums / weights
    out = out if "F" in layout else out[0]
    return np.moveaxis(out, -1, layout.index("C")) if "C" in layout else out[..., 0]


def bilateral_filter(x, layout, *, diameter=0, sigma_color=1.0, sigma_space=1.0, border_mode="reflect_101"):
    return joint_bilateral(x, x, layout, layout, diameter, sigma_color, sigma_space, border_mode)


def joint_bilateral_filter(
    x, guide, layouts, *, diameter=0, sigma_color=1.0, sigma_space=1.0, border_mode="reflect_101"
):
    return joint_bilateral(x, guide, *layouts, diameter, sigma_color, sigma_space, border_mode)


def min_max_loc(x, layout):
    """The first of the four results; tests/test_filters.py compares all."""
    return x.min(tuple(i for i, k in enumerate(layout) if k != "F")) if x.size else x


def channel_reorder(x, layout, *, order):
    return x.take(order, layout.index("C"))


def draw_threshold(draw):
    xs, layout, dtype = pictures(draw, IMAGES, NARROW)
    level = number(-1.5, 1.5) if dtype[0] == "f" else number(-20, 300)
    constants, each, at = per_sample(draw, len(xs), "threshold", level)
    modes = ["binary", "binary_inv", "trunc", "tozero", "tozero_inv"]
    more = some(draw, max_value=number(-10, 300), mode=st.sampled_from(modes))
    return Case(
        [xs],
        [layout],
        {**constants, **more},
        each,
        dtype=dtype,
        error=0.0 if dtype != "float16" else 1e-5,
        largest=300.0,
        expected=lambda i: threshold(xs[i], **at(i), **more),
    )


def draw_find_threshold(draw):
    method = draw(st.sampled_from(["otsu", "triangle"]))
    kinds = ["uint8", "uint16"] if method == "otsu" else ["uint8"]
    xs, layout, dtype = pictures(draw, [*ONE_CHANNEL, "HWC", "CHW"], kinds, channels=1)
    return Case(
        [xs],
        [layout],
        {"method": method},
        dtype="float32",
        error=0.0,
        expected=lambda i: find_threshold(xs[i], layout, method=method),
    )


def draw_adaptive_threshold(draw):
    xs, layout, dtype = pictures(draw, IMAGES, ["uint8"])
    constants, each, at = per_sample(draw, len(xs), "block_size", st.integers(1, 8).map(lambda k: 2 * k + 1))
    more = some(draw, offset=number(-20, 20), max_value=number(0, 300), mode=st.sampled_from(["binary", "binary_inv"]))
    more |= some(draw, method=st.sampled_from(["mean", "gaussian"]))
    return Case(
        [xs],
        [layout],
        {**constants, **more},
        each,
        dtype=dtype,
        error=0.0,
        expected=lambda i: adaptive_threshold(xs[i], layout, **at(i), **more),
    )


def draw_composite(draw):
    fronts, layout, dtype = pictures(draw, ["HWC", "HW", "FHWC"], NARROW)
    seed, kind = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from(["uint8", "bool", "float32"]))
    one, whole = draw(st.booleans()) and layout != "HW", draw(st.booleans())
    backs = [values(dtype, x.shape if whole else x.shape[-1:], seed + i) for i, x in enumerate(fronts)]
    masks = [values(kind, (*x.shape[:-1], 1) if one else x.shape, seed + 9 + i) for i, x in enumerate(fronts)]
    if kind == "float32":
        masks = [np.abs(np.sin(m)) for m in masks]
    return Case(
        [fronts, backs, masks],
        [layout, layout if whole else "", layout],
        dtype=dtype,
        expected=lambda i: composite(fronts[i], backs[i], masks[i]),
    )


def draw_morphology(draw):
    xs, layout, dtype = pictures(draw, IMAGES)
    operations = ["open", "close", "gradient", "tophat", "blackhat"]
    more = {"operation": draw(st.sampled_from(operations))}
    more |= some(draw, iterations=st.integers(0, 2), border_mode=st.sampled_from(BORDERS))
    sizes = st.tuples(st.integers(1, 5), st.integers(1, 5)).map(list)
    constants, each, at = per_sample(draw, len(xs), "mask_size", sizes)
    return Case(
        [xs],
        [layout],
        {**constants, **more},
        each,
        dtype=dtype,
        error=0.0 if dtype not in ("float16", "float32") else 1e-6,
        expected=lambda i: morphology(xs[i], layout, **at(i), **more),
    )


def bilateral_arguments(draw, count, dtype):
    constants, each, at = per_sample(draw, count, "diameter", st.integers(0, 7))
    most = 100 if dtype[0] != "f" else 3
    more = {"sigma_color": draw(number(0.5, most)), "sigma_space": draw(number(0.5, 4))}
    more |= some(draw, border_mode=st.sampled_from(BORDERS))
    return constants, each, at, more


def draw_bilateral_filter(draw):
    xs, layout, dtype = pictures(draw, IMAGES, NARROW, channels=draw(st.sampled_from([1, 3, 4])))
    constants, each, at, more = bilateral_arguments(draw, len(xs), dtype)
    return Case(
        [xs],
        [layout],
        {**constants, **more},
        each,
        dtype=dtype,
        error=4e-5,
        expected=lambda i: bilateral_filter(xs[i], layout, **at(i), **more),
    )


def draw_joint_bilateral_filter(draw):
    xs, layout, dtype = pictures(draw, IMAGES, NARROW, channels=draw(st.sampled_from([1, 3, 4])))
    channels, seed = draw(st.sampled_from([1, 3, 4])), draw(st.integers(0, 2**32 - 1))
    guide_layout = "FHWC" if "F" in layout else draw(st.sampled_from(["HWC", "CHW"]))
    extents = [dict(zip(layout, x.shape)) | {"C": channels} for x in xs]
    guides = [values(dtype, [e[k] for k in guide_layout], seed + i) for i, e in enumerate(extents)]
    constants, each, at, more = bilateral_arguments(draw, len(xs), dtype)
    return Case(
        [xs, guides],
        [layout, guide_layout],
        {**constants, **more},
        each,
        dtype=dtype,
        error=4e-5,
        expected=lambda i: joint_bilateral_filter(xs[i], guides[i], (layout, guide_layout), **at(i), **more),
    )


def draw_min_max_loc(draw):
    xs, layout, dtype = pictures(draw, [*ONE_CHANNEL, "HWC", "CHW"], channels=1)
    return Case([xs], [layout], dtype=dtype, error=0.0, expected=lambda i: min_max_loc(xs[i], layout))


def draw_channel_reorder(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "FHWC", "FCHW"], channels=draw(st.integers(1, 5)))
    count = xs[0].shape[layout.index("C")]
    orders = st.lists(st.integers(0, count - 1), min_size=3, max_size=3)
    constants, each, at = per_sample(draw, len(xs), "order", orders)
    return Case(
        [xs],
        [layout],
        constants,
        each,
        dtype=dtype,
        error=0.0,
        expected=lambda i: channel_reorder(xs[i], layout, **at(i)),
    )


CASES = {name[5:]: function for name, function in list(globals().items()) if name.startswith("draw_")}
