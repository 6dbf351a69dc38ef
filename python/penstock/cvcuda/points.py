# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: geometry of points."""

import numpy as np

from .. import _core
from . import operands
from .calls import row
from .operands import values_of
from .signatures import found
from .tensor_batches import TensorBatch
from .tensors import Tensor


def _corners(rectangle):
    """The corners of a center, width, height and angle in degrees, in OpenCV's order."""
    x, y, width, height, angle = rectangle
    turn = np.radians(angle)
    across, down = (
        np.array([np.cos(turn), np.sin(turn)]) * width / 2,
        np.array([-np.sin(turn), np.cos(turn)]) * height / 2,
    )
    return [c for a, b in ((-1, 1), (-1, -1), (1, -1), (1, 1)) for c in (np.array([x, y]) + a * across + b * down)]


@row("T: src, numPointsInContour, totalContours", over=("min_area_rect",))
def minarearect(call):
    """Finds the smallest rotated rectangle around each set of points: its four corners."""
    points, counts = values_of(call.first), values_of(call.numPointsInContour).reshape(-1)
    points = points.reshape(len(points), -1, 2)
    if len(points) != call.totalContours or len(counts) != len(points):
        call.refuse(
            f"there are {len(points)} sets of points and {len(counts)} counts for totalContours={call.totalContours}"
        )
    if len(counts) and not 0 <= counts.min() <= counts.max() <= points.shape[1]:
        call.refuse(f"numPointsInContour has numbers from 0 to {points.shape[1]}, got {counts.tolist()}")
    sets = [np.ascontiguousarray(p[:n], np.float32) for p, n in zip(points, counts)]
    rectangles = call.step(found("min_area_rect"), _core.Batch(sets))
    corners = np.float32([_corners(np.asarray(r.cpu(), np.float64)) for r in rectangles])
    if call.dst is not None:
        return operands.store(call.dst, corners)
    return operands.new_tensor(corners, "NW", _core.Batch([operands.buffers.operand(call.first._memory)]))


def _matrix(operator, source, target):
    """The perspective of a set of points; NaN where they determine none."""
    try:
        return np.asarray(operator(source, target).cpu())
    except ValueError:
        return np.full((3, 3), np.nan, np.float32)


def _matrices(call, sources, targets):
    operator = found("find_homography")
    sources, targets = ([np.ascontiguousarray(p.reshape(-1, 2), np.float32) for p in s] for s in (sources, targets))
    if [s.shape for s in sources] != [t.shape for t in targets]:
        call.refuse("srcPts and dstPts have as many points")
    try:
        found_all = call.step(operator, _core.Batch(sources), _core.Batch(targets))
        return [np.asarray(m.cpu()) for m in found_all]
    except ValueError:
        return [_matrix(operator, _core.Tensor(s), _core.Tensor(t)) for s, t in zip(sources, targets)]


@row(
    "T: srcPts, dstPts",
    "B: srcPts, dstPts",
    into=["models, srcPts, dstPts"] * 2,
    first="srcPts",
    over=("find_homography",),
)
def findhomography(call):
    """Finds the perspective that takes each set of points to another one; points that determine none give NaN."""
    models = getattr(call, "models", None)
    if isinstance(call.first, Tensor):
        made = np.stack(_matrices(call, values_of(call.first), values_of(call.dstPts)))
        like = _core.Batch([operands.buffers.operand(call.first._memory)])
        return operands.store(models, made) if models is not None else operands.new_tensor(made, "NHW", like)
    made = _matrices(call, [values_of(t) for t in call.first], [values_of(t) for t in call.dstPts])
    if models is not None:
        for model, matrix in zip(models, made):
            operands.store(model, matrix)
        return models
    batch = TensorBatch(call.first.capacity)
    like = _core.Batch([operands.buffers.operand(call.first[0]._memory)])
    batch.pushback([operands.new_tensor(m[None], "NHW", like) for m in made])
    return batch
