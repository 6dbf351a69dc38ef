# SPDX-License-Identifier: Apache-2.0
"""Reductions, constants, shapes and orders of frames as NumPy code; a part of reference.py."""

import numpy as np


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
