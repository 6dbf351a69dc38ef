# SPDX-License-Identifier: Apache-2.0
"""Distortions that are not matrices, and what moves points and boxes with them: the references and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.draws import number
from operators.picture_draws import per_sample, pictures, some
from operators.pictures import sampled

BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]


def optical_distortion(x, *, k=0.0, interp_type=1, border_mode="constant", fill_value=0.0):
    """OpenCV's model of a lens with k1 = k2 = k."""
    h, w = x.shape[:2]
    v, u = np.mgrid[:h, :w] - np.reshape([(h - 1) / 2, (w - 1) / 2], (2, 1, 1))
    r2 = (u / w) ** 2 + (v / h) ** 2
    factor = 1 + float(np.float32(k)) * (r2 + r2**2)
    return sampled(x, v * factor + (h - 1) / 2, u * factor + (w - 1) / 2, interp_type, border_mode, fill_value)


def grid_distortion(x, *, steps_x, steps_y, interp_type=1, border_mode="constant", fill_value=0.0):
    def shown(n, steps):
        steps = np.float64(np.float32(steps))
        lines = np.linspace(0, n, len(steps) + 1)
        return np.interp(np.arange(n) + 0.5, lines, np.concatenate([[0], np.cumsum(steps)]) * n / len(steps)) - 0.5

    v, u = np.meshgrid(shown(x.shape[0], steps_y), shown(x.shape[1], steps_x), indexing="ij")
    return sampled(x, v, u, interp_type, border_mode, fill_value)


def _how(draw):
    how = some(draw, border_mode=st.sampled_from(BORDERS), fill_value=st.integers(0, 100).map(float))
    return {"interp_type": draw(st.integers(1, 2)), **how}


def draw_optical_distortion(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "HW"])
    constants = _how(draw)
    c, each, at = per_sample(draw, len(xs), "k", number(-0.7, 0.7))
    expected = lambda i: optical_distortion(xs[i], **constants, **at(i))  # noqa: E731
    return Case([xs], [layout], {**constants, **c}, each, dtype=dtype, error=1e-5, expected=expected)


def draw_grid_distortion(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "HW"])
    constants = _how(draw)
    steps = lambda: [draw(number(0.3, 1.7)) for _ in range(draw(st.integers(1, 6)))]  # noqa: E731
    across, down = [steps() for _ in xs], steps()
    each = {"steps_x": across}
    expected = lambda i: grid_distortion(xs[i], **constants, steps_x=across[i], steps_y=down)  # noqa: E731
    return Case([xs], [layout], {**constants, "steps_y": down}, each, dtype=dtype, error=1e-5, expected=expected)


def _displace_points(points, dx, dy):
    """For a field that is the same everywhere."""
    return points.astype(np.float64) - np.float64([dx, dy, *[0] * (points.shape[-1] - 2)])


def _displace_boxes(boxes, dx, dy, height, width):
    moved = np.float64(boxes) - [dx, dy, dx, dy]
    cut = np.clip(moved, 0, [width, height, width, height])
    return cut[((cut[:, 2:] - cut[:, :2]) > 0).all(1)]


def _fields(draw, count):
    shapes = [(2, draw(st.integers(1, 30)), draw(st.integers(1, 30))) for _ in range(count)]
    by = [(draw(st.integers(-40, 40)) / 8, draw(st.integers(-40, 40)) / 8) for _ in range(count)]
    fields = [np.float32(np.broadcast_to(np.reshape(b, (2, 1, 1)), s)).copy() for b, s in zip(by, shapes)]
    return shapes, by, fields


def draw_displace_points(draw):
    count, numbers = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    _, by, fields = _fields(draw, count)
    dtype = draw(st.sampled_from(["float32", "float64", "int32"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = [(rng.uniform(-9, 40, (draw(st.integers(0, 4)), numbers))).astype(dtype) for _ in range(count)]
    expected = lambda i: _displace_points(points[i], *by[i])  # noqa: E731
    return Case([points, fields], ["", ""], dtype=dtype, error=1e-5, largest=100.0, expected=expected)


def draw_displace_boxes(draw):
    count = draw(st.integers(1, 3))
    shapes, by, fields = _fields(draw, count)
    boxes = []
    for _, h, w in shapes:
        corners = [[draw(st.integers(0, 8 * n)) / 8 for n in (w, h, w, h)] for _ in range(draw(st.integers(0, 4)))]
        rows = np.float32(corners).reshape(-1, 2, 2)
        boxes.append(np.concatenate([rows.min(1), rows.max(1)], -1))
    expected = lambda i: _displace_boxes(boxes[i], *by[i], *shapes[i][1:])  # noqa: E731
    return Case([boxes, fields], ["", ""], dtype="float32", largest=100.0, expected=expected)


CASES = {
    "optical_distortion": draw_optical_distortion,
    "grid_distortion": draw_grid_distortion,
    "_displace_points": draw_displace_points,
    "_displace_boxes": draw_displace_boxes,
}
