# SPDX-License-Identifier: Apache-2.0
"""From positions in the result of several operators to those in the picture that came first."""

import numpy as np

from .. import _core
from .layouts import pixel_parts, wanted


def described(sample):
    """(shape, layout) of the picture of a sample; None for a batch or a value of a pipeline."""
    name = pixel_parts(sample)[0]
    picture = sample[name]
    if isinstance(picture, (_core.Batch, _core.NodeRef)):
        return None
    layout = wanted(sample, name, picture)
    if isinstance(picture, np.ndarray):
        return picture.shape, layout or {2: "HW", 3: "HWC"}.get(picture.ndim, "")
    if layout:
        return tuple(picture.shape() if isinstance(picture, _core.Tensor) else picture.shape), layout
    # A tensor of torch: an operator finds its layout.
    known = picture if isinstance(picture, _core.Tensor) else _core.operator_function("flip")(picture, horizontal=0)
    tensor = known if isinstance(known, _core.Tensor) else _core.tensor(known)
    return tuple(tensor.shape()), tensor.layout()


def matrix_of(moves):
    """(the matrix that leads back, (height, width) or (depth, height, width) of the first picture) of moves, each (operator,
    inputs, arguments of its map of points, shape and layout of its picture). None, None: there was no move."""
    forward, first = None, None
    for op, rest, arguments, seen in moves:
        if seen is None:
            raise TypeError(
                "the way back is known for one sample outside a pipeline, not for batches: augment.letterbox_back leads "
                "back from a frame of augment.letterbox"
            )
        shape, layout = seen
        # Only the shape is read.
        picture = _core.tensor(np.zeros(shape, np.uint8), layout=layout)
        made = _core.operator_function(f"points.{op}")(picture, *rest, **arguments)
        if not isinstance(made, tuple):
            raise TypeError(f"no matrix leads back from {op}")
        matrix, before, _ = (np.asarray(part) for part in made)
        forward = matrix if forward is None else matrix @ forward
        first = tuple(int(n) for n in before[::-1]) if first is None else first
    return None if forward is None else np.linalg.inv(forward), first


def positions_back(matrix, points):
    sums = np.concatenate([points, np.ones_like(points[..., :1])], -1) @ matrix.T
    return sums[..., :-1] / sums[..., -1:]


_CORNERS = {
    "ltrb": lambda b: (b[:, :2], b[:, 2:]),
    "xywh": lambda b: (b[:, :2], b[:, :2] + b[:, 2:]),
    "cxcywh": lambda b: (b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2),
}
_NUMBERS = {
    "ltrb": lambda low, high: (low, high),
    "xywh": lambda low, high: (low, high - low),
    "cxcywh": lambda low, high: ((low + high) / 2, high - low),
}


def boxes_back(matrix, shape, boxes, layout, clip):
    """The upright boxes around the corners, moved; each has one, also those that are empty or outside."""
    if layout not in _CORNERS:
        raise ValueError(f"layout must be one of {', '.join(_CORNERS)}, got {layout!r}")
    boxes = np.asarray(boxes, np.float64)
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"boxes must have the shape (N, 4), got {boxes.shape}")
    (left, top), (right, bottom) = (side.T for side in _CORNERS[layout](boxes))
    corners = positions_back(matrix, np.stack([[left, right, left, right], [top, top, bottom, bottom]], -1))
    low, high = corners.min(0), corners.max(0)
    if clip:
        low, high = (np.clip(side, 0, shape[::-1]) for side in (low, high))
    return np.concatenate(_NUMBERS[layout](low, high), -1).astype(np.float32)
