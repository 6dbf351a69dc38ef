# SPDX-License-Identifier: Apache-2.0
"""Rectangles around points, perspectives between points, and blurred boxes: what OpenCV finds."""

import cv2
import numpy as np
import pytest

from penstock import fn

F = np.float32


def corners(rect):
    x, y, w, h, angle = np.float64(rect)
    u = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    v = np.array([-u[1], u[0]])
    return np.array([x, y]) + [a * w / 2 * u + b * h / 2 * v for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def far_outside(points, rect):
    x, y, w, h, angle = np.float64(rect)
    u = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    moved = np.float64(points) - [x, y]
    return max(np.abs(moved @ u).max() - w / 2, np.abs(moved @ [-u[1], u[0]]).max() - h / 2)


@pytest.mark.parametrize("seed", range(8))
def test_the_smallest_rectangle_is_opencvs(seed):
    rng = np.random.default_rng(seed)
    xs = [rng.normal(size=(n, 2)) @ rng.normal(size=(2, 2)) * 40 + 100 for n in (3, 4, 7, 50, 2000)]
    xs = [F(np.round(x)) if seed % 2 else F(x) for x in xs]
    for x, got in zip(xs, fn.min_area_rect(xs)):
        got = got.numpy()
        want = cv2.minAreaRect(x)
        assert got[2] * got[3] <= want[1][0] * want[1][1] * (1 + 1e-4) + 1e-2
        assert abs(got[2] * got[3] - want[1][0] * want[1][1]) <= 1e-4 * got[2] * got[3] + 1e-2
        assert far_outside(x, got) < 1e-4 * max(1, np.abs(x).max())
        assert 0 <= got[4] < 90
        box = cv2.boxPoints((tuple(map(float, got[:2])), tuple(map(float, got[2:4])), float(got[4])))
        near = np.abs(box[:, None] - corners(got)[None]).sum(2).min(1)
        assert near.max() < 1e-2


def test_rectangles_around_little():
    assert fn.min_area_rect(np.zeros((0, 2), F)).tolist() == [0] * 5
    assert fn.min_area_rect(F([[3, 4]])).tolist() == [3, 4, 0, 0, 0]
    assert fn.min_area_rect(F([[3, 4]] * 5)).tolist() == [3, 4, 0, 0, 0]
    x, y, w, h, angle = fn.min_area_rect(F([[0, 0], [3, 4], [6, 8], [1.5, 2]])).tolist()
    assert (
        (x, y) == (3, 4)
        and max(w, h) == 10
        and min(w, h) < 1e-5
        and far_outside([[0, 0], [6, 8]], (x, y, w, h, angle)) < 1e-4
    )


@pytest.mark.parametrize("seed", range(8))
def test_perspectives_are_opencvs(seed):
    rng = np.random.default_rng(seed)
    n = [4, 5, 12, 300][seed % 4]
    source = F(rng.uniform(0, 500, (n, 2)))
    if n == 4:
        source = F([[0, 0], [400, 10], [420, 300], [5, 310]])
    matrix = np.array([[1.1, 0.2, 30], [-0.1, 0.9, 12], [2e-4, -3e-4, 1]])
    far = np.concatenate([source, np.ones((n, 1))], 1) @ matrix.T
    target = F(far[:, :2] / far[:, 2:] + rng.normal(size=(n, 2)) * (2 if n > 4 else 0))
    got = np.float64(fn.find_homography(source, target))
    want, _ = cv2.findHomography(np.float64(source), np.float64(target), 0)
    moved = lambda m: (lambda p: p[:, :2] / p[:, 2:])(np.concatenate([source, np.ones((n, 1))], 1) @ m.T)  # noqa: E731
    assert np.abs(moved(got) - moved(want)).max() < 2e-2
    assert ((moved(got) - target) ** 2).sum() <= ((moved(want) - target) ** 2).sum() * (1 + 1e-4) + 1e-4


def with_wrong_pairs(seed, n, wrong):
    rng = np.random.default_rng(seed)
    source = F(rng.uniform(0, 500, (n, 2)))
    far = np.concatenate([source, np.ones((n, 1))], 1) @ np.array([[1.1, 0.2, 30], [-0.1, 0.9, 12], [2e-4, -3e-4, 1]]).T
    target = F(far[:, :2] / far[:, 2:] + rng.normal(size=(n, 2)) * 0.5)
    bad = rng.permutation(n) < wrong * n
    target[bad] = F(rng.uniform(0, 500, (bad.sum(), 2)))
    return source, target, bad


@pytest.mark.parametrize("method, theirs", [("ransac", cv2.RANSAC), ("lmeds", cv2.LMEDS)])
@pytest.mark.parametrize("n, wrong", [(15, 0.2), (60, 0.0), (200, 0.4), (2000, 0.3)])
def test_wrong_pairs_do_not_count(method, theirs, n, wrong):
    for seed in range(3):
        source, target, bad = with_wrong_pairs(seed, n, wrong)
        got, inlier = fn.find_homography(source, target, method=method, threshold=3.0, return_inliers=True)
        want, mask = cv2.findHomography(source, target, theirs, 3.0)
        inlier = np.array(inlier)
        wrong_marks = [(np.ravel(m) == bad).mean() for m in (inlier, mask)]
        assert inlier.dtype == np.uint8 and wrong_marks[0] <= wrong_marks[1] + (0.05 if n > 50 else 0.15)
        moved = lambda m: cv2.perspectiveTransform(source[None], np.float64(m))[0]  # noqa: E731
        assert np.abs(moved(got) - moved(want))[~bad].max() < (3 if n > 50 else 10)
        errors = [np.sqrt(((moved(m) - target)[~bad] ** 2).sum(1)).mean() for m in (got, want)]
        assert errors[0] < errors[1] * (1.2 if n > 50 else 2) + 0.05


def test_choices_are_the_same_in_every_call():
    source, target, _ = with_wrong_pairs(1, 80, 0.4)
    call = lambda **more: np.array(fn.find_homography(source, target, method="ransac", **more)).tobytes()  # noqa: E731
    assert call() == call() and call(choice_seed=3) == call(choice_seed=3)
    batch = fn.find_homography([source] * 3, [target] * 3, method="ransac")
    assert {m.numpy().tobytes() for m in batch} == {call()}


def test_four_pairs_and_what_fits_none():
    square = F([[0, 0], [9, 0], [9, 9], [0, 9]])
    got, inlier = fn.find_homography(square, square * 2 + 1, method="ransac", return_inliers=True)
    assert np.abs(np.array(got) - [[2, 0, 1], [0, 2, 1], [0, 0, 1]]).max() < 1e-5 and inlier.tolist() == [1] * 4
    line = F([[k, k] for k in range(9)])
    with pytest.raises(ValueError, match="no choice of four fits others"):
        fn.find_homography(line, line, method="ransac")
    with pytest.raises(ValueError, match="method must be least_squares, ransac or lmeds, got 'magic'"):
        fn.find_homography(square, square, method="magic")


def test_a_found_perspective_warps():
    image = np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8)
    source = F([[0, 0], [60, 0], [60, 40], [0, 40]])
    found = fn.find_homography(source + F([5, 3]), source)
    assert np.abs(np.array(found) - [[1, 0, -5], [0, 1, -3], [0, 0, 1]]).max() < 1e-5
    back = fn.warp_perspective(image, matrix=np.array(found).ravel().tolist(), inverse_map=False, interp_type=0)
    np.testing.assert_array_equal(np.array(back)[:-3, :-5], image[3:, 5:])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: fn.min_area_rect(np.zeros((3, 3), F)), r"points must have the shape \(N, 2\)"),
        (lambda: fn.min_area_rect(np.zeros((3, 2))), "points must be float32, got float64"),
        (lambda: fn.min_area_rect(F([[0, np.nan]])), "point 0 of the points of sample 0 is not finite"),
        (lambda: fn.find_homography(np.zeros((3, 2), F), np.zeros((3, 2), F)), "needs at least 4 points, got 3"),
        (lambda: fn.find_homography(np.zeros((5, 2), F), np.zeros((4, 2), F)), "5 points of the source do not match 4"),
        (lambda: fn.find_homography(np.ones((5, 2), F), np.ones((5, 2), F)), "determine no perspective"),
        (lambda: fn.find_homography(F([[k, k] for k in range(6)]), F([[k, 0] for k in range(6)])), "no perspective"),
        (lambda: fn.box_blur_regions(PICTURE, F([[0, 0, 9, 9]]), window_size=0), "window_size must be from 1 to 2047"),
        (lambda: fn.box_blur_regions(PICTURE, F([[0, 0, 9, 9]]), window_size=[3, 4]), "window_size has 2 numbers"),
        (lambda: fn.box_blur_regions(PICTURE, F([[9, 0, 0, 9]])), "box 0 of sample 0 ends before it starts"),
        (lambda: fn.box_blur_regions(PICTURE, F([[0, 0, 9, 9]]), border_mode="wrap"), "border_mode cannot be wrap"),
        (lambda: fn.box_blur_regions(PICTURE, F([[0, 0, 9]])), "boxes must have 4 numbers each"),
    ],
)
def test_what_does_not_fit(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


PICTURE = np.random.default_rng(5).integers(0, 256, (50, 70, 3), np.uint8)


def test_blurred_boxes_are_opencvs():
    boxes = F([[5, 6, 30, 40], [50, 2, 90, 20], [-4, 44, 12, 60]])
    want = PICTURE.copy()
    for (x0, y0, x1, y1), n in zip(boxes.astype(int), (5, 9, 21)):
        part = slice(max(y0, 0), y1), slice(max(x0, 0), x1)
        want[part] = cv2.blur(PICTURE, (n, n))[part]
    np.testing.assert_array_equal(fn.box_blur_regions(PICTURE, boxes, window_size=[5, 9, 21]), want)
    same = fn.box_blur_regions(PICTURE, boxes / F([70, 50, 70, 50]), window_size=[5, 9, 21], bbox_normalized=True)
    np.testing.assert_array_equal(same, want)
