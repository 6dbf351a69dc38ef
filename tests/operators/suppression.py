# SPDX-License-Identifier: Apache-2.0
"""nms: the reference and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.picture_draws import some


def corners(boxes, bbox_layout="ltrb"):
    if bbox_layout == "ltrb":
        return boxes
    low, extent = boxes[:, :2], boxes[:, 2:]
    if bbox_layout == "cxcywh":
        half = extent * np.float32(0.5)
        return np.concatenate([low - half, low + half], 1)
    return np.concatenate([low, low + extent], 1)


def overlap(box, others, iou_type="iou"):
    """In float32, as torchvision.ops.nms computes it."""
    area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])  # noqa: E731
    zero = np.float32(0)
    inner = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.maximum(inner[:, 0], zero) * np.maximum(inner[:, 1], zero)
    both = area(box) + area(others) - common
    with np.errstate(invalid="ignore", divide="ignore"):
        iou = common / both
        around = np.maximum(box[2:], others[:, 2:]) - np.minimum(box[:2], others[:, :2])
        if iou_type == "giou":
            hull = around[:, 0] * around[:, 1]
            return iou - (hull - both) / hull
        if iou_type == "diou":
            apart = (box[:2] + box[2:]) - (others[:, :2] + others[:, 2:])
            return iou - (apart**2).sum(1) / (4 * (around**2).sum(1))
    return iou


def kept_boxes(
    boxes,
    scores,
    labels=None,
    *,
    iou_threshold=0.5,
    score_threshold=None,
    max_detections=None,
    iou_type="iou",
    soft=None,
    sigma=0.5,
    bbox_layout="ltrb",
):
    """(candidates in the order of their scores, what is left of these): candidates are pairs of a box and a class."""
    classes = scores.shape[1] if scores.ndim == 2 else 1
    left = np.array(scores, np.float32).ravel()
    number = np.arange(len(left))
    b = corners(boxes, bbox_layout)[number // classes]
    name = number % classes if labels is None else np.asarray(labels).ravel()
    limit = -np.inf if score_threshold is None else np.float32(score_threshold)
    alive = (left > limit) | ((left == limit) & (score_threshold is None))
    taken, values = [], []
    while alive.any() and len(taken) < (max_detections or len(left)):
        best = number[alive][np.argmax(left[alive])]
        taken.append(best)
        values.append(left[best])
        alive[best] = False
        others = number[alive & (name == name[best])]
        v = overlap(b[best], b[others], iou_type)
        if soft is None:
            alive[others[v.astype(np.float64) > iou_threshold]] = False
            continue
        with np.errstate(invalid="ignore"):
            wide = v.astype(np.float64)
            linear = np.where(wide > iou_threshold, np.float32(1) - v, np.float32(1))
            smooth = np.where(v > 0, np.exp(-wide * wide / sigma), 1).astype(np.float32)
        left[others] *= linear if soft == "linear" else smooth
        alive[others] &= left[others] > limit
    return np.array(taken, np.int64), np.array(values, np.float32)


def nms(boxes, scores, labels=None, **arguments):
    taken, _ = kept_boxes(boxes, scores, labels, **arguments)
    if scores.ndim == 2:
        return np.stack([taken // scores.shape[1], taken % scores.shape[1]], 1)
    return taken


def random_boxes(rng, n, whole):
    low, extent = rng.uniform(0, 40, (n, 2)), rng.uniform(0, 30, (n, 2))
    boxes = np.concatenate([low, low + extent], 1)
    return (np.round(boxes) if whole else boxes).astype(np.float32)


def draw_nms(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["plain", "labels", "classes"]))
    whole = draw(st.booleans())  # then boxes and scores are often equal
    counts = [draw(st.sampled_from([0, 1, 2, 31, 33, 64, 65, 200])) for _ in range(draw(st.integers(1, 3)))]
    boxes = [random_boxes(rng, n, whole) for n in counts]
    scores = [rng.random((n, 3) if kind == "classes" else n).astype(np.float32) for n in counts]
    if whole:
        scores = [np.round(s * 4).astype(np.float32) / 4 for s in scores]
    inputs = [boxes, scores]
    if kind == "labels":
        inputs.append([rng.integers(0, 3, n).astype(rng.choice(["i4", "i8", "u1"])) for n in [sum(counts)]])
        inputs[2] = np.split(inputs[2][0], np.cumsum(counts)[:-1])
    layout = draw(st.sampled_from(["ltrb", "xywh", "cxcywh"]))
    constants = {"iou_threshold": draw(st.sampled_from([0.0, 0.25, 0.3, 0.5, 0.7, 1.0])), "bbox_layout": layout}
    constants |= some(draw, score_threshold=st.just(0.25), max_detections=st.sampled_from([1, 7]))
    constants |= some(draw, iou_type=st.sampled_from(["iou", "giou", "diou"]), soft=st.just("linear"))
    expected = lambda i: nms(*[x[i] for x in inputs], **constants)  # noqa: E731
    return Case(inputs, [""] * len(inputs), constants, dtype="int32", error=0.0, expected=expected)


CASES = {"nms": draw_nms}
