# SPDX-License-Identifier: Apache-2.0
"""box_blur: the reference and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.geometry import border_index
from operators.picture_draws import of_axes, per_sample, pictures, some


def box_blur(x, layout, window_size=(3, 3), border_mode="reflect_101"):
    border = {"replicate": "edge"}.get(border_mode, border_mode)
    x = x.astype(np.float64)
    for axis, n in zip(of_axes(layout), reversed(window_size)):
        extent = x.shape[axis]
        taps = np.arange(extent)[:, None] + np.arange(n) - n // 2
        inside = (taps >= 0) & (taps < extent)
        taken = x.take(np.where(inside, taps, 0) if border == "constant" else border_index(taps, extent, border), axis)
        if border == "constant":
            taken = taken * inside.reshape([*taps.shape, *[1] * (x.ndim - axis - 1)])
        x = taken.sum(axis + 1)
    return x / (window_size[0] * window_size[1])


def draw_box_blur(draw):
    types = ["uint8", "int8", "uint16", "int16", "float16", "float32"]
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"], types)
    extent = st.one_of(st.integers(1, 12), st.integers(13, 70))
    constants, each, at = per_sample(draw, len(xs), "window_size", st.tuples(extent, extent).map(list))
    borders = ["constant", "replicate", "reflect", "reflect_101", "wrap"]
    border = some(draw, border_mode=st.sampled_from(borders))
    return Case(
        [xs],
        [layout],
        {**constants, **border},
        each,
        dtype=dtype,
        expected=lambda i: box_blur(xs[i], layout, **at(i), **border),
    )


CASES = {"box_blur": draw_box_blur}
