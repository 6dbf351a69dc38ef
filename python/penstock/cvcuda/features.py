# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: features of images, their matches, holes."""

import numpy as np

from .. import _core, fn
from . import operands
from .calls import Step, row
from .enumerations import SIFT, Norm
from .operands import integers_of, type_of
from .signatures import found
from .values import both


@row(*both("src, masks, inpaintRadius"), over=("inpaint",))
def inpaint(call):
    """Fills the holes of images where masks are not 0, from pixels within a radius."""
    operator, dtype = found("inpaint"), type_of(call.x)
    radius = int(np.clip(np.round(float(call.inpaintRadius)), 1, 100))
    masks = call.batch(call.masks)
    if dtype.kind != "i" or dtype.itemsize < 4:
        return Step(operator, call.x, masks, radius=radius)
    filled = call.step(operator, call.step(fn.cast, call.x, dtype="float32"), masks, radius=radius)
    return Step(fn.cast, filled, dtype=str(dtype))


def _writes(call):
    """Whether an `_into` form of a function with several results was called."""
    return any(hasattr(call, name) for name in ("feat_coords", "matches"))


def _padded(parts, rows, width, dtype):
    """The first rows of each part, with rows of 0 after the last."""
    to = np.zeros((len(parts), rows, *width), dtype)
    for one, part in zip(to, parts):
        count = min(rows, len(part))
        one[:count] = part[:count]
    return to


def _given(call, targets, made):
    """Values as new tensors, or in those of an `_into` form."""
    if targets:
        for target, (values, _) in zip(targets, made):
            if target is not None:
                operands.store(target, values.reshape(target.shape))
        return tuple(targets)
    return tuple(operands.new_tensor(values, layout, call.x) for values, layout in made)


_SIFT = (
    "num_octave_layers=3, contrast_threshold=0.03, edge_threshold=10.0, init_sigma=1.6, flags=SIFT.USE_EXPANDED_INPUT"
)


@row(
    f"T: src, max_features, {_SIFT}",
    into=[f"feat_coords, feat_metadata, feat_descriptors, num_features, src, {_SIFT}"],
    over=("sift",),
)
def sift(call):
    """Finds features: (x, y, octave, layer), (angle, response, size), descriptors, and how many each image has."""
    targets = [call.feat_coords, call.feat_metadata, call.feat_descriptors, call.num_features] if _writes(call) else []
    if call.channels != 1:
        call.refuse(f"images have one channel, got {call.channels}")
    most = targets[0].shape[-2] if targets else int(call.max_features)
    points, descriptors = call.step(
        found("sift"),
        call.x,
        max_features=most,
        octave_layers=int(call.num_octave_layers),
        contrast_threshold=float(call.contrast_threshold),
        edge_threshold=float(call.edge_threshold),
        sigma=float(call.init_sigma),
        expand=SIFT(int(call.flags)) == SIFT.USE_EXPANDED_INPUT,
    )
    points, descriptors = ([np.asarray(s) for s in x.cpu()] for x in (points, descriptors))
    most = most or max(map(len, points))
    coordinates = _padded([p[:, [0, 1, 5, 6]] for p in points], most, (4,), np.float32)
    metadata = _padded([p[:, [3, 4, 2]] for p in points], most, (3,), np.float32)
    counts = np.int32([[min(most, len(p))] for p in points])
    described = _padded(descriptors, most, (128,), np.uint8)
    return _given(call, targets, [(coordinates, "NMC"), (metadata, "NMC"), (described, "NMD"), (counts, "NC")])


def _sets(call, tensor, counts):
    """The rows of each set, as many as its count says."""
    rows = call.batch(tensor)
    if rows.ndim() != 2:
        call.refuse(f"a set has rows of numbers, (N, M, D) or (M, D), got the shape {tuple(tensor.shape)}")
    if counts is None:
        return rows
    counts = integers_of(counts).reshape(-1)
    if len(counts) != len(rows) or any(not 0 <= n <= s[0] for n, s in zip(counts, rows.shape())):
        call.refuse(f"there are counts {counts.tolist()} for sets of the shapes {[tuple(s) for s in rows.shape()]}")
    return call.step(fn.slice, rows, start=[0], shape=_core.per_sample(counts[:, None]), axes=[0])


_MATCH = "cross_check=False, matches_per_point=1, norm_type=None, algo_choice=Matcher.BRUTE_FORCE"


@row(
    f"T: set1, set2, num_set1=None, num_set2=None, num_matches=False, distances=False, {_MATCH}",
    into=[f"matches, num_matches, distances, set1, set2, num_set1=None, num_set2=None, {_MATCH}"],
    first="set1",
    over=("match",),
)
def match(call):
    """Finds for each row of a set the nearest rows of another one: pairs, and on request their number and distances."""
    targets = [call.matches, call.num_matches, call.distances] if _writes(call) else []
    sets = [_sets(call, s, n) for s, n in ((call.set1, call.num_set1), (call.set2, call.num_set2))]
    real = type_of(sets[0]).kind == "f"
    norm = Norm(int(call.norm_type)) if call.norm_type is not None else Norm.L2 if real else Norm.HAMMING
    if norm != Norm.HAMMING and type_of(sets[0]).itemsize > 1 and not real:
        sets = [call.step(fn.cast, s, dtype="float32") for s in sets]
    per, crossed = int(call.matches_per_point), bool(call.cross_check)
    pairs, apart = call.step(found("match"), *sets, norm=norm.name.lower(), count=per, cross_check=crossed)
    pairs, apart = ([np.asarray(s.cpu()) for s in x] for x in (pairs, apart))
    most = targets[0].shape[-2] if targets else per * max(s[0] for s in call.x.shape())
    counts = np.int32([min(most, len(p)) for p in pairs])
    made = [(_padded(pairs, most, (2,), np.int32), "NMC"), (counts, "N"), (_padded(apart, most, (), np.float32), "NM")]
    if targets:
        return _given(call, targets, made)
    asked = [True, bool(call.num_matches) or crossed, bool(call.distances)]
    return tuple(_given(call, [], [m])[0] if wanted else None for m, wanted in zip(made, asked))
