# SPDX-License-Identifier: Apache-2.0
"""What the operators on boxes and labels mean, as NumPy code; a part of reference.py."""

import math

import numpy as np


def bb_flip(boxes, *, horizontal=1, vertical=0, ltrb=False):
    out = np.asarray(boxes, np.float64).copy()
    for axis, on in enumerate((horizontal, vertical)):
        low, other = boxes[..., axis].astype(np.float64), boxes[..., axis + 2].astype(np.float64)
        if on and ltrb:
            out[..., axis], out[..., axis + 2] = 1 - other, 1 - low
        elif on:
            out[..., axis] = 1 - low - other
    return out


def bbox_paste(boxes, *, ratio, paste_x=0.5, paste_y=0.5, ltrb=False):
    out = np.asarray(boxes, np.float64) / ratio
    for axis, paste in enumerate((paste_x, paste_y)):
        for column in (axis, axis + 2) if ltrb else (axis,):
            out[..., column] += paste * (ratio - 1) / ratio
    return out


def one_hot(x, *, num_classes=0, axis=-1, on_value=1.0, off_value=0.0):
    classes = np.trunc(x.astype(np.float64))
    return (
        np.stack([np.where(classes == j, on_value, off_value) for j in range(num_classes)], axis)
        if num_classes
        else np.empty(np.insert(x.shape, x.ndim if axis < 0 else axis, 0))
    )


def coord_transform(x, *, M=None, T=None, MT=None):
    x = np.asarray(x, np.float64)
    n = x.shape[-1]
    if MT is not None and np.size(MT) > 1:
        MT = np.reshape(MT, (-1, n + 1))
        M, T = MT[:, :n], MT[:, n]
    elif MT is not None:
        M = MT
    M = (
        np.eye(n)
        if M is None
        else np.eye(n) * np.float64(np.ravel(M)[0])
        if np.size(M) == 1
        else np.reshape(M, (-1, n))
    )
    return x @ np.float64(M).T + np.float64(0 if T is None else T)


def bbox_rotate(boxes, *, angle, image, canvas, mode="expand", remove_threshold=0.1, normalized=True, layout="xyXY"):
    """(boxes, rows of the input that stay); `image` and `canvas` are (height, width) before and after."""
    b, size, room = (
        np.array(boxes, np.float64).reshape(-1, 4),
        np.array(image[::-1], float),
        np.array(canvas[::-1], float),
    )
    corners = b[:, 2:] + (b[:, :2] if layout == "xyWH" else 0)
    low, high = (v * (size if normalized else 1) for v in (b[:, :2], corners))
    c, s = round(math.cos(math.radians(angle)), 15), round(math.sin(math.radians(angle)), 15)
    turn = lambda p: (p - size / 2) @ np.array([[c, -s], [s, c]]) + room / 2
    points = np.stack([turn(np.stack([x, y], 1)) for x in (low[:, 0], high[:, 0]) for y in (low[:, 1], high[:, 1])])
    around = (points.max(0) - points.min(0)) / 2
    own = (high - low)[:, ::-1] / 2 if abs(s) > abs(c) else (high - low) / 2
    half = {"expand": around, "fixed": own, "halfway": (around + own) / 2}[mode]
    middle = turn((low + high) / 2)
    low, high = middle - half, middle + half
    inside_low, inside_high = np.clip(low, 0, room), np.clip(high, 0, room)
    stay = np.prod(inside_high - inside_low, 1) >= remove_threshold * np.prod(high - low, 1)
    out = np.hstack([inside_low, inside_high - (inside_low if layout == "xyWH" else 0)])
    return (out / np.tile(room, 2) if normalized else out)[stay], np.flatnonzero(stay)


def overlaps(boxes, others):
    """Intersection over union of boxes (left, top, right, bottom), in their own type."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    extent = np.maximum(np.minimum(boxes[:, None, 2:], others[None, :, 2:]) - low, 0)
    area = lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    common = extent[..., 0] * extent[..., 1]
    return common / (area(boxes)[:, None] + area(others)[None] - common)


def box_encoder(
    boxes, labels, *, anchors, criteria=0.5, offset=False, scale=1.0, means=(0, 0, 0, 0), stds=(1, 1, 1, 1)
):
    """(boxes, labels) of each anchor."""
    anchors = np.float32(anchors).reshape(-1, 4)
    centered = lambda b: np.hstack([(b[:, :2] + b[:, 2:]) / 2, b[:, 2:] - b[:, :2]])
    wide = centered(anchors.astype(np.float64))
    out, numbers = np.zeros_like(wide) if offset else wide.copy(), np.zeros(len(anchors), np.int64)
    if not len(boxes):
        return out, numbers
    table = overlaps(np.float32(boxes), anchors)
    latest = lambda values: len(values) - 1 - np.argmax(values[::-1])
    for i in range(len(boxes)):
        table[i, latest(table[i])] = 2
    own = centered(np.float64(boxes))
    for j in range(len(anchors)):
        i = latest(table[:, j])
        if table[i, j] > criteria:
            numbers[j], out[j] = np.ravel(labels)[i], own[i]
            if offset:
                near = (own[i, :2] - wide[j, :2]) * scale / (wide[j, 2:] * scale)
                out[j] = (np.hstack([near, np.log(own[i, 2:] / wide[j, 2:])]) - means) / stds
    return out, numbers


def random_bbox_crop(boxes, *, anchor, shape, prune=None):
    """(boxes in units of the window at `anchor`, cut to it; rows that stay), for boxes (low..., high...)."""
    boxes, d = np.float64(boxes), len(anchor)
    anchor, shape = np.float64(anchor), np.float64(shape)
    low, high = np.maximum(boxes[:, :d], anchor), np.minimum(boxes[:, d:], anchor + shape)
    part = np.prod(np.maximum(high - low, 0), 1) / np.prod(boxes[:, d:] - boxes[:, :d], 1)
    middle = (boxes[:, :d] + boxes[:, d:]) / 2
    stay = (
        (part > 0) & (part >= prune) if prune is not None else ((middle >= anchor) & (middle <= anchor + shape)).all(1)
    )
    return np.clip((boxes - np.tile(anchor, 2)) / np.tile(shape, 2), 0, 1)[stay], np.flatnonzero(stay)
