# SPDX-License-Identifier: Apache-2.0
"""sobel and canny: the references and random calls."""

import cv2
import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.geometry import border_index
from operators.picture_draws import of_axes, per_sample, pictures

BORDERS = {"reflect_101": "reflect_101", "reflect_1001": "reflect", "wrap": "wrap", "clamp": "edge", "constant": ""}


def sobel_window(size, order):
    """The window of an axis."""
    window = np.ones(1)
    size = max(size, 3 if order else 1)
    for k in range(size - 1):
        window = np.convolve(window, [-1, 1] if k < order else [1, 1])
    return window if order % 2 == 0 else -window[::-1] if window[0] > 0 else window


def sobel(x, axes, *, dx=1, dy=0, window_size=3, scale=1.0, border="reflect_101"):
    x = x.astype(np.float64)
    for axis, order in zip(axes, (dy, dx)):
        window, n = sobel_window(window_size, order), x.shape[axis]
        at = np.arange(n)[:, None] + np.arange(len(window)) - len(window) // 2
        if border == "constant":
            kept = np.moveaxis(x, axis, -1)[..., np.clip(at, 0, n - 1)] * ((at >= 0) & (at < n))
        else:
            kept = np.moveaxis(x, axis, -1)[..., border_index(at, n, BORDERS[border])]
        x = np.moveaxis(kept @ window, -1, axis)
    return x * scale


def canny(x, layout, *, low=100.0, high=200.0, window_size=3, squared_sizes=False):
    frames = x if layout[0] == "F" else x[None]
    edges = lambda image: cv2.Canny(
        image, float(low), float(high), apertureSize=window_size, L2gradient=squared_sizes
    ).reshape(image.shape[:2] + (1,) * layout.endswith("C"))
    found = np.stack([edges(np.ascontiguousarray(frame)) for frame in frames])
    return found if layout[0] == "F" else found[0]


def draw_sobel(draw):
    types = ["uint8", "int8", "uint16", "int16", "float16", "float32"]
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"], types)
    window_size = draw(st.sampled_from([1, 3, 5, 7]))
    most = 2 if window_size == 1 else window_size - 1
    dx = draw(st.integers(0, min(most, 3)))
    arguments = {"dx": dx, "dy": draw(st.integers(0 if dx else 1, min(most, 3))), "window_size": window_size}
    arguments["border"] = draw(st.sampled_from(list(BORDERS)))
    if draw(st.booleans()):
        arguments["scale"] = draw(st.sampled_from([0.25, 0.3, -2.0]))
    more, out = {}, "int16" if dtype == "uint8" else "float32"
    if dtype == "uint8" and draw(st.booleans()):
        more = {"dtype": draw(st.sampled_from(["int16", "float32"]))}
        out = more["dtype"]
    axes = of_axes(layout)
    sums = lambda i: sobel(xs[i], axes, **arguments)
    heavy = np.abs(sobel_window(window_size, dx)).sum() * np.abs(sobel_window(window_size, arguments["dy"])).sum()
    largest = max(float(np.abs(x.astype(np.float64)).max(initial=0)) for x in xs) * heavy
    return Case([xs], [layout], {**arguments, **more}, dtype=out, error=1e-6, largest=largest, expected=sums)


def draw_canny(draw):
    xs, layout, dtype = pictures(draw, ["HW", "HWC", "FHWC"], ["uint8"], smooth=draw(st.booleans()))
    bounds = st.sampled_from([0.0, 10.0, 50.5, 100.0, 300.0])
    low, lows, at = per_sample(draw, len(xs), "low", bounds)
    high, highs, above = per_sample(draw, len(xs), "high", bounds)
    how = {"window_size": draw(st.sampled_from([3, 5, 7])), "squared_sizes": draw(st.booleans())}
    wanted = lambda i: canny(xs[i], layout, **at(i), **above(i), **how)
    return Case([xs], [layout], {**low, **high, **how}, {**lows, **highs}, dtype=dtype, error=0.0, expected=wanted)


CASES = {"sobel": draw_sobel, "canny": draw_canny}
