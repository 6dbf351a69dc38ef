# SPDX-License-Identifier: Apache-2.0
"""tensor_resize: the reference and random calls."""

import math

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import images, number, of
from operators.exact import along_axis, listed, round_away
from operators.resampling import _near_border, area_axis, draw_filters, resample_axis

ROUND = {"round": round_away, "truncate": math.floor, "ceil": math.ceil}


def geometry_of(extents, *, sizes=None, scales=None, size_rounding="round", alignment=0.5, subpixel_scale=True):
    """Per resized axis (low, high, n); an axis without a size keeps its extent (mode stretch)."""
    n = len(extents)
    wanted = listed(sizes, n) if sizes is not None else [s * e for s, e in zip(listed(scales, n), extents)]
    made = []
    for want, extent, at in zip(wanted, extents, listed(alignment, n)):
        want, (low, high) = want or float(extent), (0.0, float(extent))
        if want < 0:
            low, high = high, low
        count = max(1, ROUND[size_rounding](abs(want)))
        if subpixel_scale and count != abs(want):
            grow, still = min(count / abs(want), 10.0), (1 - at) * low + at * high
            low, high = still + (low - still) * grow, still + (high - still) * grow
        made.append((low, high, count))
    return made


def tensor_resize(x, *, axes=None, interp_type="linear", antialias=True, **size):
    axes = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes]
    x = np.asarray(x, np.float64)
    geometry = geometry_of([x.shape[a] for a in axes], **size)
    grows = any(n > abs(high - low) for low, high, n in geometry)
    for axis, (low, high, n) in zip(axes, geometry):
        if interp_type == "area":
            x = along_axis(x, axis, lambda v, a=(low, high, n): area_axis(v, *a, grows))
            continue
        filters = {"min_filter": interp_type, "mag_filter": interp_type, "antialias": antialias}
        x = along_axis(x, axis, lambda v, a=(low, high, n): resample_axis(v, *a, **filters))
    return x


def draw_tensor_resize(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC", "DHWC"], empty=False)
    ndim = len(layout)
    axes = draw(st.permutations(range(ndim)))[: draw(st.integers(1, min(3, ndim)))]
    constants, filters, gain = draw_filters(draw)
    constants |= {"axes": [a - ndim if draw(st.booleans()) else a for a in axes], "mode": "stretch"}
    rules = {"size_rounding": draw(st.sampled_from(list(ROUND)))} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        rules["subpixel_scale"] = False
    constants |= rules
    if draw(st.booleans()):
        each = {"scales": [[draw(number(0.3, 2.5)) for _ in axes] for _ in xs]}
    else:
        kinds = st.one_of(st.integers(-30, 30).map(float), number(1, 30))
        each = {"sizes": [[draw(kinds) for _ in axes] for _ in xs]}
    if draw(st.booleans()):
        each["alignment"] = [[draw(number(0, 1)) for _ in axes] for _ in xs]
    extents = [[x.shape[a] for a in axes] for x in xs]
    for i, e in enumerate(extents):
        wanted = each["scales"][i] if "scales" in each else each["sizes"][i]
        exact = [w * s if "scales" in each else w for w, s in zip(wanted, e)]
        assume(all(float(w).is_integer() or abs(w * 2 - round(w * 2)) > 1e-3 for w in exact))  # float32 decides
    geometry = [geometry_of(e, **rules, **of(({}, each), i)) for i, e in enumerate(extents)]
    assume(not any(_near_border(g, filters["interp_type"]) for g in geometry))
    return Case(
        [xs],
        [layout],
        constants,
        each,
        dtype=dtype,
        error=2e-5 * gain,
        expected=lambda i: tensor_resize(xs[i], axes=axes, **filters, **rules, **of(({}, each), i)),
    )


CASES = {"tensor_resize": draw_tensor_resize}
