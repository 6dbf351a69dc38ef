# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: thresholds, places, boxes, points."""

import numpy as np

from .. import _core, fn
from . import operands
from .calls import Step, each, row
from .enumerations import AdaptiveThresholdType, ThresholdType
from .operands import batch_of, integers_of, type_of, values_of
from .signatures import exists, found
from .values import both

_KEEPS = {ThresholdType.BINARY: "binary", ThresholdType.BINARY_INV: "binary_inv", ThresholdType.TRUNC: "trunc"}
_KEEPS |= {ThresholdType.TOZERO: "tozero", ThresholdType.TOZERO_INV: "tozero_inv"}


def _level(call):
    """The threshold of each sample."""
    kind = int(call.type)
    for flag, method in ((ThresholdType.OTSU, "otsu"), (ThresholdType.TRIANGLE, "triangle")):
        if kind & flag:
            return call.step(found("find_threshold"), call.x, method=method)
    return each(np.asarray(values_of(call.thresh), np.float32), len(call.x))


@row(*both("src, thresh, maxval, type"), over=("threshold", "find_threshold"))
def threshold(call):
    """Sets values by a threshold, one for each image."""
    kind = ThresholdType(int(call.type) & 31)
    if kind not in _KEEPS:
        call.refuse(f"the type is one of {', '.join(k.name for k in _KEEPS)}, and maybe OTSU or TRIANGLE")
    level, most = _level(call), each(np.asarray(values_of(call.maxval), np.float32), len(call.x))
    x, dtype = call.x, str(type_of(call.x))
    if exists("threshold") and type_of(x).itemsize <= 4 and dtype not in ("int32", "uint32"):
        return Step(fn.threshold, x, threshold=level, max_value=most, mode=_KEEPS[kind])
    if type_of(x).kind in "ui" and not isinstance(level, _core.Batch):
        level = float(np.floor(level))
    above = x > level
    a, b = {
        "binary": (most, 0.0),
        "binary_inv": (0.0, most),
        "trunc": (level, x),
        "tozero": (x, 0.0),
        "tozero_inv": (0.0, x),
    }[_KEEPS[kind]]
    return Step(fn.cast, call.step(fn.where, above, a, b), dtype=dtype)


_ADAPTIVE = "adaptive_method=AdaptiveThresholdType.MEAN_C, threshold_type=ThresholdType.BINARY"


@row(
    "T: src, max_value, adaptive_method, threshold_type, block_size, c",
    f"T: src, max_value, {_ADAPTIVE}, *, block_size, c",
    "V: src, max_value, adaptive_method, threshold_type, max_block_size, block_size, c",
    f"V: src, max_value, {_ADAPTIVE}, *, max_block_size, block_size, c",
    over=("adaptive_threshold",),
)
def adaptivethreshold(call):
    """Compares values with the mean around them."""
    inverse = {ThresholdType.BINARY: "binary", ThresholdType.BINARY_INV: "binary_inv"}.get(call.threshold_type)
    if inverse is None:
        call.refuse("the threshold type is BINARY or BINARY_INV")
    method = "mean" if call.adaptive_method == AdaptiveThresholdType.MEAN_C else "gaussian"
    real = {"max_value": call.max_value, "offset": call.c}
    given = {k: each(np.asarray(values_of(v), np.float32), len(call.x)) for k, v in real.items()}
    given["block_size"] = each(integers_of(call.block_size), len(call.x))
    return Step(found("adaptive_threshold"), call.x, method=method, mode=inverse, **given)


@row(
    "T: foreground, background, fgmask, outchannels",
    "V: foreground, background, fgmask, outchannels=3",
    by_dst=("outchannels",),
    first="foreground",
    over=("composite",),
)
def composite(call):
    """Lays a foreground over a background where a mask is set; a fourth channel of the result is 255."""
    channels = call.want.channels if call.want is not None else int(call.outchannels)
    if channels not in (3, 4):
        call.refuse(f"outchannels is 3 or 4, got {channels}")
    inputs = call.x, batch_of(call.background, call.name), batch_of(call.fgmask, call.name)
    step = Step(found("composite"), *inputs)
    if channels == 3:
        return step
    mixed = step.run(call.stream)
    opaque = fn.full_like(call.step(fn.slice, mixed, start=[0], shape=[1], axes=[2]), 255)
    return Step(fn.cat, mixed, opaque, axis=2)


_WIDE = {"u": "uint32", "i": "int32"}


def _extreme(values, least, most):
    """(value, places, how many) of the least or greatest value of an image of one channel."""
    plane = values.reshape(values.shape[0] if values.shape[-1] == 1 else values.shape[-2], -1)
    value = (
        (np.nanmin if least else np.nanmax)(plane)
        if plane.dtype.kind == "f"
        else (plane.min() if least else plane.max())
    )
    y, x = np.nonzero(plane == value)
    places = np.zeros((most, 2), np.int32)
    count = min(len(x), most)
    places[:count, 0], places[:count, 1] = x[:count], y[:count]
    return value, places, len(x)


def _extremes(call, kinds, targets):
    if call.channels != 1:
        call.refuse(f"images have one channel, got {call.channels}")
    samples = [np.asarray(s.cpu()) for s in call.x]
    most = [targets[3 * k + 1].shape[1] for k in range(len(kinds))] if targets else None
    if not targets:
        limit = int(call.max_locations) or max(1, max(s.size for s in samples) // 100)
        most = [limit] * len(kinds)
    results = []
    for least, limit in zip(kinds, most):
        values, places, counts = zip(*(_extreme(s, least, limit) for s in samples))
        wide = _WIDE.get(samples[0].dtype.kind, samples[0].dtype)
        wide = samples[0].dtype if samples[0].dtype.itemsize == 8 else wide
        results += [np.array(values).astype(wide)[:, None], np.stack(places), np.array(counts, np.int32)[:, None]]
    if targets:
        return tuple(operands.store(t, r) for t, r in zip(targets, results))
    return tuple(operands.new_tensor(r, layout, call.x) for r, layout in zip(results, ["NC", "NMC", "NC"] * len(kinds)))


def _of_min_max(name, kinds, words, text):
    parts = [part for k in words for part in (f"{k}_val", f"{k}_loc", f"num_{k}")]

    def function(call):
        return _extremes(call, kinds, [getattr(call, p) for p in parts] if hasattr(call, parts[0]) else None)

    function.__doc__ = text
    into = [f"{', '.join(parts)}, src"] * 2
    row(*both("src, max_locations=0"), into=into, name=name, over=("min_max_loc",))(function)


_of_min_max("min_loc", [True], ["min"], "Finds the least value of images of one channel and its places, on the host.")
_of_min_max(
    "max_loc", [False], ["max"], "Finds the greatest value of images of one channel and its places, on the host."
)
_of_min_max(
    "min_max_loc",
    [True, False],
    ["min", "max"],
    "Finds the least and the greatest value of images and their places, on the host.",
)


def _kept(boxes, scores, score_threshold, iou_threshold):
    """A mask of the boxes that no box with a higher score, or as high a score and a larger area, overlaps."""
    boxes = boxes.astype(np.float32)
    low, high = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
    areas = boxes[:, 2] * boxes[:, 3]
    kept = ~(scores < score_threshold)
    numbers = np.arange(len(boxes))
    for k in np.flatnonzero(kept):
        same = scores == scores[k]
        better = (scores > scores[k]) | (same & ((areas > areas[k]) | ((areas == areas[k]) & (numbers < k))))
        extent = np.maximum(np.minimum(high[better], high[k]) - np.maximum(low[better], low[k]), 0)
        shared = extent[:, 0] * extent[:, 1]
        union = areas[better] + areas[k] - shared
        kept[k] = not (shared > np.float32(iou_threshold) * union)[union > 0].any()
    return kept.astype(np.uint8)


@row("T: src, scores, score_threshold=1.1920928955078125e-07, iou_threshold=1.0")
def nms(call):
    """Marks the boxes (x, y, width, height) that no box with a higher score overlaps by more than a threshold, on the host."""
    if call.first.dtype.base != np.int16:
        call.refuse(f"boxes are of S16, got {call.first.dtype}")
    memory, _ = operands.pixels_of(call.first)
    boxes = np.asarray(values_of(call.first)).reshape(call.first.shape[0], -1, 4)
    scores = np.asarray(values_of(call.scores), np.float32).reshape(len(boxes), -1)
    if scores.shape != boxes.shape[:2]:
        call.refuse(f"there are scores of the shape {scores.shape} for boxes of the shape {boxes.shape}")
    with np.errstate(invalid="ignore"):
        masks = np.stack([_kept(b, s, call.score_threshold, call.iou_threshold) for b, s in zip(boxes, scores)])
    if call.dst is not None:
        return operands.store(call.dst, masks)
    return operands.new_tensor(masks, "NW", _core.Batch([operands.buffers.operand(memory)]))
