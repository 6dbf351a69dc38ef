# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: rectangles that are overwritten, noise, histograms."""

import numpy as np

from .. import _core, fn
from .. import math as value_math
from . import operands
from .calls import Step, each, row
from .operands import type_of, values_of
from .signatures import takes
from .values import largest

_AREAS = "anchor, erasing, values, imgIdx, *, random=False, seed=0"


@row("T: src, i, j, h, w, v", f"T: src, {_AREAS}", f"V: src, {_AREAS}", over=("erase",))
def erase(call):
    """Overwrites rectangles."""
    if hasattr(call, "i"):
        value = np.asarray(values_of(call.v), np.float64).reshape(-1)
        anchor, shape = [float(call.i), float(call.j)], [float(call.h), float(call.w)]
        if value.size not in (1, call.channels):
            call.refuse(f"v has one value or one for each of {call.channels} channels, got {value.size}")
        return Step(fn.erase, call.x, anchor=anchor, shape=shape, axis_names="HW", fill_value=value.tolist())
    anchors, areas, values, images = (values_of(v) for v in (call.anchor, call.erasing, call.values, call.imgIdx))
    if not call.random:
        return _erased(call, call.x, anchors, areas, values, images)
    kept = _erased(call, call.step(fn.full_like, call.x, 1), anchors, areas, np.zeros(len(images.reshape(-1))), images)
    most = largest(type_of(call.x)) + (type_of(call.x).kind != "f")
    drawn = call.step(fn.random.uniform, call.x, range=[0.0, most], seed=int(call.seed) & 0x7FFFFFFF)
    drawn = drawn if most == 1 else value_math.floor(drawn)
    mixed = call.step(fn.where, kept.run(call.stream), call.x, drawn)
    return Step(fn.cast, mixed, dtype=str(type_of(call.x)))


def _erased(call, x, anchors, areas, values, images):
    anchors, areas, images = anchors.reshape(-1, 2), areas.reshape(-1, 3), images.reshape(-1)
    values = values.reshape(len(areas), -1)
    values = np.broadcast_to(values, (len(areas), 4)) if values.shape[1] == 1 else values
    if not len(anchors) == len(areas) == len(images) or values.shape[1] != 4:
        call.refuse("anchor, erasing, values and imgIdx have entries for as many areas, values 4 for each or one")
    if len(images) and not 0 <= images.min() <= images.max() < len(x):
        call.refuse(f"imgIdx has numbers from 0 to {len(x) - 1}, got {images.tolist()}")
    axis, step = x.layout().index("C"), None
    for (left, top), (width, height, mask), value, image in zip(anchors, areas, values, images):
        whole = int(mask) & ((1 << call.channels) - 1) == (1 << call.channels) - 1
        for c in (c for c in range(1 if whole else call.channels) if whole or int(mask) >> c & 1):
            x = step.run(call.stream) if step else x
            axes = [x.layout().index("H"), x.layout().index("W"), axis]
            anchor = np.zeros((len(x), 3), np.float32)
            shape = np.zeros((len(x), 3), np.float32)
            anchor[int(image)], shape[int(image)] = (top, left, c), (height, width, call.channels if whole else 1)
            given = {"anchor": each(anchor, len(x), 3), "shape": each(shape, len(x), 3), "axes": axes}
            fill = value[: call.channels] if whole else value[c : c + 1]
            step = Step(fn.erase, x, fill_value=[float(v) for v in fill], **given)
    return step or Step(fn.copy, x)


@row(
    "T: src, mu, sigma, per_channel, seed=None, *, clip=True",
    "V: src, mu, sigma, per_channel, seed=0",
    over=("noise.gaussian",),
)
def gaussiannoise(call):
    """Adds normally distributed noise."""
    given = {"mean": call.mu, "stddev": call.sigma}
    given = {k: each(np.asarray(values_of(v), np.float32), len(call.x)) for k, v in given.items()}
    if takes("noise.gaussian", "per_channel"):
        given["per_channel"] = bool(call.per_channel)
    elif not call.per_channel and call.channels > 1:
        call.refuse("the same noise for all channels (per_channel=False) is not there")
    if getattr(call, "clip", True) is False and type_of(call.x).kind != "f":
        call.refuse("clip=False is for floating point here: integers are limited to their range")
    return Step(fn.noise.gaussian, call.x, seed=-1 if call.seed is None else int(call.seed) & 0x7FFFFFFF, **given)


@row("T: src, mask=None", into=["histogram, src, mask=None"], over=("histogram",))
def histogram(call):
    """Counts the values of images of one channel, 256 for each."""
    if call.channels != 1:
        call.refuse(f"images have one channel, got {call.channels}")
    x, given = call.x, {}
    if call.mask is not None:  # what is masked is put below the first bin
        x = call.step(fn.where, call.batch(call.mask) != 0, call.step(fn.cast, x, dtype="int16"), np.int16(-1))
        given = {"range": [0.0, 256.0]}
    counted = call.step(fn.histogram, x, **given)
    count = len(call.x)
    rows = fn.reshape(fn.reshape(counted, shape=[256, 1]).as_tensor(), shape=[count, 256, 1], layout="HWC")
    batch = _core.Batch([rows], "HWC")
    if not hasattr(call, "histogram"):
        return operands.tensor_of(batch, False, "HWC")
    operands.fill(call.histogram, batch, call.stream)
    return call.histogram
