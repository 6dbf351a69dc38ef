# SPDX-License-Identifier: Apache-2.0
"""Points of a plane and boxes of pictures: the references and random calls."""

import cv2
import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from operators.picture_draws import pictures


def mean_around(x, n, border):
    """The mean of n x n values along the first two axes; n // 2 of them are before the center."""
    before, after = n // 2, n - 1 - n // 2
    modes = {"reflect_101": "reflect", "reflect": "symmetric", "replicate": "edge", "constant": "constant"}
    padded = np.pad(x.astype(np.float64), [(before, after)] * 2 + [(0, 0)] * (x.ndim - 2), modes[border])
    for axis in (0, 1):
        total = np.cumsum(padded, axis)
        total = np.concatenate([np.zeros_like(np.take(total, [0], axis)), total], axis)
        size = total.shape[axis]
        padded = np.take(total, range(n, size), axis) - np.take(total, range(size - n), axis)
    return padded / (n * n)


def box_blur_regions(x, boxes, layout, *, window_size=15, border_mode="reflect_101"):
    axes = layout.index("H"), layout.index("W")
    source = np.moveaxis(x, axes, (0, 1))
    out = source.astype(np.float64).copy()
    sizes = np.broadcast_to(window_size, len(boxes))
    for box, n in zip(boxes, sizes):
        x0, y0, x1, y1 = np.floor(np.float64(box) + 0.5).astype(int)
        part = slice(max(0, y0), max(0, y1)), slice(max(0, x0), max(0, x1))
        out[part] = mean_around(source, int(n), border_mode)[part]
    return np.moveaxis(out, (0, 1), axes)


def draw_box_blur_regions(draw):
    layouts, types = ["HWC", "CHW", "HW", "FHWC"], ["uint8", "int16", "float32"]
    xs, layout, dtype = pictures(draw, layouts, types, channels=draw(st.sampled_from([1, 3])))
    xs = [x if 0 not in x.shape else np.ones(x.shape, x.dtype) for x in xs]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    boxes = [rng.uniform(-20, 70, (draw(st.integers(0, 4)), 2, 2)) for _ in xs]
    boxes = [np.float32(np.round(np.sort(b, 1).reshape(-1, 4) * 4) / 4) for b in boxes]
    constants = {"border_mode": draw(st.sampled_from(["reflect_101", "reflect", "replicate", "constant"]))}
    each = {}
    if draw(st.booleans()):
        constants["window_size"] = [draw(st.sampled_from([1, 2, 3, 8, 15, 40]))]
    else:
        each["window_size"] = [rng.integers(1, 20, len(b)) if len(b) else np.ones(1, int) for b in boxes]

    def expected(i):
        size = each["window_size"][i] if each else constants["window_size"][0]
        size = size if len(boxes[i]) else 1
        return box_blur_regions(xs[i], boxes[i], layout, window_size=size, border_mode=constants["border_mode"])

    return Case([xs, boxes], [layout, ""], constants, each, dtype=dtype, error=1e-5, expected=expected)


def min_area_rect(points):
    """A rectangle along an axis, where the points are so: what it is, is tested beside OpenCV in test_planes.py."""
    low, high = points.min(0).astype(np.float64), points.max(0).astype(np.float64)
    return np.concatenate([(low + high) / 2, high - low, [0]])


def draw_min_area_rect(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    xs = []
    for _ in range(draw(st.integers(1, 3))):
        low, extent = rng.integers(-50, 50, 2), rng.integers(1, 60, 2)
        corners = low + np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * extent
        inner = low + rng.random((draw(st.integers(0, 40)), 2)) * extent
        xs.append(np.float32(rng.permutation(np.concatenate([corners, inner]))))
    return Case([xs], [""], dtype="float32", error=1e-5, expected=lambda i: min_area_rect(xs[i]))


def find_homography(source, target):
    matrix, _ = cv2.findHomography(np.float64(source), np.float64(target), 0)
    return matrix


def draw_find_homography(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sources, targets = [], []
    for _ in range(draw(st.integers(1, 3))):
        source = np.float32(
            [[0, 0], [100, 0], [100, 80], [0, 80]] + (rng.random((draw(st.integers(0, 20)), 2)) * 80).tolist()
        )
        matrix = np.eye(3) + rng.uniform(-1, 1, (3, 3)) * [[0.2, 0.2, 9], [0.2, 0.2, 9], [1e-3, 1e-3, 0]]
        far = np.concatenate([source, np.ones((len(source), 1))], 1) @ matrix.T
        sources.append(source)
        targets.append(np.float32(far[:, :2] / far[:, 2:] + rng.uniform(-0.3, 0.3, (len(far), 2))))
    expected = lambda i: find_homography(sources[i], targets[i])  # noqa: E731
    return Case([sources, targets], ["", ""], dtype="float32", error=1e-5, expected=expected)


CASES = {
    "box_blur_regions": draw_box_blur_regions,
    "min_area_rect": draw_min_area_rect,
    "find_homography": draw_find_homography,
}
