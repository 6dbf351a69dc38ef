# SPDX-License-Identifier: Apache-2.0
"""What is refused of the parts of a Sample, by their names, before an operator moves them."""

from __future__ import annotations

import contextlib

import numpy as np

from .. import _core
from .layouts import known, rows_of
from .parts import PIXELS, Boxes, Instances, Mask, Points, Volume


def _dtype_of(value):
    """The NumPy type of a part, as far as it is known."""
    try:
        return np.dtype(str(getattr(value, "dtype", "")).rpartition(".")[2])
    except TypeError:
        return None


def _check_fill(name, kind, value):
    dtype = _dtype_of(value)
    if isinstance(kind.fill, bool) or not isinstance(kind.fill, (int, float, np.number)):
        raise TypeError(f"fill of the part '{name}' must be a number, got {kind.fill!r}")
    if dtype is None or dtype.kind not in "biu":
        return
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not low <= kind.fill <= high or kind.fill != int(kind.fill):
        raise ValueError(
            f"fill of the part '{name}' is {kind.fill:g}, which is not a value of {dtype}: cast the part to a type that has it"
        )


def _check_pixels(name, kind, value, volumes):
    ndim = known(value)[1]
    if isinstance(kind, Instances):
        if ndim not in (None, 3):
            raise TypeError(f"'{name}' has {ndim} dimensions: instances are (N, H, W), a mask for each box")
    elif ndim is not None and ndim < 2 and not volumes:
        raise TypeError(f"'{name}' has {ndim} dimension{'s' * (ndim != 1)}: an image or a mask is (H, W) or (H, W, C)")
    if isinstance(kind, (Mask, Instances)):
        _check_fill(name, kind, value)


def _rows(value):
    """How many rows a part has, of each sample; None: not known."""
    if isinstance(value, _core.Batch):
        return [tuple(shape)[:1] for shape in value.shape()]
    shape = getattr(value, "shape", None)
    return None if shape is None or callable(shape) else [tuple(shape)[:1]]


def _check_rows(sample, parts):
    for name in [name for name, kind in sample.kinds.items() if isinstance(kind, Boxes)]:
        for row in rows_of(sample, name):
            have, want = _rows(parts[row]), _rows(parts[name])
            if have is not None and want is not None and list(have) != list(want):
                k = next((i for i, (a, b) in enumerate(zip(have, want)) if a != b), 0)
                said = ["no rows" if not n else f"{n[0]} row{'s' * (n[0] != 1)}" for n in (have[k], want[k])]
                raise ValueError(f"'{row}' has {said[0]}, '{name}' has {said[1]}: a box has one row of each")


def check_extents(sample, calls):
    """Refuses boxes and points where the extents of the result are not known for a sample alone.

    Args:
        sample: A Sample.
        calls: The Calls of the operator.

    Raises:
        ValueError: The result is as large as the largest of the batch.
    """
    shape = calls.arguments.get("shape")
    plain = shape if isinstance(shape, (list, tuple)) else [shape]
    unknown = any(extent is None or (isinstance(extent, int) and extent <= 0) for extent in plain)
    if calls.may_follow_batch and unknown and any(isinstance(k, (Boxes, Points)) for k in sample.kinds.values()):
        raise ValueError(
            f"[{calls.op}] without shape= the result is as large as the largest of the batch, and boxes and points of a "
            "Sample do not know how large that is: give shape="
        )


def check(sample):
    """Refuses what cannot move, as far as it is known before the pipeline runs.

    Args:
        sample: A Sample.

    Raises:
        TypeError: A part has another number of dimensions.
        ValueError: A part has not a row for each box, or its type has not the value of its fill.
    """
    parts = sample._there()
    volumes = any(isinstance(kind, Volume) for kind in sample.kinds.values())
    for name, kind in sample.kinds.items():
        if isinstance(kind, PIXELS) and not isinstance(parts[name], (list, tuple)):
            _check_pixels(name, kind, parts[name], volumes)
    _check_rows(sample, parts)


@contextlib.contextmanager
def of_part(name):
    """Adds the name of the part to what an operator refuses inside."""
    try:
        yield
    except (TypeError, ValueError) as error:
        said = str(error)
        if type(error) not in (TypeError, ValueError) or f"'{name}'" in said:
            raise
        raise type(error)(f"'{name}' of the Sample: {said}") from None
