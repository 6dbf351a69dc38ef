# SPDX-License-Identifier: Apache-2.0
"""sift, find_contours, hough_lines, hough_lines_p, hough_circles: OpenCV's results where both are the same to the bit, and random calls."""

import cv2
import numpy as np
from hypothesis import strategies as st
from operator_calls import Case


def drawn_masks(draw, make):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = st.sampled_from([0, 1, 2, 9, 32, 50])
    layout = draw(st.sampled_from(["HW", "HWC", "CHW"]))
    planes = [make(rng, draw(sizes), draw(sizes)) for _ in range(draw(st.integers(1, 3)))]
    shaped = {"HW": lambda x: x, "HWC": lambda x: x[..., None], "CHW": lambda x: x[None]}[layout]
    return planes, [shaped(p) for p in planes], layout


def noise(rng, height, width):
    return np.uint8(rng.random((height, width)) < rng.choice([0.02, 0.4, 0.9])) * np.uint8(200)


def find_contours(mask):
    """The points of all contours, in the order of their first pixels."""
    found = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[0] if mask.size else ()
    parts = [c.reshape(-1, 2) for c in found]
    # A contour begins at its first pixel, except around a hole: there it is the pixel before the hole.
    first = sorted(parts, key=lambda p: (p[0, 1], p[0, 0]))
    return np.concatenate(first) if first else np.zeros((0, 2), np.int32)


def draw_find_contours(draw):
    planes, xs, layout = drawn_masks(
        draw, lambda *size: np.uint8(noise(*size) > 0) if min(size[1:]) < 3 else separate(*size)
    )
    expected = lambda i: find_contours(planes[i])  # noqa: E731
    return Case([xs], [layout], {"mode": "list", "approximation": "none"}, dtype="int32", error=0.0, expected=expected)


def separate(rng, height, width):
    """Pixels that touch no other one: no two contours begin at one place."""
    mask = np.zeros((height, width), np.uint8)
    mask[1::2, 1::2] = rng.random(mask[1::2, 1::2].shape) < 0.5
    return mask


def hough_lines_p(edges):
    found = cv2.HoughLinesP(edges, 1, np.pi / 180, 8, minLineLength=3, maxLineGap=1) if edges.size else None
    return np.zeros((0, 4), np.int32) if found is None else found.reshape(-1, 4)


def draw_hough_lines_p(draw):
    planes, xs, layout = drawn_masks(draw, noise)
    constants = {"threshold": 8, "min_length": 3, "max_gap": 1}
    return Case([xs], [layout], constants, dtype="int32", error=0.0, expected=lambda i: hough_lines_p(planes[i]))


def hough_lines(edges):
    found = cv2.HoughLines(edges, 1, np.pi / 180, 8) if edges.size else None
    return np.zeros((0, 2), np.float32) if found is None else found.reshape(-1, 2)


def draw_hough_lines(draw):
    planes, xs, layout = drawn_masks(draw, noise)
    expected = lambda i: hough_lines(planes[i])  # noqa: E731
    return Case([xs], [layout], {"threshold": 8}, dtype="float32", error=1e-5, expected=expected)


def sift(image):
    """An image without keypoints: what others give is tested beside OpenCV in test_sift.py."""
    return np.zeros((0, 7), np.float32)


def draw_sift(draw):
    planes, xs, layout = drawn_masks(
        draw, lambda rng, height, width: np.full((height, width), rng.integers(256), np.uint8)
    )
    return Case([xs], [layout], dtype="float32", error=0.0, expected=lambda i: sift(planes[i]))


def hough_circles(image):
    found = cv2.HoughCircles(image, cv2.HOUGH_GRADIENT, 1, 10, param1=100, param2=8) if min(image.shape) > 2 else None
    return np.zeros((0, 3), np.float32) if found is None else found.reshape(-1, found.shape[-1])[:, :3]


def disc(rng, height, width):
    image = np.full((height, width), 20, np.uint8)
    if min(height, width) < 3:
        return image
    center, radius = (int(rng.integers(width)), int(rng.integers(height))), int(rng.integers(3, 16))
    return cv2.GaussianBlur(cv2.circle(image, center, radius, 200, -1), (5, 5), 1.2)


def draw_hough_circles(draw):
    planes, xs, layout = drawn_masks(draw, disc)
    expected = lambda i: hough_circles(planes[i])  # noqa: E731
    constants = {"min_distance": 10.0, "threshold": 8}
    return Case([xs], [layout], constants, dtype="float32", error=1e-4, expected=expected)


CASES = {
    "sift": draw_sift,
    "find_contours": draw_find_contours,
    "hough_circles": draw_hough_circles,
    "hough_lines": draw_hough_lines,
    "hough_lines_p": draw_hough_lines_p,
}
