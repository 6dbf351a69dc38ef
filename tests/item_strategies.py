# SPDX-License-Identifier: Apache-2.0
"""Random calls of the operators behind x[key] and x[key] = value; a part of strategies.py."""
import numpy as np
import strategies
from hypothesis import strategies as st


def _index(draw, xs):
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
            given = strategies.arguments(draw, len(xs), {f"lo_{d}": bound, f"hi_{d}": bound, f"step_{d}": step})
            constants.update(given[0])
            per_sample.update(given[1])
            for i, key in enumerate(keys):
                key.append(slice(*[strategies.of(given, i).get(f"{part}_{d}") for part in ("lo", "hi", "step")]))
    return constants, per_sample, [tuple(k) for k in keys]


def subscript(draw):
    xs, layout, dtype = strategies.images(draw, ["HWC", "CHW", "HW"], empty=False)
    constants, per_sample, keys = _index(draw, xs)
    return strategies.Case([xs], [layout], constants, per_sample, dtype=dtype, expected=lambda i: np.asarray(xs[i][keys[i]]))


def assign(draw):
    xs, layout, dtype = strategies.images(draw, ["HWC", "CHW", "HW"], empty=False)
    constants, per_sample, keys = _index(draw, xs)
    parts = [x[key].shape for x, key in zip(xs, keys)]
    dims = draw(st.integers(0, len(parts[0])))  # some are left out, some are 1
    ones = draw(st.lists(st.booleans(), min_size=dims, max_size=dims))
    shapes = [tuple(1 if one else n for one, n in zip(ones, p[len(p) - dims:])) or (1,) for p in parts]
    value_dtype, seed = draw(st.sampled_from(strategies.DTYPES)), draw(st.integers(0, 2**32 - 1))
    given = [strategies.values(value_dtype, s, seed + i) for i, s in enumerate(shapes)]

    def expected(i):
        out = xs[i].copy()
        out[keys[i]] = strategies.ref.to_dtype(given[i], dtype).reshape(() if parts[i] == () else shapes[i])
        return out
    return strategies.Case([xs, given], [layout, ""], constants, per_sample, dtype=dtype, expected=expected)
