# SPDX-License-Identifier: Apache-2.0
"""Grid masks, and objects and polygons of masks: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import DTYPES, INTEGERS, arguments, images, number, of


def grid_mask(x, *, layout="HWC", tile=100, ratio=0.5, angle=0.0, shift_x=0.0, shift_y=0.0):
    """Zero where the rotated and moved coordinates, modulo the tile, are both below ratio * tile (a float32 product)."""
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
    """For a mask with at most one object."""
    _, begin, end = (object_boxes(labels) or [(0, np.zeros(labels.ndim, int), np.array(labels.shape))])[0]
    return np.concatenate([begin, end]) if format == "box" else begin


def random_mask_pixel(mask):
    """For a mask with one foreground pixel."""
    return np.argwhere(mask)[0]


def draw_grid_mask(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC"])
    given = arguments(
        draw,
        len(xs),
        {
            "tile": st.integers(1, 60),
            "ratio": number(-0.25, 1.25),
            "angle": number(-3, 3),
            "shift_x": number(-50, 50),
            "shift_y": number(-50, 50),
        },
    )
    return Case(
        [xs],
        [layout],
        *given,
        dtype=dtype,
        error=0.0,
        expected=lambda i: grid_mask(xs[i], layout=layout, **of(given, i)),
    )


def draw_shape(draw):
    return tuple(draw(st.integers(1, 9)) for _ in range(draw(st.integers(1, 3))))


def draw_random_mask_pixel(draw):
    shape, dtype = draw_shape(draw), draw(st.sampled_from(DTYPES))
    xs = [np.zeros(shape, dtype) for _ in range(draw(st.integers(1, 3)))]
    for x in xs:
        x[tuple(draw(st.integers(0, n - 1)) for n in shape)] = 1
    constants = draw(st.sampled_from([{}, {"threshold": 0.5}, {"value": 1}]))
    return Case([xs], [""], {"foreground": 1, **constants}, dtype="int64", expected=lambda i: random_mask_pixel(xs[i]))


def draw_random_object_bbox(draw):
    """One box of a label, or nothing."""
    shape, dtype = draw_shape(draw), draw(st.sampled_from(["bool", *INTEGERS]))
    xs = [np.zeros(shape, dtype) for _ in range(draw(st.integers(1, 3)))]
    for x in xs:
        x[tuple(slice(*sorted((draw(st.integers(0, n)), draw(st.integers(0, n))))) for n in shape)] = 1
    form = draw(st.sampled_from(["anchor_shape", "start_end", "box"]))
    return Case([xs], [""], {"format": form}, dtype="int32", expected=lambda i: random_object_bbox(xs[i], format=form))


def draw_select_masks(draw):
    n, seed, inputs = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1)), ([], [], [])
    for i in range(n):
        rng = np.random.default_rng(seed + i)
        masks, vertices = int(rng.integers(1, 6)), int(rng.integers(0, 30))
        ranges = np.sort(rng.integers(0, vertices + 1, (masks + 2, 2)), 1)
        names = np.concatenate([np.arange(masks), rng.integers(0, masks, 2)])
        inputs[0].append(rng.permutation(masks)[: rng.integers(0, masks + 1)].astype(np.int32))
        inputs[1].append(np.column_stack([names, ranges]).astype(np.int32))
        inputs[2].append(rng.random((vertices, 2), np.float32))
    reindex = draw(st.booleans())
    return Case(
        list(inputs),
        ["", "", ""],
        {"reindex_masks": reindex},
        dtype="int32",
        expected=lambda i: select_masks(*[x[i] for x in inputs], reindex_masks=reindex)[0],
    )


CASES = {
    "grid_mask": draw_grid_mask,
    "segmentation.random_mask_pixel": draw_random_mask_pixel,
    "segmentation.random_object_bbox": draw_random_object_bbox,
    "segmentation.select_masks": draw_select_masks,
}
