# SPDX-License-Identifier: Apache-2.0
"""Reductions, constants, shapes and orders of frames: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.draws import DTYPES, IMAGE_LAYOUTS, INTEGERS, NUMBERS, arguments, images, number, of, output_type
from operators.exact import to_dtype
from operators.pixels import cast


def _axes(axes):
    return None if axes is None else tuple(axes)


def mean(x, *, axes=None, keep_dims=False):
    return np.mean(x.astype(np.float64), _axes(axes), keepdims=keep_dims)


def reduce_sum(x, *, axes=None, keep_dims=False):
    """Of integers modulo 2^64, in uint64 or int64; of others in float64."""
    kind = np.float64 if x.dtype.kind == "f" else np.uint64 if x.dtype.kind in "ub" else np.int64
    return np.sum(x.astype(kind), _axes(axes), dtype=kind, keepdims=keep_dims)


def mean_square(x, *, axes=None, keep_dims=False):
    return np.mean(np.square(x.astype(np.float64)), _axes(axes), keepdims=keep_dims)


def rms(x, *, axes=None, keep_dims=False):
    return np.sqrt(mean_square(x, axes=axes, keep_dims=keep_dims))


def variance(x, mean, *, axes=None, keep_dims=False, ddof=0):
    """`mean`: one number, or one for each result."""
    x, axes = x.astype(np.float64), _axes(range(x.ndim) if axes is None else axes)
    kept = [1 if a in axes or a - x.ndim in axes else n for a, n in enumerate(x.shape)]
    about = np.asarray(mean, np.float64)
    squares = np.square(x - (about.reshape(kept) if about.size > 1 else about.reshape(())))
    free = np.float64(np.prod([x.shape[a] for a in axes], dtype=np.int64) - ddof)
    with np.errstate(all="ignore"):
        return np.sum(squares, axes, keepdims=keep_dims) / free


def std_dev(x, mean, **arguments):
    with np.errstate(all="ignore"):
        return np.sqrt(variance(x, mean, **arguments))


def reduce_min(x, *, axes=None, keep_dims=False):
    return np.fmin.reduce(x, _axes(axes), keepdims=keep_dims)


def reduce_max(x, *, axes=None, keep_dims=False):
    return np.fmax.reduce(x, _axes(axes), keepdims=keep_dims)


def full(x, *, shape=None):
    return x if shape is None else np.broadcast_to(x, tuple(shape))


def full_like(x, fill_value):
    return np.broadcast_to(fill_value, x.shape)


def reinterpret(x, *, dtype, shape=None):
    bytes_of = np.ascontiguousarray(x)
    view = bytes_of.view(np.uint8) != 0 if np.dtype(dtype) == bool and x.dtype != bool else bytes_of.view(dtype)
    return view if shape is None else view.reshape(shape)


def lookup_table(x, *, keys=(), values=(), default_value=0.0):
    table = dict(zip(keys, values))
    return np.array([table.get(int(v), default_value) for v in x.ravel()], np.float64).reshape(x.shape)


def coord_flip(x, *, flip_x=1, flip_y=0, flip_z=0, center_x=0.5, center_y=0.5, center_z=0.5, layout=""):
    flips, centers = dict(x=flip_x, y=flip_y, z=flip_z), dict(x=center_x, y=center_y, z=center_z)
    out = x.astype(np.float64)
    for column, letter in enumerate((layout or "xyz")[: x.shape[1]]):
        if flips[letter]:
            out[:, column] = 2 * np.float64(centers[letter]) - out[:, column]
    return out


def draw_reduced(draw):
    """(inputs, layout, dtype, axes or None, whether axes are kept, constants)."""
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], empty=False)
    axes = draw(st.none() | st.sets(st.integers(0, len(layout) - 1), min_size=1).map(sorted))
    keep = draw(st.booleans())
    return xs, layout, dtype, axes, keep, {"keep_dims": keep, **({} if axes is None else {"axes": axes})}


def _real(dtype):
    return "float64" if dtype == "float64" else "float32"


def draw_reduction(function):
    def make(draw):
        xs, layout, dtype, axes, keep, constants = draw_reduced(draw)
        out = _real(dtype)
        if function in (reduce_min, reduce_max):
            out = dtype
        elif function is reduce_sum and np.dtype(dtype).kind != "f":
            out = "int64" if np.dtype(dtype).kind == "i" else "uint64"
        return Case([xs], [layout], constants, dtype=out, expected=lambda i: function(xs[i], axes=axes, keep_dims=keep))

    return make


def draw_about_mean(function):
    def make(draw):
        xs, layout, dtype, axes, keep, constants = draw_reduced(draw)
        kind, ddof = draw(st.sampled_from(["float32", "float64"])), draw(st.integers(0, 2))
        one, shift = draw(st.booleans()), draw(number(-2, 2))
        means = [np.asarray(mean(x, axes=None if one else axes, keep_dims=not one and keep) + shift, kind) for x in xs]
        return Case(
            [xs, means],
            [layout, ""],
            {**constants, "ddof": ddof},
            dtype=_real(dtype),
            expected=lambda i: function(xs[i], means[i], axes=axes, keep_dims=keep, ddof=ddof),
        )

    return make


def draw_shapes(draw, n, dims=None):
    dims = draw(st.integers(0, 3)) if dims is None else dims
    return [tuple(draw(st.integers(0, 9)) for _ in range(dims)) for _ in range(n)]


def draw_values_for(draw, shapes, dtype):
    """Values that are broadcast to these shapes."""
    kept, seed = draw(st.integers(0, len(shapes[0]))), draw(st.integers(0, 2**32 - 1))
    ones = [draw(st.booleans()) for _ in range(kept)]
    parts = [tuple(1 if one else n for one, n in zip(ones, s[len(s) - kept :])) for s in shapes]
    return [np.asarray(values(dtype, p, seed + i), dtype) for i, p in enumerate(parts)]


def draw_full(draw):
    shapes, dtype = draw_shapes(draw, draw(st.integers(1, 3)), draw(st.integers(1, 3))), draw(st.sampled_from(DTYPES))
    xs = draw_values_for(draw, shapes, dtype)
    return Case(
        [xs],
        [""],
        {},
        {"shape": [list(s) for s in shapes]},
        dtype=dtype,
        error=0.0,
        expected=lambda i: np.array(full(xs[i], shape=shapes[i])),
    )


def draw_full_like(draw):
    shapes, dtype = draw_shapes(draw, draw(st.integers(1, 3))), draw(st.sampled_from(DTYPES))
    seed = draw(st.integers(0, 2**32 - 1))
    likes = [np.asarray(values(dtype, s, seed + i), dtype) for i, s in enumerate(shapes)]
    fills = draw_values_for(draw, shapes, draw(st.sampled_from(DTYPES)))
    return Case(
        [likes, fills], ["", ""], dtype=dtype, expected=lambda i: to_dtype(full_like(likes[i], fills[i]), dtype)
    )


def draw_filled(value):
    def make(draw):
        shapes, out = draw_shapes(draw, draw(st.integers(1, 3)), draw(st.integers(1, 3))), draw(st.sampled_from(DTYPES))
        return Case(
            [],
            [],
            {"dtype": out},
            {"shape": [list(s) for s in shapes]},
            dtype=out,
            size=len(shapes),
            error=0.0,
            expected=lambda i: np.full(shapes[i], value, out),
        )

    return make


def draw_filled_like(value):
    def make(draw):
        xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
        constants = {}
        out = output_type(draw, dtype, constants)
        return Case(
            [xs], [layout], constants, dtype=out, error=0.0, expected=lambda i: np.full(xs[i].shape, value, out)
        )

    return make


def draw_cast_like(draw):
    xs, layout, _ = images(draw, IMAGE_LAYOUTS)
    out = draw(st.sampled_from(DTYPES))
    return Case(
        [xs, [np.zeros((k, 2), out) for k in range(len(xs))]],
        [layout, ""],
        dtype=out,
        expected=lambda i: cast(xs[i], dtype=out),
    )


def draw_reinterpret(draw):
    dtype, out = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(INTEGERS + ["bool"]))
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    shapes = [(draw(st.integers(0, 5)), 8 * draw(st.integers(1, 5))) for _ in range(n)]
    xs = [values(dtype, s, seed + i) for i, s in enumerate(shapes)]
    constants, shape = {"dtype": out}, None
    if draw(st.booleans()):
        constants["shape"] = shape = [-1]
    return Case(
        [xs], ["AB"], constants, dtype=out, error=0.0, expected=lambda i: reinterpret(xs[i], dtype=out, shape=shape)
    )


def draw_element_extract(draw):
    xs, layout, dtype = images(draw, ["FHWC", "FCHW"])
    least = min(len(x) for x in xs)
    frames = draw(st.lists(st.integers(0, least - 1), min_size=1, max_size=3))
    return Case([xs], [layout], {"element_map": frames}, dtype=dtype, error=0.0, expected=lambda i: xs[i][frames[0]])


def draw_sequence_rearrange(draw):
    xs, layout, dtype = images(draw, ["FHWC", "FCHW"])
    orders = [draw(st.lists(st.integers(0, len(x) - 1), min_size=1, max_size=5)) for x in xs]
    return Case([xs], [layout], {}, {"new_order": orders}, dtype=dtype, error=0.0, expected=lambda i: xs[i][orders[i]])


def draw_get_property(draw):
    xs, layout, _ = images(draw, IMAGE_LAYOUTS)
    return Case(
        [xs], [layout], {"key": "layout"}, dtype="uint8", expected=lambda i: np.frombuffer(layout.encode(), np.uint8)
    )


def draw_lookup_table(draw):
    xs, layout, _ = images(draw, ["HWC", "HW"], INTEGERS)
    keys = draw(st.lists(st.integers(0, 300), max_size=8))
    values, other = [draw(number(-90, 300)) for _ in keys], draw(number(-9, 9))
    out = draw(st.sampled_from(NUMBERS))
    return Case(
        [xs],
        [layout],
        {"keys": keys, "values": values, "default_value": other, "dtype": out},
        dtype=out,
        error=0.0,
        expected=lambda i: to_dtype(lookup_table(xs[i], keys=keys, values=values, default_value=other), out),
    )


def draw_coord_flip(draw):
    n, columns, seed = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    xs = [np.random.default_rng(seed + i).random((draw(st.integers(0, 9)), columns), np.float32) for i in range(n)]
    given = arguments(
        draw, n, {**{f"flip_{k}": st.integers(0, 1) for k in "xyz"}, **{f"center_{k}": number(-2, 2) for k in "xyz"}}
    )
    if draw(st.booleans()):
        given[0]["layout"] = "".join(draw(st.permutations("xyz"))[:columns])
    return Case([xs], [""], *given, dtype="float32", expected=lambda i: coord_flip(xs[i], **of(given, i)))


def draw_permute_batch(draw):
    """The existing order; test_batch_order.py has others."""
    xs, layout, dtype = images(draw, IMAGE_LAYOUTS)
    return Case(
        [xs],
        [layout],
        {"indices": list(range(len(xs)))},
        dtype=dtype,
        error=0.0,
        expected=lambda i: xs[i],
        alone={"indices": [0]},
    )


def draw_choice(draw):
    """One element, so that nothing is random."""
    dtype, seed = draw(st.sampled_from(DTYPES)), draw(st.integers(0, 2**32 - 1))
    rest = draw(st.sampled_from([(), (3,)]))
    xs = [np.asarray(values(dtype, (1, *rest), seed + i), dtype) for i in range(draw(st.integers(1, 3)))]
    shapes = draw_shapes(draw, len(xs), 2)
    return Case(
        [xs],
        [""],
        {},
        {"shape": [list(s) for s in shapes]},
        dtype=dtype,
        error=0.0,
        expected=lambda i: np.broadcast_to(xs[i][0], shapes[i] + rest).copy(),
    )


def draw_roi_random_crop(draw):
    """A window as large as the region, so that nothing is random."""
    n, dims = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    starts = [[draw(st.integers(0, 50)) for _ in range(dims)] for _ in range(n)]
    extents = [[draw(st.integers(0, 50)) for _ in range(dims)] for _ in range(n)]
    return Case(
        [],
        [],
        {},
        {"crop_shape": extents, "roi_start": starts, "roi_shape": extents},
        dtype="int64",
        size=n,
        expected=lambda i: np.array(starts[i], np.int64),
    )


def draw_random_crop_generator(draw):
    """The whole image, so that nothing is random."""
    h, w = draw(st.integers(1, 700)), draw(st.integers(1, 700))
    x = np.array([h, w, 3][: draw(st.integers(2, 3))], draw(st.sampled_from(["int16", "int32", "int64", "uint16"])))
    constants = {"random_area": [1.0, 1.0], "random_aspect_ratio": [w / h * 0.9998, w / h * 1.0002]}
    return Case([[x]], [""], constants, dtype="int32", expected=lambda i: np.array([0, 0], np.int32))


CASES = {
    "reductions.sum": draw_reduction(reduce_sum),
    "reductions.mean": draw_reduction(mean),
    "reductions.mean_square": draw_reduction(mean_square),
    "reductions.rms": draw_reduction(rms),
    "reductions.min": draw_reduction(reduce_min),
    "reductions.max": draw_reduction(reduce_max),
    "reductions.variance": draw_about_mean(variance),
    "reductions.std_dev": draw_about_mean(std_dev),
    "full": draw_full,
    "full_like": draw_full_like,
    "zeros": draw_filled(0),
    "ones": draw_filled(1),
    "zeros_like": draw_filled_like(0),
    "ones_like": draw_filled_like(1),
    "cast_like": draw_cast_like,
    "reinterpret": draw_reinterpret,
    "element_extract": draw_element_extract,
    "sequence_rearrange": draw_sequence_rearrange,
    "get_property": draw_get_property,
    "lookup_table": draw_lookup_table,
    "coord_flip": draw_coord_flip,
    "permute_batch": draw_permute_batch,
    "random.choice": draw_choice,
    "roi_random_crop": draw_roi_random_crop,
    "random_crop_generator": draw_random_crop_generator,
}
# Three would hide Python's own functions by their names.
REFERENCES = {
    "reductions.sum": "reduce_sum",
    "reductions.min": "reduce_min",
    "reductions.max": "reduce_max",
    "cast_like": "cast",
    **dict.fromkeys(
        (
            "zeros",
            "ones",
            "zeros_like",
            "ones_like",
            "element_extract",
            "sequence_rearrange",
            "get_property",
            "permute_batch",
            "random.choice",
            "roi_random_crop",
            "random_crop_generator",
        ),
        "numpy",
    ),
}
