# SPDX-License-Identifier: Apache-2.0
"""Normalizations: the references and random calls."""

import math

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import NUMBERS, images, number
from operators.geometry import crop as cropped


def normalize(x, *, axes=None, mean=None, stddev=None, ddof=0, epsilon=0.0, scale=1.0, shift=0.0):
    """Statistics of one sample (for batch=True, give those of the batch)."""
    x, axes = x.astype(np.float64), tuple(range(x.ndim)) if axes is None else tuple(axes)
    mean = x.mean(axes, keepdims=True) if mean is None else np.asarray(mean, np.float64)
    if stddev is None:
        free = math.prod(x.shape[a] for a in axes) - ddof
        variance = ((x - mean) ** 2).sum(axes, keepdims=True) / free if free > 0 else np.zeros(1)
        deviation = np.sqrt(variance + epsilon)
        return scale * np.divide(x - mean, deviation, out=np.zeros_like(x), where=deviation != 0) + shift
    deviation = np.sqrt(np.square(stddev, dtype=np.float64) + epsilon) if epsilon else np.asarray(stddev, np.float64)
    return scale * (x - mean) / deviation + shift


def crop_mirror_normalize(
    x,
    *,
    layout="HWC",
    output_layout="CHW",
    crop=None,
    crop_pos=None,
    rounding="round",
    out_of_bounds_policy="error",
    fill_values=0.0,
    mirror=0,
    mean=0.0,
    std=1.0,
    scale=1.0,
    shift=0.0,
    pad_output=False,
):
    c = layout.index("C")
    per_channel = lambda v: np.reshape(np.asarray(v, np.float64), [-1 if a == c else 1 for a in range(x.ndim)])
    y = cropped(
        x.astype(np.float64),
        layout=layout,
        crop=crop,
        crop_pos=crop_pos,
        rounding=rounding,
        out_of_bounds_policy=out_of_bounds_policy,
        fill_values=np.nan,
    )
    y = scale * (y - per_channel(mean)) / per_channel(std) + shift
    channels = 1 << (x.shape[c] - 1).bit_length() if pad_output else x.shape[c]
    fill = np.atleast_1d(np.asarray(fill_values if out_of_bounds_policy in ("constant", "pad") else 0.0, np.float64))
    fill = np.resize(fill, channels) if len(fill) == 1 else np.append(fill, np.zeros(max(0, channels - len(fill))))
    y = np.pad(y, [(0, channels - x.shape[c] if a == c else 0) for a in range(x.ndim)], constant_values=np.nan)
    y = np.where(np.isnan(y), fill[:channels].reshape([-1 if a == c else 1 for a in range(x.ndim)]), y)
    y = np.flip(y, layout.index("W")) if mirror else y
    return np.transpose(y, [layout.index(k) for k in output_layout or layout])


def draw_crop_mirror_normalize(draw):
    xs, layout, _ = images(draw, ["HWC", "CHW"], NUMBERS, empty=False)
    window = [draw(st.integers(1, x)) for x in np.min([[x.shape[layout.index(k)] for k in "HW"] for x in xs], 0)]
    mirror = [draw(st.integers(0, 1)) for _ in xs]
    mean, std = [draw(number(-100, 100))], [draw(number(1, 60))]
    scale, shift = draw(number(-2, 2)), draw(number(-5, 5))
    target = draw(st.sampled_from(["CHW", "HWC"]))
    out = draw(st.sampled_from(["float32", "float16", "uint8", "int8"]))
    pad = draw(st.booleans())
    constants = {
        "crop": [float(w) for w in window],
        "mean": mean,
        "std": std,
        "scale": scale,
        "shift": shift,
        "output_layout": target,
        "dtype": out,
        "pad_output": pad,
    }
    return Case(
        [xs],
        [layout],
        constants,
        {"mirror": mirror},
        dtype=out,
        largest=200.0,
        expected=lambda i: crop_mirror_normalize(
            xs[i],
            layout=layout,
            output_layout=target,
            crop=window,
            mirror=mirror[i],
            mean=mean,
            std=std,
            scale=scale,
            shift=shift,
            pad_output=pad,
        ),
    )


def draw_normalize(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], NUMBERS, empty=False)
    constants = {"scale": draw(number(-4, 4)), "shift": draw(number(-50, 50)), "epsilon": draw(number(0.5, 2))}
    names = draw(st.sampled_from(["", "HW", "W"]))
    axes = [layout.index(k) for k in names] or None
    return Case(
        [xs],
        [layout],
        {**constants, **({"axis_names": names} if names else {})},
        dtype="float32",
        error=1e-4,
        expected=lambda i: normalize(xs[i], axes=axes, **constants),
    )


CASES = {"crop_mirror_normalize": draw_crop_mirror_normalize, "normalize": draw_normalize}
