# SPDX-License-Identifier: Apache-2.0
"""Operators that replace values and colors of images as torchvision's functions do: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import COLOR_LAYOUTS, IMAGE_LAYOUTS, images, number
from operators.picture_draws import per_sample

TYPES = ["uint8", "uint16", "float16", "float32"]
PLANES = ["HWC", "CHW", "HW", "FHWC", "FCHW"]


def full_of(x):
    return 1.0 if x.dtype.kind == "f" else float(np.iinfo(x.dtype).max)


def invert(x):
    return full_of(x) - x.astype(np.float64)


def solarize(x, *, threshold):
    return np.where(x.astype(np.float64) >= threshold, invert(x), x.astype(np.float64))


def posterize(x, *, bits):
    if x.dtype.kind == "f":
        levels = 2.0**bits
        return np.clip(np.floor(x.astype(np.float64) * levels), 0, levels - 1) / levels
    step = 2 ** (8 * x.dtype.itemsize - bits)
    return (x.astype(np.int64) // step * step).astype(x.dtype)


def gray_of(x):
    """Channels last. In float32, in the operator's order: a sum next to an integer is rounded down on the same side."""
    weights = np.float64(np.float32([0.2989, 0.587, 0.114]))
    x = x.astype(np.float64)
    if x.size == 0:
        return x[..., :1]
    total = np.float32(x[..., 0] * weights[0])
    for k in (1, 2):
        total = np.float32(x[..., k] * weights[k] + total)  # exact in float64, rounded once
    return total.astype(np.float64)[..., None]


def mixed_with_gray(x, factor):
    gray = gray_of(x) if x.dtype.kind == "f" else np.floor(gray_of(x))
    return gray + factor * (x.astype(np.float64) - gray)


def grayscale(x, *, num_output_channels=1):
    return mixed_with_gray(x, 0.0)[..., :num_output_channels]


def adjust_saturation(x, *, saturation_factor):
    return mixed_with_gray(x, saturation_factor)


def adjust_hue(x, *, hue_factor):
    x = x.astype(np.float64)
    if x.size == 0:
        return x
    most, least = x.max(-1), x.min(-1)
    span = most - least
    r, g, b = np.moveaxis(x, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        hue = np.where(r == most, (g - b) / span, np.where(g == most, 2 + (b - r) / span, 4 + (r - g) / span))
    hue = np.where(span > 0, hue, 0) + 6 * hue_factor
    k = np.mod(hue[..., None] + [5, 3, 1], 6)
    return most[..., None] - span[..., None] * np.clip(np.minimum(k, 4 - k), 0, 1)


def planes_first(x, layout):
    """(frames, height, width, channels) and how to go back."""
    axes = [layout.index(k) for k in "HW"]
    others = [k for k in range(x.ndim) if k not in axes]
    order = axes + others
    return x.transpose(order), lambda y: y.transpose(np.argsort(order))


def adjust_sharpness(x, layout, *, sharpness_factor):
    p, back = planes_first(x.astype(np.float64), layout)
    if p.shape[0] <= 2 or p.shape[1] <= 2 or not p.size:
        return back(p)
    h, w = p.shape[:2]
    total = 4 * p[1:-1, 1:-1] + sum(p[dy : h - 2 + dy, dx : w - 2 + dx] for dy in range(3) for dx in range(3))
    blurred = total / 13 if x.dtype.kind == "f" else np.rint(total / 13)
    out = p.copy()
    out[1:-1, 1:-1] = blurred + sharpness_factor * (p[1:-1, 1:-1] - blurred)
    return back(out)


def autocontrast(x, layout):
    p, back = planes_first(x.astype(np.float64), layout)
    if not p.size:
        return back(p)
    least, span = p.min((0, 1)), np.ptp(p, (0, 1))
    full = full_of(x)
    stretched = np.where(span > 0, (p - least) * (full / np.where(span > 0, span, 1)), p)
    return back(np.clip(stretched, 0, full))


def equalize_as_pillow(plane):
    counts = np.bincount(plane.ravel(), minlength=256)
    step = (plane.size - counts[plane.max()]) // 255
    if step == 0:
        return plane
    below = np.concatenate([[0], np.cumsum(counts)[:-1]])
    table = np.minimum((below + step // 2) // step, 255)
    table[0] = 0
    return table.astype(np.uint8)[plane]


def draw_values(function, **choices):
    """Each argument is given, for all samples or for each."""

    def make(draw):
        xs, layout, dtype = images(draw, IMAGE_LAYOUTS, TYPES)
        constants, each, at = {}, {}, lambda i: {}
        for name, value in choices.items():
            constants, each, at = per_sample(draw, len(xs), name, value)
        return Case([xs], [layout], constants, each, dtype=dtype, expected=lambda i: function(xs[i], **at(i)))

    return make


def draw_colors(function, name, value, largest=4, error=None, unit=False):
    """Calls of an operator of three channels. unit: its numbers of floating point mean nothing outside 0 to 1."""

    def make(draw):
        xs, layout, dtype = images(draw, COLOR_LAYOUTS, TYPES, channels=3)
        if unit:
            xs = [np.clip(x, 0, 1) if x.dtype.kind == "f" else x for x in xs]
        constants, each, at = per_sample(draw, len(xs), name, value)
        c = layout.index("C")
        return Case(
            [xs],
            [layout],
            constants,
            each,
            dtype=dtype,
            **({} if error is None else {"error": error(dtype)}),
            largest=largest * max([1.0] + [float(np.abs(x.astype(np.float64)).max()) for x in xs if x.size]),
            expected=lambda i: np.moveaxis(function(np.moveaxis(xs[i], c, -1), **at(i)), -1, c),
        )

    return make


def draw_grayscale(draw):
    xs, layout, dtype = images(draw, COLOR_LAYOUTS, TYPES, channels=3)
    n, c = draw(st.sampled_from([1, 3])), layout.index("C")
    return Case(
        [xs],
        [layout],
        {"num_output_channels": n},
        dtype=dtype,
        expected=lambda i: np.moveaxis(grayscale(np.moveaxis(xs[i], c, -1), num_output_channels=n), -1, c),
    )


def draw_sharpness(draw):
    xs, layout, dtype = images(draw, PLANES, [*TYPES, "int8", "int16"])
    constants, each, at = per_sample(draw, len(xs), "sharpness_factor", number(0, 3))
    return Case(
        [xs],
        [layout],
        constants,
        each,
        dtype=dtype,
        largest=8 * max([1.0] + [float(np.abs(x.astype(np.float64)).max()) for x in xs if x.size]),
        expected=lambda i: adjust_sharpness(xs[i], layout, **at(i)),
    )


def draw_autocontrast(draw):
    xs, layout, dtype = images(draw, PLANES, TYPES)
    if draw(st.integers(0, 4)) == 0:
        xs[0][...] = 7
    return Case([xs], [layout], dtype=dtype, expected=lambda i: autocontrast(xs[i], layout))


CASES = {
    "invert": draw_values(invert),
    "solarize": draw_values(solarize, threshold=number(-1, 256)),
    "posterize": draw_values(posterize, bits=st.integers(0, 8)),
    "grayscale": draw_grayscale,
    "adjust_saturation": draw_colors(adjust_saturation, "saturation_factor", number(0, 3)),
    "adjust_hue": draw_colors(adjust_hue, "hue_factor", number(-0.5, 0.5)),
    "adjust_sharpness": draw_sharpness,
    "autocontrast": draw_autocontrast,
}
