# SPDX-License-Identifier: Apache-2.0
"""Random calls of reductions, constants, shapes and orders of frames; a part of strategies.py."""

import numpy as np
import reference as ref
import strategies
from hypothesis import strategies as st
from operator_calls import Case


def _reduced(draw):
    """(inputs, layout, dtype, axes or None, whether axes are kept, constants)."""
    xs, layout, dtype = strategies.images(draw, ["HWC", "CHW", "HW"], empty=False)
    axes = draw(st.none() | st.sets(st.integers(0, len(layout) - 1), min_size=1).map(sorted))
    keep = draw(st.booleans())
    return xs, layout, dtype, axes, keep, {"keep_dims": keep, **({} if axes is None else {"axes": axes})}


def _real(dtype):
    return "float64" if dtype == "float64" else "float32"


# References that would hide Python's own functions by their names.
NAMED = {"reductions.sum": "reduce_sum", "reductions.min": "reduce_min", "reductions.max": "reduce_max"}


def reduction(name):
    function = getattr(ref, NAMED.get("reductions." + name, name))

    def make(draw):
        xs, layout, dtype, axes, keep, constants = _reduced(draw)
        out = _real(dtype)
        if name in ("min", "max"):
            out = dtype
        elif name == "sum" and np.dtype(dtype).kind != "f":
            out = "int64" if np.dtype(dtype).kind == "i" else "uint64"
        return Case([xs], [layout], constants, dtype=out, expected=lambda i: function(xs[i], axes=axes, keep_dims=keep))

    return make


def about_mean(name):
    function = getattr(ref, name)

    def make(draw):
        xs, layout, dtype, axes, keep, constants = _reduced(draw)
        kind, ddof = draw(st.sampled_from(["float32", "float64"])), draw(st.integers(0, 2))
        one, shift = draw(st.booleans()), draw(strategies.number(-2, 2))
        means = [
            np.asarray(ref.mean(x, axes=None if one else axes, keep_dims=not one and keep) + shift, kind) for x in xs
        ]
        return Case(
            [xs, means],
            [layout, ""],
            {**constants, "ddof": ddof},
            dtype=_real(dtype),
            expected=lambda i: function(xs[i], means[i], axes=axes, keep_dims=keep, ddof=ddof),
        )

    return make


def _shapes(draw, n, dims=None):
    dims = draw(st.integers(0, 3)) if dims is None else dims
    return [tuple(draw(st.integers(0, 9)) for _ in range(dims)) for _ in range(n)]


def _values_for(draw, shapes, dtype):
    """Values that are broadcast to these shapes."""
    kept, seed = draw(st.integers(0, len(shapes[0]))), draw(st.integers(0, 2**32 - 1))
    ones = [draw(st.booleans()) for _ in range(kept)]
    parts = [tuple(1 if one else n for one, n in zip(ones, s[len(s) - kept :])) for s in shapes]
    return [np.asarray(strategies.values(dtype, p, seed + i), dtype) for i, p in enumerate(parts)]


def full(draw):
    shapes, dtype = (
        _shapes(draw, draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        draw(st.sampled_from(strategies.DTYPES)),
    )
    xs = _values_for(draw, shapes, dtype)
    return Case(
        [xs],
        [""],
        {},
        {"shape": [list(s) for s in shapes]},
        dtype=dtype,
        error=0.0,
        expected=lambda i: np.array(ref.full(xs[i], shape=shapes[i])),
    )


def full_like(draw):
    shapes, dtype = _shapes(draw, draw(st.integers(1, 3))), draw(st.sampled_from(strategies.DTYPES))
    seed = draw(st.integers(0, 2**32 - 1))
    likes = [np.asarray(strategies.values(dtype, s, seed + i), dtype) for i, s in enumerate(shapes)]
    fills = _values_for(draw, shapes, draw(st.sampled_from(strategies.DTYPES)))
    return Case(
        [likes, fills], ["", ""], dtype=dtype, expected=lambda i: ref.to_dtype(ref.full_like(likes[i], fills[i]), dtype)
    )


def filled(value):
    def make(draw):
        shapes, out = (
            _shapes(draw, draw(st.integers(1, 3)), draw(st.integers(1, 3))),
            draw(st.sampled_from(strategies.DTYPES)),
        )
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


def filled_like(value):
    def make(draw):
        xs, layout, dtype = strategies.images(draw, strategies.IMAGE_LAYOUTS)
        constants = {}
        out = strategies.output_type(draw, dtype, constants)
        return Case(
            [xs], [layout], constants, dtype=out, error=0.0, expected=lambda i: np.full(xs[i].shape, value, out)
        )

    return make


def cast_like(draw):
    xs, layout, _ = strategies.images(draw, strategies.IMAGE_LAYOUTS)
    out = draw(st.sampled_from(strategies.DTYPES))
    return Case(
        [xs, [np.zeros((k, 2), out) for k in range(len(xs))]],
        [layout, ""],
        dtype=out,
        expected=lambda i: ref.cast(xs[i], dtype=out),
    )


def reinterpret(draw):
    dtype, out = draw(st.sampled_from(strategies.DTYPES)), draw(st.sampled_from(strategies.INTEGERS + ["bool"]))
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    shapes = [(draw(st.integers(0, 5)), 8 * draw(st.integers(1, 5))) for _ in range(n)]
    xs = [strategies.values(dtype, s, seed + i) for i, s in enumerate(shapes)]
    constants, shape = {"dtype": out}, None
    if draw(st.booleans()):
        constants["shape"] = shape = [-1]
    return Case(
        [xs], ["AB"], constants, dtype=out, error=0.0, expected=lambda i: ref.reinterpret(xs[i], dtype=out, shape=shape)
    )


def element_extract(draw):
    xs, layout, dtype = strategies.images(draw, ["FHWC", "FCHW"])
    least = min(len(x) for x in xs)
    frames = draw(st.lists(st.integers(0, least - 1), min_size=1, max_size=3))
    return Case([xs], [layout], {"element_map": frames}, dtype=dtype, error=0.0, expected=lambda i: xs[i][frames[0]])


def sequence_rearrange(draw):
    xs, layout, dtype = strategies.images(draw, ["FHWC", "FCHW"])
    orders = [draw(st.lists(st.integers(0, len(x) - 1), min_size=1, max_size=5)) for x in xs]
    return Case([xs], [layout], {}, {"new_order": orders}, dtype=dtype, error=0.0, expected=lambda i: xs[i][orders[i]])


def get_property(draw):
    xs, layout, _ = strategies.images(draw, strategies.IMAGE_LAYOUTS)
    return Case(
        [xs], [layout], {"key": "layout"}, dtype="uint8", expected=lambda i: np.frombuffer(layout.encode(), np.uint8)
    )


def lookup_table(draw):
    xs, layout, _ = strategies.images(draw, ["HWC", "HW"], strategies.INTEGERS)
    keys = draw(st.lists(st.integers(0, 300), max_size=8))
    values, other = [draw(strategies.number(-90, 300)) for _ in keys], draw(strategies.number(-9, 9))
    out = draw(st.sampled_from(strategies.NUMBERS))
    return Case(
        [xs],
        [layout],
        {"keys": keys, "values": values, "default_value": other, "dtype": out},
        dtype=out,
        error=0.0,
        expected=lambda i: ref.to_dtype(ref.lookup_table(xs[i], keys=keys, values=values, default_value=other), out),
    )


def coord_flip(draw):
    n, columns, seed = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    xs = [np.random.default_rng(seed + i).random((draw(st.integers(0, 9)), columns), np.float32) for i in range(n)]
    given = strategies.arguments(
        draw,
        n,
        {**{f"flip_{k}": st.integers(0, 1) for k in "xyz"}, **{f"center_{k}": strategies.number(-2, 2) for k in "xyz"}},
    )
    if draw(st.booleans()):
        given[0]["layout"] = "".join(draw(st.permutations("xyz"))[:columns])
    return Case(
        [xs], [""], *given, dtype="float32", expected=lambda i: ref.coord_flip(xs[i], **strategies.of(given, i))
    )


def permute_batch(draw):
    """The order that there is; test_batch_order.py has others."""
    xs, layout, dtype = strategies.images(draw, strategies.IMAGE_LAYOUTS)
    return Case(
        [xs],
        [layout],
        {"indices": list(range(len(xs)))},
        dtype=dtype,
        error=0.0,
        expected=lambda i: xs[i],
        alone={"indices": [0]},
    )


def choice(draw):
    """Of one element, so that nothing is random."""
    dtype, seed = draw(st.sampled_from(strategies.DTYPES)), draw(st.integers(0, 2**32 - 1))
    rest = draw(st.sampled_from([(), (3,)]))
    xs = [np.asarray(strategies.values(dtype, (1, *rest), seed + i), dtype) for i in range(draw(st.integers(1, 3)))]
    shapes = _shapes(draw, len(xs), 2)
    return Case(
        [xs],
        [""],
        {},
        {"shape": [list(s) for s in shapes]},
        dtype=dtype,
        error=0.0,
        expected=lambda i: np.broadcast_to(xs[i][0], shapes[i] + rest).copy(),
    )


def roi_random_crop(draw):
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


def random_crop_generator(draw):
    """The whole image, so that nothing is random."""
    h, w = draw(st.integers(1, 700)), draw(st.integers(1, 700))
    x = np.array([h, w, 3][: draw(st.integers(2, 3))], draw(st.sampled_from(["int16", "int32", "int64", "uint16"])))
    constants = {"random_area": [1.0, 1.0], "random_aspect_ratio": [w / h * 0.9998, w / h * 1.0002]}
    return Case([[x]], [""], constants, dtype="int32", expected=lambda i: np.array([0, 0], np.int32))


CASES = {
    **{f"reductions.{n}": reduction(n) for n in ("sum", "mean", "mean_square", "rms", "min", "max")},
    **{f"reductions.{n}": about_mean(n) for n in ("variance", "std_dev")},
    "full": full,
    "full_like": full_like,
    "zeros": filled(0),
    "ones": filled(1),
    "zeros_like": filled_like(0),
    "ones_like": filled_like(1),
    "cast_like": cast_like,
    "reinterpret": reinterpret,
    "element_extract": element_extract,
    "sequence_rearrange": sequence_rearrange,
    "get_property": get_property,
    "lookup_table": lookup_table,
    "coord_flip": coord_flip,
    "permute_batch": permute_batch,
    "random.choice": choice,
    "roi_random_crop": roi_random_crop,
    "random_crop_generator": random_crop_generator,
}
# Those that NumPy itself is the reference of.
NUMPY = [
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
]
