# SPDX-License-Identifier: Apache-2.0
"""Warps by points and by a mesh, tiles that are shuffled, and segments that are drawn: references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.distortions import _how
from operators.draws import number
from operators.picture_draws import of_axes, pictures, some
from operators.pictures import sampled


def _places(shape, origin):
    shift = 0.5 if origin == "corner" else 0.0
    y, x = np.mgrid[: shape[0], : shape[1]] + shift
    return x, y, shift


def _bend(square):
    return np.where(square > 0, square * np.log(np.where(square > 0, square, 1)) / 2, 0)


def warp_by_points(
    x,
    *,
    points,
    targets,
    between="thin_plate_spline",
    normalized=False,
    pixel_origin="corner",
    interp_type=1,
    border_mode="constant",
    fill_value=0.0,
):
    h, w = x.shape[:2]
    unit = np.array([w, h]) if normalized else np.ones(2)
    points, targets = (np.float64(np.float32(v)).reshape(-1, 2) for v in (points, targets))
    u, v, shift = _places(x.shape, pixel_origin)
    at = np.stack([u, v], -1) / unit
    far = np.square(at[:, :, None] - points).sum(-1)
    if between == "inverse_distance":
        weights = 1 / (far + 1e-8)
        shown = (weights @ targets) / weights.sum(-1, keepdims=True)
    else:
        n = len(points)
        system = np.zeros((n + 3, n + 3))
        system[:n, :n] = _bend(np.square(points[:, None] - points).sum(-1))
        system[:n, n:] = np.c_[np.ones(n), points]
        system[n:, :n] = system[:n, n:].T
        factors = np.linalg.solve(system, np.r_[targets - points, np.zeros((3, 2))])
        plane = np.concatenate([np.ones((h, w, 1)), at], -1)
        shown = at + _bend(far) @ factors[:n] + plane @ factors[n:]
    shown = shown * unit - shift
    return sampled(x, shown[..., 1], shown[..., 0], interp_type, border_mode, fill_value)


def draw_warp_by_points(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "HW"])
    how = _how(draw)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    between = draw(st.sampled_from(["thin_plate_spline", "inverse_distance"]))
    normalized, origin = draw(st.booleans()), draw(st.sampled_from(["corner", "center"]))
    corners = np.float64([[0, 0], [1, 0], [0, 1], [1, 1]]) + rng.uniform(-0.1, 0.1, (4, 2))
    points, targets = [], []
    for x in xs:
        more = rng.uniform(0, 1, (draw(st.integers(0, 5)), 2))
        unit = 1 if normalized else np.maximum(x.shape[1::-1], 2)
        points.append(np.float32(np.r_[corners, more] * unit))
        targets.append(np.float32(points[-1] + rng.normal(0, 0.1, points[-1].shape) * unit))
    constants = {"between": between, "normalized": normalized, "pixel_origin": origin, **how}
    each = {"points": [p.ravel() for p in points], "targets": [t.ravel() for t in targets]}
    expected = lambda i: warp_by_points(xs[i], points=points[i], targets=targets[i], **constants)  # noqa: E731
    return Case([xs], [layout], constants, each, dtype=dtype, error=3e-5, expected=expected)


def _square_to(corners):
    """The perspective from the unit square to four corners, clockwise from (0, 0)."""
    rows, right = [], []
    for (u, v), (x, y) in zip([(0, 0), (1, 0), (1, 1), (0, 1)], corners):
        rows += [[u, v, 1, 0, 0, 0, -u * x, -v * x], [0, 0, 0, u, v, 1, -u * y, -v * y]]
        right += [x, y]
    return np.r_[np.linalg.solve(rows, right), 1].reshape(3, 3)


def mesh_positions(shape, columns, rows, moves, pixel_origin):
    columns, rows, moves = (np.float64(np.float32(v)) for v in (columns, rows, moves))
    moves = moves.reshape(len(rows), len(columns), 2)
    x, y, shift = _places(shape, pixel_origin)
    u, v = x.copy(), y.copy()
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            places = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
            matrix = np.linalg.inv(_square_to([[columns[q], rows[p]] + moves[p, q] for p, q in places]))
            a, b, c = np.moveaxis(np.stack([x, y, np.ones_like(x)], -1) @ matrix.T, -1, 0)
            with np.errstate(all="ignore"):
                a, b = a / c, b / c
            inside = (a >= -1e-9) & (a <= 1 + 1e-9) & (b >= -1e-9) & (b <= 1 + 1e-9)
            u = np.where(inside, columns[j] + a * (columns[j + 1] - columns[j]), u)
            v = np.where(inside, rows[i] + b * (rows[i + 1] - rows[i]), v)
    return u - shift, v - shift


def warp_by_mesh(
    x, *, columns, rows, moves, pixel_origin="corner", interp_type=1, border_mode="constant", fill_value=0.0
):
    u, v = mesh_positions(x.shape[:2], columns, rows, moves, pixel_origin)
    return sampled(x, v, u, interp_type, border_mode, fill_value)


def draw_warp_by_mesh(draw):
    """Inner corners move by less than half a cell, so no cell folds."""
    xs, layout, dtype = pictures(draw, ["HWC", "HW"])
    how = _how(draw)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    columns = [np.float32(np.linspace(0, x.shape[1], n)) for x in xs]
    rows = [np.float32(np.linspace(0, x.shape[0], m)) for x in xs]
    moves = []
    for across, down in zip(columns, rows):
        by = rng.uniform(-0.2, 0.2, (m, n, 2)) * [across[1], down[1]]
        by[[0, -1]] = by[:, [0, -1]] = 0
        moves.append(np.float32(by).ravel())
    each = {"columns": columns, "rows": rows, "moves": moves}
    expected = lambda i: warp_by_mesh(xs[i], columns=columns[i], rows=rows[i], moves=moves[i], **how)  # noqa: E731
    return Case([xs], [layout], how, each, dtype=dtype, error=3e-5, expected=expected)


def shuffle_tiles(x, axes, *, columns, rows, order):
    x = np.moveaxis(x, axes, (0, 1))
    made, across = np.empty_like(x), len(columns) - 1
    for k, place in enumerate(order):
        (i, j), (p, q) = divmod(k, across), divmod(place, across)
        made[rows[p] : rows[p + 1], columns[q] : columns[q + 1]] = x[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
    return np.moveaxis(made, (0, 1), axes)


def _lines(draw, extent):
    inner = draw(st.lists(st.integers(0, extent), max_size=3))
    return [0, *sorted(inner), extent]


def tile_order(rng, columns, rows):
    """A random order of tiles among those of their sizes."""
    sizes = [(int(h), int(w)) for h in np.diff(rows) for w in np.diff(columns)]
    order = list(range(len(sizes)))
    for size in set(sizes):
        same = [k for k, s in enumerate(sizes) if s == size]
        for k, place in zip(same, rng.permutation(same)):
            order[k] = int(place)
    return order


def draw_shuffle_tiles(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"])
    axes = of_axes(layout)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    each = {"columns": [], "rows": [], "order": []}
    for x in xs:
        rows, columns = (_lines(draw, x.shape[a]) for a in axes)
        each["rows"].append(rows), each["columns"].append(columns)
        each["order"].append(tile_order(rng, columns, rows))
    expected = lambda i: shuffle_tiles(xs[i], axes, **{n: v[i] for n, v in each.items()})  # noqa: E731
    return Case([xs], [layout], {}, each, dtype=dtype, error=0.0, expected=expected)


def _tiles(draw):
    """Fields whose shapes are read, and the tiles of each."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, fields, each = draw(st.integers(1, 3)), [], {"columns": [], "rows": [], "order": []}
    for _ in range(n):
        height, width = draw(st.integers(1, 30)), draw(st.integers(1, 30))
        rows, columns = _lines(draw, height), _lines(draw, width)
        fields.append(np.zeros((2, height, width), np.float32))
        each["rows"].append(rows), each["columns"].append(columns)
        each["order"].append(tile_order(rng, columns, rows))
    return fields, each, rng


def _shuffle_points(points, *, columns, rows, order):
    made = points.astype(np.float64)
    for p in made:
        j, i = (np.searchsorted(lines, p[a], "right") - 1 for a, lines in ((0, columns), (1, rows)))
        if 0 <= j < len(columns) - 1 and 0 <= i < len(rows) - 1:
            place = divmod(order[i * (len(columns) - 1) + j], len(columns) - 1)
            p[:2] += [columns[place[1]] - columns[j], rows[place[0]] - rows[i]]
    return made


def draw_shuffle_points(draw):
    fields, each, rng = _tiles(draw)
    numbers = draw(st.integers(2, 4))
    points = [np.float32(rng.integers(-8, 8 * 32, (draw(st.integers(0, 4)), numbers)) / 8) for _ in fields]
    expected = lambda i: _shuffle_points(points[i], **{n: v[i] for n, v in each.items()})  # noqa: E731
    return Case([points, fields], ["", ""], {}, each, dtype="float32", error=1e-6, expected=expected)


def _shuffle_boxes(boxes, *, columns, rows, order):
    """Of boxes of whole pixels: the boxes around the connected parts of their masks."""
    import cv2

    found = []
    for left, top, right, bottom in boxes.astype(int):
        mask = np.zeros((rows[-1], columns[-1]), np.uint8)
        mask[top:bottom, left:right] = 1
        mask = shuffle_tiles(mask, [0, 1], columns=columns, rows=rows, order=order)
        _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        parts = [(s[0], s[1], s[0] + s[2], s[1] + s[3]) for s in stats[1:]]
        found += sorted(parts, key=lambda b: (b[1], b[0]))
    return np.float64(found).reshape(-1, 4)


def draw_shuffle_boxes(draw):
    fields, each, rng = _tiles(draw)
    boxes = []
    for field in fields:
        low = rng.integers(0, [field.shape[2], field.shape[1]], (draw(st.integers(0, 4)), 2))
        high = rng.integers(low + 1, [field.shape[2] + 1, field.shape[1] + 1])
        boxes.append(np.float32(np.hstack([low, high])))
    expected = lambda i: _shuffle_boxes(boxes[i], **{n: v[i] for n, v in each.items()})  # noqa: E731
    return Case([boxes, fields], ["", ""], {}, each, dtype="float32", error=1e-6, expected=expected)


def draw_segments(x, axes, channel, *, segments, color, radius=0.5, opacity=1.0, pixel_origin="corner"):
    made = np.moveaxis(x.astype(np.float64), axes, (0, 1))
    u, v, _ = _places(made.shape, pixel_origin)
    ends = np.float64(np.float32(segments)).reshape(-1, 4)
    channels = 1 if channel is None else x.shape[channel]
    color = np.float64(np.float32(color)).ravel()
    color = color.reshape(-1, channels) if color.size == len(ends) * channels else color
    each = [np.broadcast_to(np.float64(np.float32(value)), len(ends)) for value in (radius, opacity)]
    rest = made.ndim - 2 if channel is None else [a for a in range(x.ndim) if a not in axes].index(channel)
    for k, (x0, y0, x1, y1) in enumerate(ends):
        dx, dy = x1 - x0, y1 - y0
        part = np.clip(((u - x0) * dx + (v - y0) * dy) / (dx * dx + dy * dy or 1.0), 0, 1)
        inside = (u - x0 - part * dx) ** 2 + (v - y0 - part * dy) ** 2 <= each[0][k] ** 2
        c = np.broadcast_to(color[k] if color.ndim > 1 else color, channels)
        c = c if channel is None else c.reshape([-1 if a == rest else 1 for a in range(made.ndim - 2)])
        made[inside] += each[1][k] * (c - made[inside])
    return np.moveaxis(made, (0, 1), axes)


def draw_draw_segments(draw):
    types = ["uint8", "int8", "uint16", "int16", "float32"]
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "HW", "FHWC"], types, channels=draw(st.integers(1, 4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    channel = layout.index("C") if "C" in layout else None
    channels = 1 if channel is None else xs[0].shape[channel]
    # Multiples of 1/8 and 1/2: the test decides exactly.
    segments, radius, opacity, color = [], [], [], []
    for _ in xs:
        n = draw(st.integers(0, 12))
        both = rng.integers(-40, 300, (n, 4)) / 8
        both[::3, 2:] = both[::3, :2]
        segments.append(np.float32(both).ravel())
        radius.append(np.float32(rng.integers(0, 60, n) / 8 + 1 / 32))
        opacity.append(np.float32(rng.integers(0, 9, n) / 8))
        color.append(np.float32(rng.integers(0, 120, n * channels)))
    each = {"segments": segments, "radius": radius, "opacity": opacity, "color": color}
    constants = some(draw, pixel_origin=st.sampled_from(["corner", "center"]))
    axes = of_axes(layout)
    if draw(st.booleans()):
        each.pop("color"), constants.update(color=[draw(number(0, 120))])
    if draw(st.booleans()):
        each.pop("opacity"), constants.update(opacity=[0.5])
    expected = lambda i: draw_segments(xs[i], axes, channel, **constants, **{n: v[i] for n, v in each.items()})  # noqa: E731
    return Case([xs], [layout], constants, each, dtype=dtype, error=1e-6, largest=120.0, expected=expected)


CASES = {
    "warp_by_points": draw_warp_by_points,
    "warp_by_mesh": draw_warp_by_mesh,
    "shuffle_tiles": draw_shuffle_tiles,
    "_shuffle_points": draw_shuffle_points,
    "_shuffle_boxes": draw_shuffle_boxes,
    "draw_segments": draw_draw_segments,
}
