# SPDX-License-Identifier: Apache-2.0
"""Matrices of affine maps, n x (n + 1), as NumPy code; a part of reference.py."""

import numpy as np


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
