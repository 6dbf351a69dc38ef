# SPDX-License-Identifier: Apache-2.0
"""Grid masks, and objects and polygons of masks as NumPy code; a part of reference.py."""

import numpy as np


def grid_mask(x, *, layout="HWC", tile=100, ratio=0.5, angle=0.0, shift_x=0.0, shift_y=0.0):
    """Zero where the turned and moved coordinates, modulo the tile, are both below ratio * tile (a float32 product)."""
    h, w = layout.index("H"), layout.index("W")
    row, column = np.mgrid[: x.shape[h], : x.shape[w]].astype(np.float64)
    a, black = np.float64(np.float32(angle)), np.float64(np.float32(ratio) * np.float32(tile))
    u = np.cos(a) * column - np.sin(a) * row - np.float32(shift_x)
    v = np.sin(a) * column + np.cos(a) * row - np.float32(shift_y)
    kept = (u - tile * np.floor(u / tile) >= black) | (v - tile * np.floor(v / tile) >= black)
    shape = [n if k in "HW" else 1 for n, k in zip(x.shape, layout)]
    return np.where(kept.reshape(shape), x, np.zeros_like(x))


def select_masks(mask_ids, polygons, vertices, *, reindex_masks=False):
    rows, kept = [], []
    for place, mask in enumerate(mask_ids):
        for _, begin, end in (p for p in polygons if p[0] == mask):
            at = sum(map(len, kept))
            rows.append([place if reindex_masks else mask, at, at + end - begin])
            kept.append(vertices[begin:end])
    return np.array(rows, np.int32).reshape(-1, 3), np.concatenate([*kept, vertices[:0]])


def object_boxes(labels, *, background=0):
    """[(label, begin, end)] of the parts of one label that are joined along axes."""
    seen, found = np.zeros(labels.shape, bool), []
    for first in np.ndindex(labels.shape):
        if seen[first] or labels[first] == background:
            continue
        part = np.zeros_like(seen)
        part[first] = True
        while True:  # grows by one step until nothing is added
            grown = part.copy()
            for axis in range(labels.ndim):
                low, high = [[slice(None)] * labels.ndim for _ in range(2)]
                low[axis], high[axis] = slice(None, -1), slice(1, None)
                grown[tuple(high)] |= part[tuple(low)]
                grown[tuple(low)] |= part[tuple(high)]
            grown &= labels == labels[first]
            if (grown == part).all():
                break
            part = grown
        seen |= part
        places = np.argwhere(part)
        found.append((int(labels[first]), places.min(0), places.max(0) + 1))
    return found


def random_object_bbox(labels, *, format="anchor_shape"):
    """Of a mask with one object at most."""
    _, begin, end = (object_boxes(labels) or [(0, np.zeros(labels.ndim, int), np.array(labels.shape))])[0]
    return np.concatenate([begin, end]) if format == "box" else begin


def random_mask_pixel(mask):
    """Of a mask with one foreground pixel."""
    return np.argwhere(mask)[0]
