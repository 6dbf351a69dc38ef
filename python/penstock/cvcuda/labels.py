# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: label. fn.label numbers regions; small ones are removed, and statistics counted, on the host."""

import numpy as np

from .. import fn
from . import operands
from .calls import each, row
from .enumerations import ConnectivityType
from .operands import type_of, values_of
from .signatures import found

_LABEL = (
    "connectivity=ConnectivityType.CONNECTIVITY_4_2D, assign_labels=LABEL.FAST, "
    "mask_type=LabelMaskType.REMOVE_ISLANDS_OUTSIDE_MASK_ONLY"
)
_LIMITS = "bg_label=None, min_thresh=None, max_thresh=None, min_size=None, mask=None"
_NEIGHBORS = {ConnectivityType.CONNECTIVITY_4_2D: 4, ConnectivityType.CONNECTIVITY_8_2D: 8}
_COLUMNS = 7  # of statistics: label, left, top, width, height, pixels, whether a pixel is inside the mask


def _binary(call, x):
    """1 where values are within the thresholds, or the values themselves."""
    if call.min_thresh is None and call.max_thresh is None:
        return x
    inside = 1
    for limit, compare in ((call.min_thresh, "__ge__"), (call.max_thresh, "__le__")):
        if limit is not None:
            inside = getattr(x, compare)(each(values_of(limit), len(x))) * inside
    made = call.step(fn.cast, inside, dtype="uint8")
    made.set_layout(x.layout())
    return made


def _background(call, x):
    """The value of the background of each sample; without bg_label one that no pixel has."""
    if call.bg_label is not None:
        return each(values_of(call.bg_label).astype(np.int32), len(x))
    dtype = type_of(x)
    absent = -1 if dtype.kind == "u" else np.iinfo(np.int32).min
    if dtype == np.int32 and any((np.asarray(s.cpu()) == absent).any() for s in x):
        call.refuse(f"without bg_label no pixel may have the value {absent}")
    return absent


def _mask_of(call, sample):
    mask = values_of(call.mask)
    layout = str(call.mask.layout or "")
    if "N" in layout:
        mask = mask[sample if len(mask) > 1 else 0]
    return mask.reshape(mask.size) != 0


def _cleaned(call, labels, sample, least):
    """(labels without small regions, numbered from 1 again, which regions have a pixel inside the mask)"""
    flat = labels.reshape(-1)
    sizes = np.bincount(flat)
    inside = np.zeros(len(sizes), bool)
    if call.mask is not None:
        inside = np.bincount(flat[_mask_of(call, sample)], minlength=len(sizes)) > 0
    kept = np.ones(len(sizes), bool) if least is None else (sizes >= least) | inside
    kept[0] = False
    numbers = np.where(kept, np.cumsum(kept), 0).astype(np.int32)
    return numbers[flat].reshape(labels.shape), inside[kept]


def _statistics(plane, inside, most):
    """A row for each of the first regions of a plane."""
    rows = np.zeros((most, _COLUMNS), np.int32)
    count = len(inside)
    if count == 0:
        return rows
    y, x = np.nonzero(plane)
    region = plane[y, x]
    low, high = np.full((2, count + 1), np.iinfo(np.int32).max), np.full((2, count + 1), -1)
    for axis, places in enumerate((x, y)):
        np.minimum.at(low[axis], region, places)
        np.maximum.at(high[axis], region, places)
    pixels = np.bincount(region, minlength=count + 1)
    columns = [np.arange(count + 1), low[0], low[1], *(high - low + 1), pixels, [0, *inside]]
    made = np.stack([np.asarray(c) for c in columns], axis=1)[1:]
    rows[:count] = made[:most]
    return rows


@row(
    f"T: src, {_LABEL}, *, count=False, stats=False, max_labels=10000, {_LIMITS}",
    into=[f"dst, count=None, stats=None, src=None, {_LABEL}, *, {_LIMITS}"],
    over=("label",),
)
def label(call):
    """Numbers connected regions of equal values; with bg_label, pixels of this value belong to none."""
    layout = call.x.layout()
    if call.connectivity not in _NEIGHBORS or "D" in layout:
        call.refuse("regions of volumes are not there; images have CONNECTIVITY_4_2D or CONNECTIVITY_8_2D")
    if call.channels != 1:
        call.refuse(f"images have one channel, got {call.channels}")
    x = _binary(call, call.x)
    given = {"connectivity": _NEIGHBORS[call.connectivity], "background": _background(call, x), "by_value": True}
    numbered = [np.asarray(s.cpu()) for s in call.step(found("label"), x, **given)]
    least = None if call.min_size is None else np.broadcast_to(values_of(call.min_size).reshape(-1), len(numbered))
    cleaned = [_cleaned(call, n, k, None if least is None else least[k]) for k, n in enumerate(numbered)]
    labels = np.stack([c[0] for c in cleaned]) if call.first.layout[0] == "N" else cleaned[0][0]
    counts = np.array([len(c[1]) for c in cleaned], np.int32)
    heights = [s[layout.index("H")] for s in call.x.shape()]
    planes = [(c[0].reshape(h, -1), c[1]) for c, h in zip(cleaned, heights)]
    return _given_back(call, labels, counts, planes)


def _given_back(call, labels, counts, planes):
    into = call.dst is not None
    most = call.stats.shape[1] if into and call.stats is not None else getattr(call, "max_labels", 0)
    wanted = call.stats if into else call.stats or None
    rows = np.stack([_statistics(plane, inside, int(most)) for plane, inside in planes]) if wanted is not None else None
    if into:
        return (
            operands.store(call.dst, labels),
            None if call.count is None else operands.store(call.count, counts),
            None if rows is None else operands.store(call.stats, rows),
        )
    return (
        operands.new_tensor(labels, call.first.layout, call.x),
        operands.new_tensor(counts, "N", call.x) if call.count else None,
        None if rows is None else operands.new_tensor(rows, "NMA", call.x),
    )
