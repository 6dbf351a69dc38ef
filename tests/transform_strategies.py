# SPDX-License-Identifier: Apache-2.0
"""Random calls of the operators that make matrices of affine maps; a part of strategies.py."""

import reference as ref
import strategies
from hypothesis import strategies as st
from operator_calls import Case


def _vector(n, low=-4, high=4):
    return st.lists(strategies.number(low, high), min_size=n, max_size=n)


def _matrices(draw, count, n):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = strategies.np.random.default_rng(seed)
    return [rng.uniform(-2, 2, (n, n + 1)).astype("float32") for _ in range(count)]


def _case(draw, name, n, given, count):
    """`given`: (constants, per_sample) of the operator's arguments for `count` samples."""
    function = getattr(ref, "transform_" + name)
    chained, constants = draw(st.booleans()), dict(given[0])
    if not constants and not given[1]:
        chained = True
    if draw(st.booleans()):
        constants["reverse_order"] = True
    xs = _matrices(draw, count, n) if chained else [None] * count
    return Case(
        [xs] if chained else [],
        [""] if chained else [],
        constants,
        given[1],
        dtype="float32",
        size=count,
        largest=300.0,
        expected=lambda i: function(xs[i], **strategies.of((constants, given[1]), i)),
    )


def _size(draw):
    return draw(st.integers(1, 4)), draw(st.integers(1, 3))


def translation(draw):
    n, count = _size(draw)
    return _case(draw, "translation", n, ({}, {"offset": [draw(_vector(n)) for _ in range(count)]}), count)


def scale(draw):
    n, count = _size(draw)
    given = strategies.arguments(draw, count, {"center": _vector(n)})
    given[1]["scale"] = [draw(_vector(n)) for _ in range(count)]
    if n > 1 and draw(st.booleans()):
        given[1]["scale"] = [v[:1] for v in given[1]["scale"]]
        given[0]["ndim"] = n
    return _case(draw, "scale", n, given, count)


def rotation(draw):
    count, solid = draw(st.integers(1, 3)), draw(st.booleans())
    n = 3 if solid else 2
    given = strategies.arguments(draw, count, {"center": _vector(n)})
    given[1]["angle"] = [draw(strategies.number(-400, 400)) for _ in range(count)]
    if solid:
        given[1]["axis"] = [draw(_vector(3).filter(any)) for _ in range(count)]
    return _case(draw, "rotation", n, given, count)


def shear(draw):
    count, n = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    given = strategies.arguments(draw, count, {"center": _vector(n)})
    name, most = draw(st.sampled_from([("shear", 4), ("angles", 80)]))
    given[1][name] = [draw(_vector(n * (n - 1), -most, most)) for _ in range(count)]
    return _case(draw, "shear", n, given, count)


def crop(draw):
    n, count = _size(draw)
    given = strategies.arguments(draw, count, {"to_start": _vector(n), "to_end": _vector(n)})
    given[1]["from_start"] = [draw(_vector(n, -3, 0)) for _ in range(count)]
    given[1]["from_end"] = [draw(_vector(n, 1, 4)) for _ in range(count)]
    if draw(st.booleans()):
        given[0]["absolute"] = True
    return _case(draw, "crop", n, given, count)


def combine(draw):
    n, count = _size(draw)
    inputs = [_matrices(draw, count, n) for _ in range(draw(st.integers(2, 4)))]
    reverse = draw(st.booleans())
    return Case(
        inputs,
        [""] * len(inputs),
        {"reverse_order": reverse},
        dtype="float32",
        largest=300.0,
        expected=lambda i: ref.combine(*[x[i] for x in inputs], reverse_order=reverse),
    )


CASES = {f"transforms.{f.__name__}": f for f in (translation, scale, rotation, shear, crop, combine)}
NAMED = {name: "combine" if name.endswith("combine") else name.replace("transforms.", "transform_") for name in CASES}
