# SPDX-License-Identifier: Apache-2.0
"""Operators that make matrices of affine maps, n x (n + 1): the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import arguments, number, of


def _square(matrix):
    return np.vstack([matrix, np.eye(1, matrix.shape[1], matrix.shape[1] - 1)])


def combine(*matrices, reverse_order=False):
    """The map of all of them, the first one first."""
    out = np.eye(matrices[0].shape[1])
    for m in matrices if not reverse_order else matrices[::-1]:
        out = _square(np.asarray(m, np.float64)) @ out
    return out[:-1]


def _chained(own, x, reverse_order):
    return own if x is None else combine(x, own, reverse_order=reverse_order)


def _about(linear, center):
    n = len(linear)
    center = np.zeros(n) if center is None else np.broadcast_to(np.asarray(center, np.float64), n)
    return np.column_stack([linear, center - linear @ center])


def transform_translation(x=None, *, offset, reverse_order=False):
    return _chained(np.column_stack([np.eye(len(offset)), np.asarray(offset, np.float64)]), x, reverse_order)


def transform_scale(x=None, *, scale, center=None, ndim=None, reverse_order=False):
    n = len(scale) if len(scale) > 1 else ndim or (len(x) if x is not None else 1)
    return _chained(_about(np.diag(np.broadcast_to(np.asarray(scale, np.float64), n)), center), x, reverse_order)


def transform_rotation(x=None, *, angle, axis=None, center=None, reverse_order=False):
    a = np.deg2rad(np.float64(angle))
    if axis is None:
        linear = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    else:
        u = np.asarray(axis, np.float64) / np.linalg.norm(np.asarray(axis, np.float64))
        cross = np.cross(np.eye(3), u)  # v -> u x v
        linear = np.cos(a) * np.eye(3) + np.sin(a) * cross + (1 - np.cos(a)) * np.outer(u, u)
    return _chained(_about(linear, center), x, reverse_order)


def transform_shear(x=None, *, shear=None, angles=None, center=None, reverse_order=False):
    numbers = np.tan(np.deg2rad(np.asarray(angles, np.float64))) if shear is None else np.asarray(shear, np.float64)
    n = 2 if len(numbers) == 2 else 3
    linear = np.eye(n)
    linear[~np.eye(n, dtype=bool)] = numbers
    return _chained(_about(linear, center), x, reverse_order)


def transform_crop(
    x=None, *, from_start=(0,), from_end=(1,), to_start=(0,), to_end=(1,), absolute=False, reverse_order=False
):
    a, b, c, d = np.broadcast_arrays(*[np.asarray(v, np.float64) for v in (from_start, from_end, to_start, to_end)])
    if absolute:
        a, b, c, d = np.minimum(a, b), np.maximum(a, b), np.minimum(c, d), np.maximum(c, d)
    factor = (d - c) / (b - a)
    return _chained(np.column_stack([np.diag(factor), c - a * factor]), x, reverse_order)


def _vector(n, low=-4, high=4):
    return st.lists(number(low, high), min_size=n, max_size=n)


def draw_matrices(draw, count, n):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, (n, n + 1)).astype("float32") for _ in range(count)]


def draw_case(draw, function, n, given, count):
    """`given`: (constants, per_sample) of the operator's arguments for `count` samples."""
    chained, constants = draw(st.booleans()), dict(given[0])
    if not constants and not given[1]:
        chained = True
    if draw(st.booleans()):
        constants["reverse_order"] = True
    xs = draw_matrices(draw, count, n) if chained else [None] * count
    return Case(
        [xs] if chained else [],
        [""] if chained else [],
        constants,
        given[1],
        dtype="float32",
        size=count,
        largest=300.0,
        expected=lambda i: function(xs[i], **of((constants, given[1]), i)),
    )


def draw_size(draw):
    return draw(st.integers(1, 4)), draw(st.integers(1, 3))


def draw_translation(draw):
    n, count = draw_size(draw)
    return draw_case(draw, transform_translation, n, ({}, {"offset": [draw(_vector(n)) for _ in range(count)]}), count)


def draw_scale(draw):
    n, count = draw_size(draw)
    given = arguments(draw, count, {"center": _vector(n)})
    given[1]["scale"] = [draw(_vector(n)) for _ in range(count)]
    if n > 1 and draw(st.booleans()):
        given[1]["scale"] = [v[:1] for v in given[1]["scale"]]
        given[0]["ndim"] = n
    return draw_case(draw, transform_scale, n, given, count)


def draw_rotation(draw):
    count, solid = draw(st.integers(1, 3)), draw(st.booleans())
    n = 3 if solid else 2
    given = arguments(draw, count, {"center": _vector(n)})
    given[1]["angle"] = [draw(number(-400, 400)) for _ in range(count)]
    if solid:
        given[1]["axis"] = [draw(_vector(3).filter(any)) for _ in range(count)]
    return draw_case(draw, transform_rotation, n, given, count)


def draw_shear(draw):
    count, n = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    given = arguments(draw, count, {"center": _vector(n)})
    name, most = draw(st.sampled_from([("shear", 4), ("angles", 80)]))
    given[1][name] = [draw(_vector(n * (n - 1), -most, most)) for _ in range(count)]
    return draw_case(draw, transform_shear, n, given, count)


def draw_crop(draw):
    n, count = draw_size(draw)
    given = arguments(draw, count, {"to_start": _vector(n), "to_end": _vector(n)})
    given[1]["from_start"] = [draw(_vector(n, -3, 0)) for _ in range(count)]
    given[1]["from_end"] = [draw(_vector(n, 1, 4)) for _ in range(count)]
    if draw(st.booleans()):
        given[0]["absolute"] = True
    return draw_case(draw, transform_crop, n, given, count)


def draw_combine(draw):
    n, count = draw_size(draw)
    inputs = [draw_matrices(draw, count, n) for _ in range(draw(st.integers(2, 4)))]
    reverse = draw(st.booleans())
    return Case(
        inputs,
        [""] * len(inputs),
        {"reverse_order": reverse},
        dtype="float32",
        largest=300.0,
        expected=lambda i: combine(*[x[i] for x in inputs], reverse_order=reverse),
    )


CASES = {
    "transforms.translation": draw_translation,
    "transforms.scale": draw_scale,
    "transforms.rotation": draw_rotation,
    "transforms.shear": draw_shear,
    "transforms.crop": draw_crop,
    "transforms.combine": draw_combine,
}
REFERENCES = {name: name.replace("transforms.", "transform_") for name in CASES if name != "transforms.combine"}
