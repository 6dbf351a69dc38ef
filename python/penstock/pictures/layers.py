# SPDX-License-Identifier: Apache-2.0
"""A layered arrangement of boxes and the lines between them, from top to bottom."""

import collections

GAP_X, GAP_Y, WIDEST = 22, 30, 900
_SWEEPS = 6


class Box:
    """A box of a size that is to be placed; `parents` are the boxes that it stands below."""

    def __init__(self, width, height, parents=()):
        self.width, self.height, self.parents, self.children = width, height, list(parents), []
        self.x = self.y = self.layer = self.bottom = 0
        self.above, self.below = [], []  # where lines lead, once they are divided by layers


def _find_layers(boxes):
    """Each box stands below its parents, and lower where a layer is full; one without parents directly above its first
    child, where there is room."""
    used = collections.Counter()  # width, by layer
    for box in boxes:  # parents come first
        box.layer = max((p.layer + 1 for p in box.parents), default=0)
        while used[box.layer] and used[box.layer] + box.width > WIDEST:
            box.layer += 1
        used[box.layer] += box.width + GAP_X
    for box in reversed(boxes):
        layer = min((c.layer for c in box.children), default=0) - 1
        if not box.parents and layer > box.layer and used[layer] + box.width <= WIDEST:
            used[box.layer] -= box.width + GAP_X
            used[layer] += box.width + GAP_X
            box.layer = layer


def _with_passages(boxes):
    """The boxes, with narrow ones where a line passes a layer; and the points of each line as boxes."""
    made, lines = list(boxes), []
    for box in boxes:
        for parent in box.parents:
            line, above = [parent], parent
            for layer in range(parent.layer + 1, box.layer):
                passage = Box(6, 0)
                passage.layer = layer
                above.below.append(passage)
                passage.above.append(above)
                made.append(passage)
                line.append(passage)
                above = passage
            box.above.append(above)
            above.below.append(box)
            lines.append([*line, box])
    return made, lines


def _center(box):
    return box.x + box.width / 2


def _pack(layer):
    """Moves the boxes of a layer apart, each as near to where it wants to be as those left of it allow."""
    right = None
    for box in layer:
        if right is not None:
            box.x = max(box.x, right + GAP_X)
        right = box.x + box.width


def _place(layers):
    for layer in layers:
        x = 0
        for box in layer:
            box.x, x = x, x + box.width + GAP_X
    for sweep in range(_SWEEPS):
        up = sweep % 2 == 0
        for layer in layers if up else reversed(layers):
            for box in layer:
                near = box.above if up else box.below
                if near:
                    box.x = sum(map(_center, near)) / len(near) - box.width / 2
            layer.sort(key=_center)
            before = sum(map(_center, layer))
            _pack(layer)
            shift = (sum(map(_center, layer)) - before) / max(len(layer), 1)
            for box in layer:
                box.x -= shift


def arrange(boxes):
    """Places boxes, parents first in the list. Returns (width, height, lines), each line a list of (x, y)."""
    for box in boxes:
        for parent in box.parents:
            parent.children.append(box)
    _find_layers(boxes)
    all_boxes, lines = _with_passages(boxes)
    layers = [[] for _ in range(max((b.layer for b in boxes), default=-1) + 1)]
    for box in all_boxes:
        layers[box.layer].append(box)
    _place(layers)
    left, y = min((b.x for b in all_boxes), default=0), 0
    for layer in layers:
        height = max(b.height for b in layer)
        for box in layer:
            box.x, box.y, box.bottom = box.x - left, y, y + height
            if not box.height:
                box.height = height
            elif not box.above:  # its line does not pass its neighbors
                box.y += height - box.height
        y += height + GAP_Y
    width = max((b.x + b.width for b in all_boxes), default=0)
    return width, max(y - GAP_Y, 0), [_points(line) for line in lines]


def _points(line):
    first, *passages, last = line
    points = [(_center(first), first.y + first.height), (_center(first), first.bottom)]
    for box in passages:
        points += [(_center(box), box.y), (_center(box), box.y + box.height)]
    return [*points, (_center(last), last.y)]
