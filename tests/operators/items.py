# SPDX-License-Identifier: Apache-2.0
"""Operators of x[key], x[key] = value and where: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.draws import DTYPES, arguments, images, of
from operators.exact import promote, to_dtype


def where(condition, a, b):
    kind = promote(a.dtype, b.dtype)
    return np.where(condition != 0, to_dtype(a, kind), to_dtype(b, kind))


def draw_index(draw, xs):
    """(constants, per_sample, NumPy's key of each sample) of indices and ranges."""
    bound, step = st.integers(-20, 20), st.sampled_from([1, 2, 3, -1, -2])
    constants, per_sample, keys = {}, {}, [[] for _ in xs]
    for d in range(xs[0].ndim):
        if draw(st.integers(0, 3)) == 0:
            at = [draw(st.integers(-x.shape[d], x.shape[d] - 1)) for x in xs]
            per_sample[f"at_{d}"] = at
            for key, a in zip(keys, at):
                key.append(a)
        else:
            given = arguments(draw, len(xs), {f"lo_{d}": bound, f"hi_{d}": bound, f"step_{d}": step})
            constants.update(given[0])
            per_sample.update(given[1])
            for i, key in enumerate(keys):
                key.append(slice(*[of(given, i).get(f"{part}_{d}") for part in ("lo", "hi", "step")]))
    return constants, per_sample, [tuple(k) for k in keys]


def draw_subscript(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], empty=False)
    constants, per_sample, keys = draw_index(draw, xs)
    return Case([xs], [layout], constants, per_sample, dtype=dtype, expected=lambda i: np.asarray(xs[i][keys[i]]))


def draw_assign(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW"], empty=False)
    constants, per_sample, keys = draw_index(draw, xs)
    parts = [x[key].shape for x, key in zip(xs, keys)]
    dims = draw(st.integers(0, len(parts[0])))  # some are omitted, some are 1
    ones = draw(st.lists(st.booleans(), min_size=dims, max_size=dims))
    shapes = [tuple(1 if one else n for one, n in zip(ones, p[len(p) - dims :])) or (1,) for p in parts]
    value_dtype, seed = draw(st.sampled_from(DTYPES)), draw(st.integers(0, 2**32 - 1))
    given = [values(value_dtype, s, seed + i) for i, s in enumerate(shapes)]

    def expected(i):
        out = xs[i].copy()
        out[keys[i]] = to_dtype(given[i], dtype).reshape(() if parts[i] == () else shapes[i])
        return out

    return Case([xs, given], [layout, ""], constants, per_sample, dtype=dtype, expected=expected)


def draw_value_for(draw, parts, dtype):
    """(values that broadcast to parts of these shapes, as they are stored in `dtype`)."""
    value_dtype, seed = draw(st.sampled_from(DTYPES)), draw(st.integers(0, 2**32 - 1))
    alone = draw(st.booleans())
    given = [values(value_dtype, (1,) if alone else p, seed + i) for i, p in enumerate(parts)]
    return given, [to_dtype(v, dtype) for v in given]


def draw_masks(draw, xs):
    dims, seed = draw(st.integers(1, xs[0].ndim)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    return [rng.random(x.shape[:dims]) < 0.4 for x in xs]


def draw_lists(draw, xs):
    counts = [draw(st.integers(0, 4)) for _ in xs]
    return [
        np.array([draw(st.integers(-x.shape[0], x.shape[0] - 1)) for _ in range(n)], np.int32)
        for x, n in zip(xs, counts)
    ]


def draw_reads(picks):
    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "HW"], empty=False)
        keys = picks(draw, xs)
        return Case([xs, keys], [layout, ""], dtype=dtype, expected=lambda i: xs[i][keys[i]])

    return make


def draw_assigns(picks):
    def make(draw):
        xs, layout, dtype = images(draw, ["HWC", "HW"], empty=False)
        keys = picks(draw, xs)
        given, stored = draw_value_for(draw, [x[k].shape for x, k in zip(xs, keys)], dtype)

        def expected(i):
            out = xs[i].copy()
            out[keys[i]] = stored[i]
            return out

        return Case([xs, keys, given], [layout, "", ""], dtype=dtype, expected=expected)

    return make


def draw_where(draw):
    """Each of the three as large as the result, or of one element along axes, or with fewer axes."""
    xs, layout, dtype = images(draw, ["HWC", "HW"], empty=False)
    seed, inputs = draw(st.integers(0, 2**32 - 1)), []
    types = [draw(st.sampled_from(["bool", "uint8", "int32", "float32"])), dtype, draw(st.sampled_from(DTYPES))]
    for k, kind in enumerate(types):
        axes = [draw(st.booleans()) for _ in layout] if k != 1 else [True] * len(layout)
        first = draw(st.integers(0, len(layout))) if k != 1 else 0
        shapes = [tuple(n if whole else 1 for n, whole in zip(x.shape, axes))[first:] for x in xs]
        inputs.append([values(kind, s, seed + 100 * k + i) for i, s in enumerate(shapes)])
    inputs[0] = [c * (np.random.default_rng(seed).random(c.shape) < 0.5) for c in inputs[0]]
    inputs[0] = [np.asarray(c, types[0]) for c in inputs[0]]
    made = promote(np.dtype(types[1]), np.dtype(types[2]))
    return Case(inputs, ["", layout, ""], dtype=str(made), expected=lambda i: where(*(arrays[i] for arrays in inputs)))


CASES = {
    "_subscript": draw_subscript,
    "_assign": draw_assign,
    "_select_where": draw_reads(draw_masks),
    "_assign_where": draw_assigns(draw_masks),
    "_take": draw_reads(draw_lists),
    "_assign_at": draw_assigns(draw_lists),
    "where": draw_where,
}
REFERENCES = {name: "numpy" for name in CASES if name != "where"}
