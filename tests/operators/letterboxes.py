# SPDX-License-Identifier: Apache-2.0
"""Letterboxes, and regions of feature maps: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.draws import FLOATS, images
from operators.resampling import resample_axis


def placed(height, width, size, align="center", scale_up=True, stride=0):
    """(scale, (height, width) of the scaled image, (above, below), (left, right)), rounded as Ultralytics does."""
    size = (size * 2)[:2] if isinstance(size, list) else [size, size]
    scale = min(size[0] / height, size[1] / width)
    scale = scale if scale_up else min(scale, 1.0)
    scaled = [max(round(height * scale), 1), max(round(width * scale), 1)]
    borders = []
    for whole, part in zip(size, scaled):
        rest = whole - part
        rest = rest % stride if stride else rest
        borders.append((round(rest / 2 - 0.1), round(rest / 2 + 0.1)) if align == "center" else (0, rest))
    return scale, scaled, *borders


def letterbox(x, layout, *, size, fill_values=114.0, antialias=False, interp_type=1, **how):
    axes = [layout.index(k) for k in "HW"]
    extents = [x.shape[a] for a in axes]
    _, scaled, down, across = placed(*extents, size, **how)
    x = x.astype(np.float64)
    for axis, n, borders in zip(axes, scaled, (down, across)):
        have = x.shape[axis]
        x = np.moveaxis(resample_axis(np.moveaxis(x, axis, 0), 0, have, n, antialias=antialias), 0, axis)
    for axis, borders in zip(axes, (down, across)):
        fill = np.asarray(fill_values, np.float64)
        if fill.ndim and fill.size > 1:
            fill = fill.reshape([-1 if k == "C" else 1 for k in layout])
        side = lambda n: np.broadcast_to(fill, [n if a == axis else e for a, e in enumerate(x.shape)])
        x = np.concatenate([side(borders[0]), x, side(borders[1])], axis)
    return x


def letterbox_placement(extents, **how):
    height, width = (int(n) for n in extents[:2])
    scale, _, down, across = placed(height, width, **how)
    return np.array([scale, across[0], down[0], width, height])


def unletterbox_boxes(boxes, row, *, bbox_layout="ltrb", clip=True):
    scale, left, above, width, height = row.astype(np.float64)
    boxes = boxes.astype(np.float64)
    low, second = boxes[:, :2], boxes[:, 2:]
    low = low - second / 2 if bbox_layout == "cxcywh" else low
    high = second if bbox_layout == "ltrb" else low + second
    low, high = ((side - (left, above)) / scale for side in (low, high))
    if clip:
        low, high = (np.clip(side, 0, (width, height)) for side in (low, high))
    first = (low + high) / 2 if bbox_layout == "cxcywh" else low
    return np.concatenate([first, high if bbox_layout == "ltrb" else high - low], 1)


def roi_align(maps, boxes, *, layout="CHW", output_size=7, spatial_scale=1.0, sampling_ratio=-1, aligned=True):
    maps = maps.astype(np.float64) if layout != "HWC" else maps.astype(np.float64).transpose(2, 0, 1)
    cells = (output_size * 2)[:2] if isinstance(output_size, list) else [output_size] * 2
    channels, *extents = maps.shape
    found = np.zeros((len(boxes), channels, *cells))
    one = np.float32
    for n, box in enumerate(boxes.astype(np.float32)):
        weights = []
        for axis in range(2):  # the means of an axis as a matrix: cells, pixels
            low, high = box[1 - axis] * one(spatial_scale), box[3 - axis] * one(spatial_scale)
            low, high = low - one(0.5 * aligned), high - one(0.5 * aligned)
            extent = high - low if aligned else max(high - low, one(1))
            cell = extent / one(cells[axis])
            count = sampling_ratio if sampling_ratio > 0 else int(np.ceil(cell))
            at = low + np.arange(cells[axis])[:, None] * np.float64(cell)
            at = at + (np.arange(max(count, 0)) + 0.5) * np.float64(cell) / max(count, 1)
            inside = (at >= -1) & (at <= extents[axis])
            at = np.clip(at, 0, extents[axis] - 1)
            pixels = np.arange(extents[axis])
            near = np.maximum(1 - np.abs(at[..., None] - pixels), 0) * inside[..., None]
            weights.append(near.sum(1) / max(count, 1))
        found[n] = np.einsum("ay,bx,cyx->cab", *weights, maps)
    return found if layout == "CHW" else found.transpose(0, 2, 3, 1)


def draw_how(draw, most):
    size = draw(st.one_of(st.integers(1, most), st.lists(st.integers(1, most), min_size=2, max_size=2)))
    how = {"size": size}
    if draw(st.booleans()):
        how["align"] = draw(st.sampled_from(["center", "corner"]))
    if draw(st.booleans()):
        how["scale_up"] = draw(st.booleans())
    if draw(st.booleans()):
        how["stride"] = draw(st.sampled_from([0, 1, 8, 32]))
    return how


def draw_letterbox(draw):
    xs, layout, dtype = images(draw, ["HWC", "CHW", "HW", "FHWC"], empty=False, same_channels=True)
    how = draw_how(draw, 70)
    if draw(st.booleans()):
        how["antialias"] = True
    channels = xs[0].shape[layout.index("C")] if "C" in layout else 1
    if draw(st.booleans()):
        how["fill_values"] = [float(k) for k in range(1, channels + 1)]
    kept = {**how}
    if dtype == "bool":
        kept["fill_values"] = [float(v != 0) for v in how.get("fill_values", [114.0])]
    return Case(
        [xs], [layout], how, dtype=dtype, error=2e-5, largest=114, expected=lambda i: letterbox(xs[i], layout, **kept)
    )


def draw_placement(draw):
    how = draw_how(draw, 1500)
    rows = [
        np.array([draw(st.integers(1, 3000)), draw(st.integers(1, 3000)), 3][: draw(st.integers(2, 3))])
        for _ in range(draw(st.integers(1, 3)))
    ]
    rows = [row.astype(draw(st.sampled_from(["int32", "int64", "float32"]))) for row in rows[:1]]
    return Case([rows], [""], how, dtype="float32", expected=lambda i: letterbox_placement(rows[i], **how))


def draw_unletterbox(draw):
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    boxes = [rng.uniform(-50, 700, (draw(st.integers(0, 9)), 4)).astype(np.float32) for _ in range(n)]
    rows = [np.float32([rng.uniform(0.25, 4), *rng.integers(0, 99, 2), *rng.integers(100, 900, 2)]) for _ in range(n)]
    how = {"bbox_layout": draw(st.sampled_from(["ltrb", "xywh", "cxcywh"])), "clip": draw(st.booleans())}
    moved = lambda i: unletterbox_boxes(boxes[i], rows[i], **how)
    return Case([boxes, rows], ["", ""], how, dtype="float32", largest=6000, expected=moved)


def draw_roi_align(draw):
    maps, layout, dtype = images(draw, ["CHW", "HWC"], [t for t in FLOATS if t != "float64"], empty=False)
    maps = [values(dtype, m.shape, k) if m.size < 1 else m for k, m in enumerate(maps)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    boxes = []
    for _ in maps:
        low = rng.integers(-40, 400, (draw(st.integers(0, 4)), 2)) / 8
        boxes.append(np.concatenate([low, low + rng.integers(-8, 300, low.shape) / 8], 1).astype(np.float32))
    how = {"output_size": draw(st.sampled_from([1, 7, [2, 5]])), "aligned": draw(st.booleans())}
    how |= {"spatial_scale": draw(st.sampled_from([1.0, 0.25])), "sampling_ratio": draw(st.sampled_from([-1, 0, 1, 2]))}
    means = lambda i: roi_align(maps[i], boxes[i], layout=layout, **how)
    return Case([maps, boxes], [layout, ""], how, dtype=dtype, error=2e-5, expected=means)


CASES = {
    "letterbox": draw_letterbox,
    "letterbox_placement": draw_placement,
    "unletterbox_boxes": draw_unletterbox,
    "roi_align": draw_roi_align,
}
