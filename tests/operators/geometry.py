# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, and those that change shapes alone: the references and random calls."""

import math

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.draws import IMAGE_LAYOUTS, arguments, images, number, of
from operators.exact import round_away, spatial_axes


def _window(x, start, shape, policy="error", fill_values=0.0, channel=None):
    mode = {"pad": "constant", "clamp": "edge", "reflect_1001": "reflect"}.get(policy, policy)
    stop = [s + n for s, n in zip(start, shape)]
    if mode == "error" and any(s < 0 or e > n or s > n for s, e, n in zip(start, stop, x.shape)):
        raise IndexError("the window reaches outside the input")
    if mode == "trim_to_shape":
        start = [min(max(s, 0), n) for s, n in zip(start, x.shape)]
        stop = [min(max(e, 0), n) for e, n in zip(stop, x.shape)]
    inside, out = np.ones([e - s for s, e in zip(start, stop)], bool), x
    for axis, (s, e, n) in enumerate(zip(start, stop, x.shape)):
        i = np.arange(s, e)
        keep = ((i >= 0) & (i < n)).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        inside &= keep if mode == "constant" else True
        out = out.take(border_index(i, n, "edge" if mode in ("constant", "error", "trim_to_shape") else mode), axis)
    fill = np.atleast_1d(np.asarray(fill_values))
    fill = fill if len(fill) == 1 else fill.reshape([-1 if a == channel else 1 for a in range(x.ndim)])
    return np.where(inside, out, fill)


def border_index(i, n, border):
    """Maps indices outside [0, n) into it: edge, reflect (edge repeated), reflect_101 (edge not repeated), wrap."""
    if border == "edge" or n == 1:
        return np.clip(i, 0, n - 1)
    if border == "wrap":
        return i % n
    if border == "reflect":
        i = i % (2 * n)
        return np.where(i < n, i, 2 * n - 1 - i)
    i = i % (2 * n - 2)
    return np.where(i < n, i, 2 * n - 2 - i)


def crop(x, *, layout="HWC", crop=None, crop_pos=None, rounding="round", out_of_bounds_policy="error", fill_values=0.0):
    """`crop` and `crop_pos` in the order of the layout's spatial axes; an extent of 0 takes the whole axis."""
    start, shape, axes = [0] * x.ndim, list(x.shape), spatial_axes(layout)
    pos = [0.5] * len(axes) if crop_pos is None else list(crop_pos)
    for a, p, n in zip(axes, pos, crop if crop is not None else [0] * len(axes)):
        shape[a] = int(n) or x.shape[a]
        at = float(np.float32(p)) * (x.shape[a] - shape[a])
        start[a] = round_away(at) if rounding == "round" else math.trunc(at)
    return _window(np.asarray(x), start, shape, out_of_bounds_policy, fill_values, layout.find("C"))


def slice(
    x,
    *,
    axes,
    start=None,
    end=None,
    shape=None,
    rel_start=None,
    rel_end=None,
    rel_shape=None,
    out_of_bounds_policy="error",
    fill_values=0.0,
    channel=None,
):
    first, count = [0] * x.ndim, list(x.shape)
    part = lambda relative, n: float(np.float32(relative) * np.float32(n))  # float32 decides at halves
    for i, a in enumerate(axes):
        n = x.shape[a]
        low = start[i] if start is not None else part(rel_start[i], n) if rel_start is not None else 0
        if end is not None or rel_end is not None:
            high = end[i] if end is not None else part(rel_end[i], n)
        elif shape is not None:
            high = low + shape[i]
        elif rel_shape is not None and rel_start is not None:
            high = max(low, (rel_start[i] + rel_shape[i]) * n)
        else:
            high = low + part(rel_shape[i], n) if rel_shape is not None else n
        first[a] = round_away(low)
        count[a] = round_away(high) - first[a]
        if high < low:
            raise IndexError("the slice ends before it starts")
    return _window(np.asarray(x), first, count, out_of_bounds_policy, fill_values, channel)


def pad(x, *, largest, axes=None, shape=None, align=1, fill_value=0):
    """`largest` = the largest extent of each axis in the batch."""
    out, axes = list(x.shape), range(x.ndim) if axes is None else axes
    for i, a in enumerate(axes):
        wanted = shape[i] if shape is not None and shape[i] > 0 else largest[a]
        step = align if np.isscalar(align) else align[i if len(align) > 1 else 0]
        out[a] = -(-max(out[a], wanted) // step) * step
    return np.pad(x, [(0, o - n) for o, n in zip(out, x.shape)], constant_values=fill_value)


def flip(x, *, layout="HWC", horizontal=1, vertical=0, depthwise=0):
    return np.flip(x, [layout.index(c) for c, on in (("W", horizontal), ("H", vertical), ("D", depthwise)) if on])


def transpose(x, *, perm=None):
    return np.transpose(x, perm)


def erase(
    x,
    *,
    axes,
    anchor=None,
    shape=(),
    fill_value=0,
    centered_anchor=False,
    normalized_anchor=False,
    normalized_shape=False,
    channel=None,
):
    x, k, f = np.array(x), len(axes), np.float32
    anchor = [0] * len(shape) if anchor is None or len(anchor) == 0 else anchor
    for region in range(len(shape) // k):
        box = [np.s_[:]] * x.ndim
        for j, a in enumerate(axes):
            low, n = f(anchor[region * k + j]), f(shape[region * k + j])
            n = n * f(x.shape[a]) if normalized_shape else n
            low = (low * f(x.shape[a]) if normalized_anchor else low) - (n / f(2) if centered_anchor else f(0))
            box[a] = np.s_[max(int(low), 0) : max(int(low + n), 0)]
        fill = np.atleast_1d(fill_value)
        fill = fill if len(fill) == 1 else fill.reshape([-1 if a == channel else 1 for a in range(x.ndim)])
        x[tuple(box)] = np.broadcast_to(fill, x.shape)[tuple(box)]
    return x


def cat(*xs, axis=0):
    return np.concatenate(xs, axis)


def stack(*xs, axis=0):
    return np.stack(xs, axis)


def reshape(x, *, shape=None, rel_shape=None, src_dims=None):
    source = list(x.shape) if src_dims is None else [1 if s == -1 else x.shape[s] for s in src_dims]
    if rel_shape is not None:
        source += [1] * (len(rel_shape) - len(source))
        shape = [-1 if r < 0 else round_away(r * n) for r, n in zip(rel_shape, source)]
    return np.reshape(x, source if shape is None else shape)


def squeeze(x, *, axes):
    return np.squeeze(x, tuple(axes))


def expand_dims(x, *, axes):
    return np.expand_dims(x, tuple(axes))


def per_frame(x):
    return x


def copy(x):
    return np.array(x)


def draw_flip(draw):
    xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
    given = arguments(
        draw,
        len(xs),
        {
            "horizontal": st.integers(0, 1),
            "vertical": st.integers(0, 1),
            **({"depthwise": st.integers(0, 1)} if "D" in layout else {}),
        },
    )
    return Case([xs], [layout], *given, dtype=dtype, expected=lambda i: flip(xs[i], layout=layout, **of(given, i)))


def draw_copy(draw):
    xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
    return Case([xs], [layout], dtype=dtype, expected=lambda i: copy(xs[i]))


def draw_per_frame(draw):
    xs, layout, dtype = images(draw, ["FHWC", "FCHW", "HWC"])
    return Case([xs], [layout], {"replace": True}, dtype=dtype, expected=lambda i: per_frame(xs[i]))


def draw_transpose(draw):
    xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
    perm = draw(st.none() | st.permutations(range(len(layout))))
    return Case(
        [xs],
        [layout],
        {} if perm is None else {"perm": list(perm)},
        dtype=dtype,
        expected=lambda i: transpose(xs[i], perm=perm),
    )


POLICIES = ["constant", "edge", "reflect", "reflect_101", "wrap", "trim_to_shape"]


def draw_window_policy(draw, layout, policies, dtype):
    """Options for a window that may extend outside."""
    policy = draw(st.sampled_from(policies))
    constants = {"out_of_bounds_policy": policy}
    if policy == "constant":
        high = 1 if dtype == "bool" else 100
        constants["fill_values"] = [float(draw(st.integers(0, high)))]
    return constants


def draw_position(draw, layout, n):
    spatial = [k for k in "DHW" if k in layout]
    names = {"D": "crop_pos_z", "H": "crop_pos_y", "W": "crop_pos_x"}
    given = arguments(draw, n, {names[k]: number(0, 1) for k in spatial})
    return given, lambda i: [of(given, i).get(names[k], 0.5) for k in spatial]


def draw_crop(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC", "DHWC"], empty=False)
    given, pos = draw_position(draw, layout, len(xs))
    options = draw_window_policy(draw, layout, POLICIES, dtype)
    if draw(st.booleans()):
        options["rounding"] = "truncate"
    spatial = [k for k in "DHW" if k in layout]
    window = [draw(st.integers(1, 40)) for _ in spatial]
    constants = {**given[0], **options, **{f"crop_{k.lower()}": float(w) for k, w in zip(spatial, window)}}
    return Case(
        [xs],
        [layout],
        constants,
        given[1],
        dtype=dtype,
        expected=lambda i: crop(xs[i], layout=layout, crop=window, crop_pos=pos(i), **options),
    )


def draw_slice(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], empty=False)
    options = draw_window_policy(draw, layout, POLICIES, dtype)
    axes = [layout.index("H"), layout.index("W")]
    if draw(st.booleans()):
        starts = [[draw(st.integers(-9, 20)) for _ in axes] for _ in xs]
        extents = [[draw(st.integers(1, 30)) for _ in axes] for _ in xs]
        per_sample = {"start": starts, "shape": extents}
        keywords = lambda i: {"start": starts[i], "shape": extents[i]}
    else:
        starts = [[draw(number(0, 0.5)) for _ in axes] for _ in xs]
        ends = [[draw(number(0.5, 1)) for _ in axes] for _ in xs]
        per_sample = {"rel_start": starts, "rel_end": ends}
        keywords = lambda i: {"rel_start": starts[i], "rel_end": ends[i]}
    return Case(
        [xs],
        [layout],
        {**options, "axis_names": "HW"},
        per_sample,
        dtype=dtype,
        expected=lambda i: slice(xs[i], axes=axes, channel=layout.find("C"), **keywords(i), **options),
    )


def draw_pad(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FDHWC"])
    constants = {"fill_value": float(draw(st.integers(0, 1 if dtype == "bool" else 100)))}
    axes = draw(st.none() | st.permutations(range(len(layout))).map(lambda p: p[:2]))
    padded = range(len(layout)) if axes is None else axes
    if axes is not None:
        named = draw(st.booleans())
        constants.update({"axis_names": "".join(layout[a] for a in axes)} if named else {"axes": axes})
    largest = [max(x.shape[a] for x in xs) for a in range(xs[0].ndim)]
    given = {}
    if draw(st.booleans()):
        given["align"] = [draw(st.sampled_from([1, 2, 16])) for _ in (padded if draw(st.booleans()) else [0])]
    if draw(st.integers(0, 3)) == 0:
        given["shape"] = [draw(st.sampled_from([-1, 1, 9, 40])) for _ in padded]
    wanted = [n if n > 0 else largest[a] for a, n in zip(padded, given.get("shape", [0] * len(padded)))]
    return Case(
        [xs],
        [layout],
        {**constants, **given},
        dtype=dtype,
        alone={"shape": wanted} if all(wanted) else {},
        expected=lambda i: pad(
            xs[i],
            largest=largest,
            axes=axes,
            shape=given.get("shape"),
            align=given.get("align", 1),
            fill_value=constants["fill_value"],
        ),
    )


def draw_erase(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"])
    axes = [layout.index("H"), layout.index("W")]
    regions = draw(st.integers(1, 2))
    anchors = [[float(draw(st.integers(-5, 30))) for _ in range(2 * regions)] for _ in xs]
    shapes = [[float(draw(st.integers(0, 30))) for _ in range(2 * regions)] for _ in xs]
    fill = float(draw(st.integers(0, 1 if dtype == "bool" else 100)))
    centered = draw(st.booleans())
    return Case(
        [xs],
        [layout],
        {"fill_value": fill, "axis_names": "HW", "centered_anchor": centered},
        {"anchor": anchors, "shape": shapes},
        dtype=dtype,
        expected=lambda i: erase(
            xs[i], axes=axes, anchor=anchors[i], shape=shapes[i], fill_value=fill, centered_anchor=centered
        ),
    )


def draw_joined(function):
    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"])
        count = draw(st.integers(1, 4))
        inputs = [xs] + [[values(dtype, x.shape, 100 * k + i) for i, x in enumerate(xs)] for k in range(1, count)]
        axis = draw(st.integers(0, xs[0].ndim - 1))
        return Case(
            inputs,
            [layout] * count,
            {"axis": axis},
            dtype=dtype,
            expected=lambda i: function(*[x[i] for x in inputs], axis=axis),
        )

    return make


def draw_reshape(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], empty=False)
    shapes = [draw(st.permutations(x.shape)) for x in xs]
    if draw(st.booleans()):
        return Case([xs], [layout], {"shape": [-1]}, dtype=dtype, expected=lambda i: reshape(xs[i], shape=[-1]))
    return Case(
        [xs],
        [layout],
        {},
        {"shape": [list(s) for s in shapes]},
        dtype=dtype,
        expected=lambda i: reshape(xs[i], shape=shapes[i]),
    )


def draw_expand_dims(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"])
    axes = sorted(draw(st.sets(st.integers(0, xs[0].ndim), min_size=1, max_size=2)))
    return Case([xs], [layout], {"axes": axes}, dtype=dtype, expected=lambda i: expand_dims(xs[i], axes=axes))


def draw_squeeze(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "DHWC"], empty=False)
    axis = draw(st.integers(0, xs[0].ndim - 1))
    xs = [np.ascontiguousarray(np.take(x, [0], axis)) for x in xs]
    return Case([xs], [layout], {"axes": [axis]}, dtype=dtype, expected=lambda i: squeeze(xs[i], axes=[axis]))


def draw_shape(draw):
    xs, layout, _ = images(draw, IMAGE_LAYOUTS)
    return Case([xs], [layout], dtype="int64", expected=lambda i: np.array(xs[i].shape))


CASES = {
    "copy": draw_copy,
    "per_frame": draw_per_frame,
    "flip": draw_flip,
    "transpose": draw_transpose,
    "crop": draw_crop,
    "slice": draw_slice,
    "pad": draw_pad,
    "erase": draw_erase,
    "cat": draw_joined(cat),
    "stack": draw_joined(stack),
    "reshape": draw_reshape,
    "squeeze": draw_squeeze,
    "expand_dims": draw_expand_dims,
    "shapes": draw_shape,
}
REFERENCES = {"shapes": "numpy"}
