# SPDX-License-Identifier: Apache-2.0
"""label: the reference and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import extent
from operators.picture_draws import some
from scipy import ndimage


def regions(mask, *, connectivity=8, background=0, by_value=False, min_size=1):
    """(labels, rows of statistics) of a mask (height, width)."""
    around = np.ones((3, 3)) if connectivity == 8 else None
    values = np.unique(mask[mask != background]) if by_value else [None]
    found, count = np.zeros(mask.shape, np.int64), 0
    for value in values:
        part, n = ndimage.label(mask != background if value is None else mask == value, around)
        found[part > 0] = part[part > 0] + count
        count += n
    first, size = np.unique(found, return_index=True), np.bincount(found.ravel(), minlength=count + 1)
    order = [k for _, k in sorted(zip(first[1], first[0])) if k and size[k] >= min_size]
    labels, rows = np.zeros(mask.shape, np.int64), []
    for number, k in enumerate(order, 1):
        labels[found == k] = number
        y, x = np.nonzero(found == k)
        rows.append([x.min(), y.min(), np.ptp(x) + 1, np.ptp(y) + 1, len(x)])
    return labels, np.int64(rows).reshape(-1, 5)


def label(mask, layout, **arguments):
    shape = mask.shape
    return regions(mask.reshape([n for n, a in zip(shape, layout) if a in "HW"]), **arguments)[0].reshape(shape)


def draw_label(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    layout = draw(st.sampled_from(["HW", "HWC", "CHW"]))
    dtype = draw(st.sampled_from(["bool", "uint8", "int32", "int64"]))
    share, xs = draw(st.sampled_from([0.2, 0.5, 0.7, 0.95])), []
    for _ in range(draw(st.integers(1, 3))):
        shape = [extent(draw) if a in "HW" else 1 for a in layout]
        xs.append(((rng.random(shape) < share) * rng.integers(1, 3, shape)).astype(dtype))
    constants = some(
        draw,
        connectivity=st.sampled_from([4, 8]),
        background=st.sampled_from([0, 1]),
        by_value=st.booleans(),
        min_size=st.sampled_from([0, 2, 5]),
    )
    expected = lambda i: label(xs[i], layout, **constants)  # noqa: E731
    return Case([xs], [layout], constants, dtype="int32", error=0.0, expected=expected)


CASES = {"label": draw_label}
