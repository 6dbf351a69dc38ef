# SPDX-License-Identifier: Apache-2.0
"""Operators on boxes and labels: the references and random calls."""

import math

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case, values
from operators.draws import DTYPES, NUMBERS, arguments, number, of
from operators.exact import to_dtype
from operators.warps import rotate_size


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


def transform_points(x, *, matrix):
    m = np.reshape(np.float64(matrix), (3, 3) if np.size(matrix) == 9 else (4, 4))
    n = len(m) - 1
    x = np.asarray(x, np.float64)
    sums = x[..., :n] @ m[:, :n].T + m[:, n]
    return np.concatenate([sums[..., :n] / sums[..., n:], x[..., n:]], -1)


def transform_boxes(
    boxes, *, matrix, output_shape, input_shape, layout="ltrb", normalized=False, clip=True, min_area=0.0
):
    """In pixels of images of (height, width)."""
    m, kept = np.reshape(np.float64(matrix), (3, 3)), []
    unit = np.float64([*input_shape[::-1]] * 2) if normalized else 1.0
    canvas = np.float64([*output_shape[::-1]])
    for row in np.asarray(boxes, np.float64):
        left, top, right, bottom = (row if layout == "ltrb" else np.concatenate([row[:2], row[:2] + row[2:]])) * unit
        corners = np.float64([[left, top, 1], [right, top, 1], [left, bottom, 1], [right, bottom, 1]]) @ m.T
        if not (corners[:, 2] > 0).all():
            continue
        places = corners[:, :2] / corners[:, 2:]
        low, high = places.min(0), places.max(0)
        inner = np.maximum(low, 0), np.minimum(high, canvas)
        sides = np.maximum(inner[1] - inner[0], 0)
        if sides.prod() > 0 and sides.prod() >= min_area:
            low, high = inner if clip else (low, high)
            kept.append(
                np.concatenate([low, high if layout == "ltrb" else high - low])
                / (np.tile(canvas, 2) if normalized else 1)
            )
    return np.reshape(kept, (-1, 4))


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


def draw_boxes(draw, least=0, layout="xyXY"):
    """Batches of float32 draw_boxes in units of their image."""
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 3))
    made = []
    for i in range(n):
        rng = np.random.default_rng(seed + i)
        corners = np.sort(rng.random((rng.integers(least, 6), 2, 2), np.float32), 1).reshape(-1, 4)
        if layout == "xyWH":
            corners[:, 2:] -= corners[:, :2]
        made.append(corners)
    return made


def draw_bb_flip(draw):
    xs = draw_boxes(draw)
    given = arguments(draw, len(xs), {"horizontal": st.integers(0, 1), "vertical": st.integers(0, 1)})
    given[0]["ltrb"] = draw(st.booleans())
    return Case([xs], [""], *given, dtype="float32", expected=lambda i: bb_flip(xs[i], **of(given, i)))


def draw_bbox_paste(draw):
    xs = draw_boxes(draw)
    given = arguments(draw, len(xs), {"paste_x": number(0, 1), "paste_y": number(0, 1)})
    given[1]["ratio"] = [draw(number(1, 4)) for _ in xs]
    given[0]["ltrb"] = draw(st.booleans())
    return Case([xs], [""], *given, dtype="float32", expected=lambda i: bbox_paste(xs[i], **of(given, i)))


def draw_one_hot(draw):
    n, dims, dtype = draw(st.integers(1, 3)), draw(st.integers(0, 3)), draw(st.sampled_from(DTYPES))
    classes, out, seed = draw(st.integers(1, 7)), draw(st.sampled_from(NUMBERS)), draw(st.integers(0, 2**32 - 1))
    shapes = [tuple(draw(st.integers(0, 4)) for _ in range(dims)) for _ in range(n)]
    xs = [np.random.default_rng(seed + i).integers(0, classes + 1, s).astype(dtype) for i, s in enumerate(shapes)]
    axis = draw(st.none() | st.integers(-1, dims))
    on, off = draw(st.integers(-3, 300)), draw(st.integers(-3, 300))
    vectors = axis is None and all(x.size == 1 for x in xs)
    place = -1 if axis is None else axis
    constants = {
        "num_classes": classes,
        "dtype": out,
        "on_value": float(on),
        "off_value": float(off),
        **({} if axis is None else {"axis": axis}),
    }

    def expected(i):
        x = xs[i].reshape(()) if vectors else xs[i]
        return to_dtype(one_hot(x, num_classes=classes, axis=place, on_value=on, off_value=off), out)

    return Case(
        [xs], [""], constants, dtype=out, expected=expected, error=0.0, alone={} if vectors else {"axis": place}
    )


def draw_coord_transform(draw):
    n, dims, dtype = draw(st.integers(1, 3)), draw(st.integers(0, 2)), draw(st.sampled_from(NUMBERS))
    columns, rows, seed = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 2**32 - 1))
    xs = [values(dtype, tuple(draw(st.integers(0, 5)) for _ in range(dims)) + (columns,), seed + i) for i in range(n)]
    vector = lambda k: st.lists(number(-2, 2), min_size=k, max_size=k)
    how = draw(st.sampled_from(["nothing", "M", "M and T", "MT", "T", "one M", "one MT"]))
    wanted = {
        "M": {"M": vector(rows * columns)},
        "M and T": {"M": vector(rows * columns), "T": vector(rows)},
        "MT": {"MT": vector(rows * (columns + 1))},
        "T": {"T": vector(columns)},
        "one M": {"M": vector(1), "T": vector(1)},
        "one MT": {"MT": vector(1)},
    }.get(how, {})
    constants, per_sample = {}, {}
    for name, value in wanted.items():
        if draw(st.booleans()):
            constants[name] = draw(value)
        else:
            per_sample[name] = [draw(value) for _ in xs]
    out = draw(st.sampled_from(NUMBERS))
    constants["dtype"] = out
    largest = 40 * max([1.0] + [float(np.abs(x.astype(np.float64)).max()) for x in xs if x.size])
    return Case(
        [xs],
        [""],
        constants,
        per_sample,
        dtype=out,
        largest=largest,
        error=1e-6,
        expected=lambda i: coord_transform(
            xs[i], **{k: v for k, v in of((constants, per_sample), i).items() if k != "dtype"}
        ),
    )


def draw_transform_points(draw):
    n, dims, dtype = draw(st.integers(1, 3)), draw(st.integers(2, 3)), draw(st.sampled_from(NUMBERS))
    columns, seed = dims + draw(st.integers(0, 2)), draw(st.integers(0, 2**32 - 1))
    xs = [values(dtype, (draw(st.integers(0, 5)), columns), seed + i) for i in range(n)]

    def matrix():
        m = np.reshape([draw(number(-2, 2)) for _ in range((dims + 1) ** 2)], (dims + 1, dims + 1))
        m[-1] = [*[0.0] * dims, draw(number(0.5, 2))]  # numbers of any type would cross the horizon
        return m.ravel().tolist()

    given = {"matrix": matrix()}, {}
    if draw(st.booleans()):
        given = {}, {"matrix": [matrix() for _ in xs]}
    largest = 40 * max([1.0] + [float(np.abs(x.astype(np.float64)).max()) for x in xs if x.size])
    return Case(
        [xs],
        [""],
        *given,
        dtype=dtype,
        largest=largest,
        error=1e-6,
        expected=lambda i: transform_points(xs[i], **of(given, i)),
    )


def _keypoints_after_move(x, *, matrix, output_shape, flip_indices):
    made = x[:, flip_indices] if len(flip_indices) and np.linalg.det(np.reshape(matrix, (3, 3))) < 0 else x.copy()
    if made.shape[-1] > 2:
        outside = ((made[..., :2] < 0) | (made[..., :2] > np.array(output_shape))).any(-1)
        made[..., 2][outside] = 0
    return made


def draw_keypoints_after_move(draw):
    n, k = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    dtype, numbers = draw(st.sampled_from(["float32", "float64", "int32"])), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    xs = [rng.uniform(-9, 40, (draw(st.integers(0, 4)), k, numbers)).astype(dtype) for _ in range(n)]
    constants = {"flip_indices": draw(st.permutations(range(k))) if draw(st.booleans()) else []}
    per_sample = {
        "matrix": [[draw(st.sampled_from([-1.0, 1.0])), 0.5, 3.0, 0.25, 1.0, 2.0, 0.0, 0.0, 1.0] for _ in xs],
        "output_shape": [[draw(st.integers(1, 40)), draw(st.integers(1, 40))] for _ in xs],
    }
    expected = lambda i: _keypoints_after_move(xs[i], **of((constants, per_sample), i))  # noqa: E731
    return Case([xs], [""], constants, per_sample, dtype=dtype, largest=100.0, expected=expected)


def draw_transform_boxes(draw):
    layout, normalized = draw(st.sampled_from(["ltrb", "xywh"])), draw(st.booleans())
    xs = draw_boxes(draw, layout="xyXY" if layout == "ltrb" else "xyWH")
    before = [[draw(st.integers(10, 60)), draw(st.integers(10, 60))] for _ in xs]
    if not normalized:
        xs = [np.float32(x * np.float32([w, h, w, h])) for x, (h, w) in zip(xs, before)]
    after = [[draw(st.integers(10, 60)), draw(st.integers(10, 60))] for _ in xs]

    def matrix():
        small = number(-0.25, 0.25)
        m = [1 + draw(small), draw(small), draw(number(-9, 9)), draw(small), 1 + draw(small), draw(number(-9, 9))]
        return [*m, draw(number(0, 0.004)), draw(number(0, 0.004)), 1.0]

    constants = {"bbox_layout": layout, "bbox_normalized": normalized, "clip": draw(st.booleans())}
    per_sample = {"input_shape": before, "output_shape": after, "matrix": [matrix() for _ in xs]}
    return Case(
        [xs],
        [""],
        constants,
        per_sample,
        dtype="float32",
        largest=100.0,
        expected=lambda i: transform_boxes(
            xs[i],
            matrix=per_sample["matrix"][i],
            input_shape=before[i],
            output_shape=after[i],
            layout=layout,
            normalized=normalized,
            clip=constants["clip"],
        ),
    )


def draw_bbox_rotate(draw):
    layout = draw(st.sampled_from(["xyXY", "xyWH"]))
    xs = draw_boxes(draw, layout=layout)
    images = [[draw(st.integers(10, 60)), draw(st.integers(10, 60))] for _ in xs]
    angles = [draw(st.integers(-180, 180).map(float)) for _ in xs]
    mode, keep = draw(st.sampled_from(["expand", "fixed", "halfway"])), draw(st.booleans())
    threshold = draw(number(0, 0.9))
    constants = {"bbox_layout": layout, "mode": mode, "keep_size": keep, "remove_threshold": threshold}

    def expected(i):
        canvas = images[i] if keep else rotate_size(images[i], angles[i])
        return bbox_rotate(
            xs[i], angle=angles[i], image=images[i], canvas=canvas, mode=mode, remove_threshold=threshold, layout=layout
        )[0]

    return Case([xs], [""], constants, {"input_shape": images, "angle": angles}, dtype="float32", expected=expected)


def draw_box_encoder(draw):
    xs = draw_boxes(draw)
    labels = [np.arange(1, 1 + len(x), dtype=np.int32) for x in xs]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    anchors = np.sort(rng.random((draw(st.integers(1, 20)), 2, 2), np.float32), 1).reshape(-1, 4)
    constants = {"criteria": draw(number(0, 1))}
    if draw(st.booleans()):
        constants.update(
            offset=True,
            scale=draw(number(1, 300)),
            means=[draw(number(-1, 1)) for _ in range(4)],
            stds=[draw(number(0.5, 2)) for _ in range(4)],
        )
    return Case(
        [xs, labels],
        ["", ""],
        {"anchors": anchors.ravel().tolist(), **constants},
        dtype="float32",
        expected=lambda i: box_encoder(xs[i], labels[i], anchors=anchors, **constants)[0],
    )


def draw_random_bbox_crop(draw):
    """The window is the whole image, so that nothing is random; what is random has tests of its own."""
    xs = draw_boxes(draw)
    return Case([xs], [""], {}, dtype="float32", expected=lambda i: np.zeros(2))


CASES = {
    "bb_flip": draw_bb_flip,
    "bbox_paste": draw_bbox_paste,
    "one_hot": draw_one_hot,
    "coord_transform": draw_coord_transform,
    "transform_points": draw_transform_points,
    "_keypoints_after_move": draw_keypoints_after_move,
    "transform_boxes": draw_transform_boxes,
    "bbox_rotate": draw_bbox_rotate,
    "box_encoder": draw_box_encoder,
    "random_bbox_crop": draw_random_bbox_crop,
}
