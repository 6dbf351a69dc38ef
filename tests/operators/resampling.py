# SPDX-License-Identifier: Apache-2.0
"""Operators that resample: the references and random calls."""

import math

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import FLOATS, images, number, of
from operators.exact import along_axis, listed, round_away, spatial_axes
from operators.geometry import crop as cropped
from operators.geometry import flip

_KERNEL = {
    "linear": (1, lambda t: np.maximum(0, 1 - np.abs(t))),
    "triangular": (1, lambda t: np.maximum(0, 1 - np.abs(t))),
    "gaussian": (1, lambda t: np.where(np.abs(t) < 1, np.exp(-4 * t * t), 0)),
    "cubic": (
        2,
        lambda t: np.where(
            np.abs(t) <= 1,
            1.5 * np.abs(t) ** 3 - 2.5 * t * t + 1,
            np.where(np.abs(t) < 2, -0.5 * np.abs(t) ** 3 + 2.5 * t * t - 4 * np.abs(t) + 2, 0),
        ),
    ),
    "lanczos3": (3, lambda t: np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0)),
    "box": (0.5, lambda t: np.where((t > -0.5) & (t <= 0.5), 1.0, 0.0)),
    "hamming": (1, lambda t: np.where(np.abs(t) < 1, np.sinc(t) * (0.54 + 0.46 * np.cos(np.pi * t)), 0)),
}


def area_axis(x, low, high, n, grows):
    """OpenCV's INTER_AREA along axis 0: means of intervals, or where an axis grows two samples."""
    scale = (high - low) / n
    begin = low + (np.arange(n) + (scale < 0)) * scale
    if grows:
        first = np.floor(begin)
        after = (begin + abs(scale) - (first + 1)) / abs(scale)
        after = np.where(after > 0, after - np.floor(after), 0).reshape((n,) + (1,) * (x.ndim - 1))
        at = [np.clip(first.astype(int) + k, 0, len(x) - 1) for k in (0, 1)]
        return x[at[0]] * (1 - after) + x[at[1]] * after
    i = np.arange(len(x))
    low, high = np.maximum(begin, 0)[:, None], np.minimum(begin + abs(scale), len(x))[:, None]
    weights = np.clip(np.minimum(i + 1, high) - np.maximum(i, low), 0, None)
    weights = np.where(weights > 1e-3, weights, 0) / (high - low)
    return np.einsum("ot,t...->o...", weights, x)


def of_16_bits(weights):
    """Weights as integers of 16 bits over the largest power of two for which all fit."""
    bits = 0
    while bits < 22 and 0.5 + weights.max() * 2.0 ** (bits + 1) < 1 << 15:
        bits += 1
    return np.copysign(np.floor(np.abs(weights) * 2.0**bits + 0.5), weights) / 2.0**bits


def resample_axis(x, low, high, n, min_filter="linear", mag_filter="linear", antialias=True, weights="float32"):
    """Resamples axis 0 so that [low, high) of the input becomes n pixels; taps outside the image are clamped."""
    scale, shrinks = (high - low) / n, n < abs(high - low) * (1 - 1e-6)  # equal within float32: enlarging
    center = low + (np.arange(n) + 0.5) * scale
    name = min_filter if shrinks else mag_filter
    if name == "nn":
        return x[np.clip(np.floor(center).astype(int), 0, len(x) - 1)]
    base, kernel = _KERNEL[name]
    stretch = abs(scale) if shrinks and antialias else 1.0
    radius = base * stretch
    first = np.ceil(center - 0.5 - radius).astype(int)
    taps = first[:, None] + np.arange(math.ceil(2 * radius) + (name == "box"))
    kernels = kernel((taps - (center[:, None] - 0.5)) / stretch)
    kernels = kernels / kernels.sum(1, keepdims=True)
    taps = np.clip(taps, 0, len(x) - 1)
    if weights == "int16":
        whole = np.zeros((n, len(x)))
        np.add.at(whole, (np.arange(n)[:, None], taps), kernels)
        return np.einsum("ot,t...->o...", of_16_bits(whole), x)
    return np.einsum("ot,ot...->o...", kernels, x[taps])


def resize_geometry(
    extents,
    *,
    size=None,
    resize_x=0,
    resize_y=0,
    resize_z=0,
    resize_shorter=0,
    resize_longer=0,
    mode="default",
    max_size=None,
    roi_start=None,
    roi_end=None,
    roi_relative=False,
    subpixel_scale=True,
):
    """Returns per spatial axis (low, high, n): the input interval, reversed for a flip, and the output extent.

    ROI, extents, requested sizes and their ratios are float32, so that sizes that fall on a half round as DALI's do.
    """
    d, single = len(extents), lambda values: [float(np.float32(v)) for v in values]
    if resize_shorter or resize_longer:
        mode, wanted = ("not_smaller", [resize_shorter] * d) if resize_shorter else ("not_larger", [resize_longer] * d)
    else:
        wanted = listed(size, d) if size is not None else [resize_z, resize_y, resize_x][3 - d :]
    wanted = single(wanted)
    low, high = [0.0] * d, [float(e) for e in extents]
    if roi_start is not None:
        factor = extents if roi_relative else [1] * d
        low = [v * f for v, f in zip(listed(roi_start, d), factor)]
        high = [v * f for v, f in zip(listed(roi_end, d), factor)]
        for i in range(d):
            if abs(high[i] - low[i]) < 1e-3:
                grow = 0.5e-3 if low[i] <= high[i] else -0.5e-3
                low[i], high[i] = low[i] - grow, high[i] + grow
    low, high = single(low), single(high)
    wanted = [-w if h < l else w for w, l, h in zip(wanted, low, high)]
    low, high = [min(p) for p in zip(low, high)], [max(p) for p in zip(low, high)]
    extent = single(h - l for l, h in zip(low, high))
    limit = single(listed(max_size, d)) if max_size is not None else [math.inf] * d
    given = [w != 0 and e != 0 for w, e in zip(wanted, extent)]
    ratio = single(abs(w / e) if g else 0 for w, e, g in zip(wanted, extent, given))
    scales = [r for r, g in zip(ratio, given) if g]
    if not scales:
        wanted = list(extent)
    elif mode in ("default", "stretch"):
        fill = math.prod(scales) ** (1 / len(scales)) if mode == "default" else 1.0
        wanted = [w if g else e * fill for w, e, g in zip(wanted, extent, given)]
        wanted = [math.copysign(min(abs(w), m if m > 0 else math.inf), w) for w, m in zip(wanted, limit)]
    else:
        scale = max(scales) if mode == "not_smaller" else min(scales)
        scale = min([scale] + [m / e for m, e in zip(limit, extent) if m > 0])
        wanted = [
            w if g and r == scale else math.copysign(e * scale, w)  # -0.0: missing but flipped
            for w, e, g, r in zip(wanted, extent, given, ratio)
        ]
    result = []
    for l, h, w in zip(low, high, single(wanted)):
        n = max(1, round_away(abs(w)))
        l, h = (h, l) if w < 0 else (l, h)
        if subpixel_scale and n != abs(w):
            grow, center = min(n / abs(w), 10.0), (l + h) / 2
            l, h = center + (l - center) * grow, center + (h - center) * grow
        result.append((l, h, n))
    return result


def _filters(interp_type, min_filter, mag_filter, antialias):
    low, high = min_filter or interp_type or "linear", mag_filter or interp_type or "linear"
    return dict(min_filter=low, mag_filter=high, antialias=antialias)


def _resample(x, layout, geometry, filters):
    x = np.asarray(x, np.float64)
    if filters["min_filter"] == filters["mag_filter"] == "area":
        grows = any(n > abs(high - low) for low, high, n in geometry)
        for axis, a in zip(spatial_axes(layout), geometry):
            x = along_axis(x, axis, lambda v, a=a: area_axis(v, *a, grows))
        return x
    for axis, (low, high, n) in zip(spatial_axes(layout), geometry):
        x = along_axis(x, axis, lambda v, a=(low, high, n): resample_axis(v, *a, **filters))
    return x


def resize(
    x, *, layout="HWC", interp_type=None, min_filter=None, mag_filter=None, antialias=True, weights="float32", **size
):
    geometry = resize_geometry([x.shape[a] for a in spatial_axes(layout)], **size)
    filters = _filters(interp_type, min_filter, mag_filter, antialias)
    return _resample(x, layout, geometry, filters | {"weights": weights})


def random_resized_crop(
    x, *, window, size, layout="HWC", interp_type=None, min_filter=None, mag_filter=None, antialias=True
):
    """`window` = (y, x, h, w), the crop that was drawn."""
    start, shape = window[:2], window[2:]
    geometry = [(s, s + e, n) for s, e, n in zip(start, shape, size)]
    return _resample(x, layout, geometry, _filters(interp_type, min_filter, mag_filter, antialias))


def resize_crop_mirror(x, *, layout="HWC", crop=None, crop_pos=None, rounding="round", mirror=0, **arguments):
    x = resize(x, layout=layout, **arguments)
    x = cropped(x, layout=layout, crop=crop, crop_pos=crop_pos, rounding=rounding)
    return flip(x, layout=layout, horizontal=mirror & 1, vertical=mirror & 2, depthwise=mirror & 4)


KINDS = {
    "nn": 0,
    "linear": 1,
    "cubic": 2,
    "lanczos3": 3,
    "triangular": 4,
    "gaussian": 5,
    "box": 6,
    "hamming": 7,
    "area": 8,
}
GAIN = {"cubic": 2, "lanczos3": 3}


def draw_filters(draw):
    name = draw(st.sampled_from(list(KINDS)))
    constants, antialias = {"interp_type": KINDS[name]}, True
    if draw(st.booleans()):
        antialias = constants["antialias"] = False
    return constants, {"interp_type": name, "antialias": antialias}, GAIN.get(name, 1)


def draw_size(draw, n, d):
    way = draw(st.sampled_from(["size", "shorter", "longer", "x", "mode"]))
    extent_ = st.integers(1, 50).map(float)
    if way == "size":
        return {}, {"size": [[draw(extent_) for _ in range(d)] for _ in range(n)]}
    if way == "mode":
        return {
            "mode": draw(st.sampled_from(["stretch", "not_larger", "not_smaller"])),
            "size": [draw(extent_) for _ in range(d)],
        }, {}
    if way == "x":
        return {}, {"resize_x": [draw(extent_) for _ in range(n)]}
    return {"resize_" + way: draw(extent_)}, {}


def _near_border(geometry, kind):
    """Nearest: whether a sample is so close to a pixel's border that float64 and float32 decide differently."""
    if kind not in ("nn", "box", "area"):
        return False
    for low, high, n in geometry:
        at = low + (np.arange(n) + (0.5 if kind == "nn" else 0)) * (high - low) / n
        if kind == "area" and low == 0 and high == round(high) and high >= n:
            continue  # positions that are not rounded; a part of a sample may be a thousandth
        if kind == "box" and high % n == 0:
            continue
        if (np.abs(at - np.rint(at)) < 1e-4).any():
            return True
    return False


def draw_resize(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC", "DHWC"], empty=False)
    spatial = [k for k in "DHW" if k in layout]
    constants, filters, gain = draw_filters(draw)
    size = draw_size(draw, len(xs), len(spatial))
    if draw(st.booleans()):
        size[0].update(
            roi_start=[0.0] * len(spatial), roi_relative=True, roi_end=[draw(number(0.25, 1)) for _ in spatial]
        )
    if draw(st.booleans()):
        filters = filters | {"weights": "int16"}
        constants["weights"] = "int16"
    out = dtype
    if draw(st.booleans()):
        out = constants["dtype"] = draw(st.sampled_from(FLOATS))
    extents = [[x.shape[layout.index(k)] for k in spatial] for x in xs]
    geometry = [resize_geometry(e, **of(size, i)) for i, e in enumerate(extents)]
    # A side that becomes the shorter one of one sample would need gigabytes for the others.
    assume(all(np.prod([float(n) for _, _, n in g]) <= 1e6 for g in geometry))
    assume(not any(_near_border(g, filters["interp_type"]) for g in geometry))
    return Case(
        [xs],
        [layout],
        {**constants, **size[0]},
        size[1],
        dtype=out,
        error=1e-5 * gain,
        expected=lambda i: resize(xs[i], layout=layout, **filters, **of(size, i)),
    )


def draw_random_resized_crop(draw):
    """The window is the whole image, so that nothing is random; what is random has tests of its own."""
    xs, layout, dtype = images(draw, ["HWC", "CHW"], empty=False)
    x = xs[0]
    size = [draw(st.integers(1, 40)) for _ in range(2)]
    h, w = (x.shape[layout.index(k)] for k in "HW")
    constants = {"size": size, "random_area": [1.0, 1.0], "random_aspect_ratio": [w / h * 0.9998, w / h * 1.0002]}
    return Case(
        [[x]],
        [layout],
        constants,
        dtype=dtype,
        expected=lambda i: random_resized_crop(x, layout=layout, window=(0, 0, h, w), size=size),
    )


def draw_resize_crop_mirror(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "FHWC"], empty=False)
    size = [draw(st.integers(8, 50)) for _ in range(2)]
    crop = [draw(st.integers(1, n)) for n in size]
    mirror = draw(st.integers(0, 3))
    return Case(
        [xs],
        [layout],
        {"size": [float(s) for s in size], "crop": [float(c) for c in crop], "mirror": mirror},
        dtype=dtype,
        error=2e-5,
        expected=lambda i: resize_crop_mirror(xs[i], layout=layout, size=size, crop=crop, mirror=mirror),
    )


CASES = {
    "resize": draw_resize,
    "random_resized_crop": draw_random_resized_crop,
    "resize_crop_mirror": draw_resize_crop_mirror,
}
