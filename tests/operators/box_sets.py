# SPDX-License-Identifier: Apache-2.0
"""Operators that look at all boxes or masks of a sample: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case


def _box_union(boxes):
    return np.concatenate([boxes[:, :2].min(0), boxes[:, 2:].max(0)]) if len(boxes) else np.zeros(4)


def draw_box_union(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = [rng.uniform(0, 50, (draw(st.integers(0, 5)), 2, 2)).astype(np.float32) for _ in range(3)]
    boxes = [np.concatenate([r.min(1), r.max(1)], -1) for r in rows]
    return Case([boxes], [""], dtype="float32", error=0.0, expected=lambda i: _box_union(boxes[i]))


def _mask_boxes(masks, before, min_area, min_visibility):
    kept = []
    for mask, had in zip(masks, before):
        y, x = np.nonzero(mask)
        if len(x) and len(x) >= min_area and len(x) >= np.float32(min_visibility) * had:
            kept.append([x.min(), y.min(), x.max() + 1, y.max() + 1])
    return np.float64(kept).reshape(-1, 4)


def draw_mask_boxes(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    masks = [
        rng.random((draw(st.integers(0, 4)), draw(st.integers(1, 9)), draw(st.integers(1, 9)))) < 0.1 for _ in "abc"
    ]
    areas = [m.sum((1, 2)).astype(np.int64) for m in masks]
    before = [a + rng.integers(0, 4, a.shape) for a in areas]
    limits = {"min_area": float(draw(st.integers(0, 3))), "min_visibility": draw(st.sampled_from([0.0, 0.5, 1.0]))}
    inputs = [[m.any(2).astype(np.uint8) for m in masks], [m.any(1).astype(np.uint8) for m in masks], areas, before]
    expected = lambda i: _mask_boxes(masks[i], before[i], **limits)  # noqa: E731
    return Case(inputs, [""] * 4, limits, dtype="float32", error=0.0, expected=expected)


def _rows_of(boxes, labels):
    assert len(boxes) == len(labels)
    return np.int32([len(boxes)])


def _same_extents(image, mask):
    assert image.shape[:2] == mask.shape
    return np.int32(mask.shape)


def draw_same_extents(draw):
    if draw(st.booleans()):
        counts = [draw(st.integers(0, 4)) for _ in "abc"]
        boxes, labels = [np.zeros((n, 4), np.float32) for n in counts], [np.arange(n, dtype=np.int64) for n in counts]
        named = {"names": ["boxes", "labels"], "checked_for": "flip", "rows": True}
        expected = lambda i: _rows_of(boxes[i], labels[i])  # noqa: E731
        return Case([boxes, labels], ["", ""], named, dtype="int32", error=0.0, expected=expected)
    extents = [(draw(st.integers(1, 9)), draw(st.integers(1, 9))) for _ in "abc"]
    images, masks = ([np.zeros((*e, *more), np.uint8) for e in extents] for more in ((3,), ()))
    named = {"names": ["image", "mask"], "checked_for": "crop"}
    return Case(
        [images, masks],
        ["HWC", "HW"],
        named,
        dtype="int32",
        error=0.0,
        expected=lambda i: _same_extents(images[i], masks[i]),
    )


CASES = {"_box_union": draw_box_union, "_mask_boxes": draw_mask_boxes, "_same_extents": draw_same_extents}
