# SPDX-License-Identifier: Apache-2.0
"""What detectors do with boxes (..., 4), left, top, right, bottom: how much they overlap, which of many to keep."""

import torch


def overlap(a, b):
    """Intersection over union, and its generalization that also says how far apart boxes are (Rezatofighi et al., 2019)."""
    area = lambda box: (box[..., 2:] - box[..., :2]).clamp(min=0).prod(-1)
    inner = area(torch.cat([torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])], -1))
    outer = area(torch.cat([torch.minimum(a[..., :2], b[..., :2]), torch.maximum(a[..., 2:], b[..., 2:])], -1))
    union = area(a) + area(b) - inner
    plain = inner / union.clamp(min=1e-9)
    return plain, plain - (outer - union) / outer.clamp(min=1e-9)


def keep_best(boxes, scores, kinds, least=0.4, most_overlap=0.4):
    """The boxes of at least this score, without those that overlap a better one of the same kind: (boxes, kinds)."""
    kept = []
    for k in scores.argsort(descending=True).tolist():
        if scores[k] <= least:
            break
        if all(kinds[k] != kinds[j] or overlap(boxes[k], boxes[j])[0] < most_overlap for j in kept):
            kept.append(k)
    return boxes[kept], kinds[kept]


def compare(detected, boxes, kinds):
    """The numbers of objects, of objects found (overlap at least half of the union), and of boxes that match none."""
    there = right = found = 0
    for (found_boxes, found_kinds), true_boxes, true_kinds in zip(detected, boxes, kinds):
        good = overlap(found_boxes[:, None], true_boxes[None])[0] > 0.5
        right += int((good & (found_kinds[:, None] == true_kinds[None])).any(0).sum())
        there, found = there + len(true_kinds), found + len(found_kinds)
    return there, right, max(0, found - right)
