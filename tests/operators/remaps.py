# SPDX-License-Identifier: Apache-2.0
"""remap: the reference and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.picture_draws import pictures, some
from operators.pictures import _BORDERS as BORDERS_OF_MAPS
from operators.pictures import sampled


def remap(
    x,
    mapx,
    mapy,
    interp=1,
    pixel_origin="corner",
    border_mode="constant",
    fill_value=0.0,
    normalized=False,
    relative=False,
):
    shift = 0.5 if pixel_origin == "corner" else 0.0
    mapx, mapy = mapx.astype(np.float64), mapy.astype(np.float64)
    less = 1 if pixel_origin == "center" else 0
    if relative:
        half = [(n - less) / 2 if normalized else 1 for n in x.shape[:2]]
        y, x_at = np.indices(mapx.shape)
        return sampled(x, y + mapy * half[0], x_at + mapx * half[1], interp, border_mode, fill_value)
    if normalized:
        mapx, mapy = (mapx + 1) / 2 * (x.shape[1] - less), (mapy + 1) / 2 * (x.shape[0] - less)
    return sampled(x, mapy - shift, mapx - shift, interp, border_mode, fill_value)


def draw_remap(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "HW"])
    seed, normalized, relative = draw(st.integers(0, 2**32 - 1)), draw(st.booleans()), draw(st.booleans())
    size = [draw(st.integers(1, 20)) for _ in "HW"]

    def coordinates(n, k):  # multiples of 1/16 and a bit, so that none is between two pixels
        rng = np.random.default_rng(seed + k)
        v = rng.integers(-16, 16 * (n + 1), size) / 16 + 1 / 64
        if relative:
            v = v - np.indices(size)[k % 9]
            return (v / max(n, 2) * 2 if normalized else v).astype(np.float32)
        return (v / max(n, 2) * 2 - 1 if normalized else v).astype(np.float32)

    mapx, mapy = ([coordinates(x.shape[a], 9 * i + a) for i, x in enumerate(xs)] for a in (1, 0))
    constants = {
        "interp": draw(st.integers(0 if not normalized else 1, 2)),
        "normalized": normalized,
        "relative": relative,
        **some(
            draw,
            border_mode=st.sampled_from(BORDERS_OF_MAPS),
            pixel_origin=st.sampled_from(["corner", "center"]),
            fill_value=st.integers(0, 100).map(float),
        ),
    }
    return Case(
        [xs, mapx, mapy],
        [layout, "", ""],
        constants,
        dtype=dtype,
        error=1e-5,
        expected=lambda i: remap(xs[i], mapx[i], mapy[i], **constants),
    )


CASES = {"remap": draw_remap}
