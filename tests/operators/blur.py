# SPDX-License-Identifier: Apache-2.0
"""The Gaussian blur: the references and random calls."""

import math

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import images, number
from operators.exact import along_axis, listed
from operators.geometry import border_index
from operators.picture_draws import some


def gaussian_window(sigma=0.0, window_size=0):
    window_size = int(window_size) or 2 * math.ceil(np.float32(3) * np.float32(sigma)) + 1
    window_size |= 1
    radius = (window_size - 1) // 2
    sigma = sigma or (radius - 1) * 0.3 + 0.8
    w = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return w / w.sum()


def gaussian_blur(x, *, layout="HWC", sigma=0.0, window_size=0, border_mode="reflect_101"):
    axes = [i for i, c in enumerate(layout) if c not in "FC"]
    x = x.astype(np.float64)
    for a, s, n in zip(axes, listed(sigma, len(axes)), listed(window_size, len(axes))):
        w = gaussian_window(s, n)
        taps = np.arange(x.shape[a])[:, None] + np.arange(len(w)) - len(w) // 2
        if border_mode == "constant":
            pads = [(len(w) // 2, len(w) // 2) if k == a else (0, 0) for k in range(x.ndim)]
            x, taps = np.pad(x, pads), taps + len(w) // 2
        else:
            taps = border_index(taps, x.shape[a], {"replicate": "edge"}.get(border_mode, border_mode))
        x = along_axis(x, a, lambda v, t=taps, k=w: np.einsum("t,ot...->o...", k, v[t]))
    return x


def draw_gaussian_blur(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC"], empty=False)
    constants = draw(
        st.one_of(
            st.builds(lambda s: {"sigma": s}, number(0.5, 3)),
            st.builds(lambda k: {"window_size": k}, st.integers(2, 13)),
            st.builds(lambda s, k: {"sigma": s, "window_size": 2 * k + 1}, number(0.5, 3), st.integers(1, 6)),
        )
    )
    borders = ["constant", "replicate", "reflect", "reflect_101"]
    constants |= some(draw, border_mode=st.sampled_from(borders))
    return Case(
        [xs], [layout], constants, dtype=dtype, expected=lambda i: gaussian_blur(xs[i], layout=layout, **constants)
    )


CASES = {"gaussian_blur": draw_gaussian_blur}
