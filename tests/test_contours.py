# SPDX-License-Identifier: Apache-2.0
"""find_contours, hough_lines and hough_lines_p find what OpenCV finds."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import fn

MODES = {"external": cv2.RETR_EXTERNAL, "list": cv2.RETR_LIST, "ccomp": cv2.RETR_CCOMP, "tree": cv2.RETR_TREE}
POINTS = {"simple": cv2.CHAIN_APPROX_SIMPLE, "none": cv2.CHAIN_APPROX_NONE}


def contours(mask, **given):
    """[(points, number of the parent)] in order, and the rows of the family."""
    points, starts, family = (np.array(x) for x in fn.find_contours(mask, **given))
    assert points.dtype == starts.dtype == family.dtype == np.int32
    assert starts[0] == 0 and starts[-1] == len(points) and len(family) == len(starts) - 1
    return [points[a:b] for a, b in zip(starts[:-1], starts[1:])], family


def named(parts, family):
    """Each contour's points with those of its parent, sorted: the order of contours is another one in OpenCV."""
    text = [np.asarray(p).reshape(-1, 2).tolist() for p in parts]
    return sorted((t, text[row[3]] if row[3] >= 0 else []) for t, row in zip(text, family))


@given(st.data())
def test_contours_are_opencvs(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = [data.draw(st.sampled_from([1, 2, 3, 8, 17, 40])) for _ in range(2)]
    mask = np.uint8(rng.random(shape) < data.draw(st.sampled_from([0.1, 0.5, 0.8, 1.0])))
    if data.draw(st.booleans()):
        mask = np.uint8(cv2.GaussianBlur(mask * 255, (5, 5), 1.2).reshape(shape) > 120)
    mode, approximation = data.draw(st.sampled_from(sorted(MODES))), data.draw(st.sampled_from(sorted(POINTS)))
    parts, family = contours(mask * 7, mode=mode, approximation=approximation)
    want, wanted = cv2.findContours(mask, MODES[mode], POINTS[approximation])
    assert named(parts, family) == named(want, wanted[0] if wanted is not None else [])
    for k, (after, before, child, parent) in enumerate(family):
        assert after < 0 or (family[after][1] == k and family[after][3] == parent)
        assert before < 0 or family[before][0] == k
        assert child < 0 or (family[child][3] == k and family[child][1] == -1)


def test_the_order_of_contours_is_that_of_rows():
    mask = np.zeros((9, 12), np.uint8)
    mask[5:8, 1:4] = mask[1:4, 7:11] = mask[2, 1] = 1
    parts, family = contours(mask)
    assert [p[0].tolist() for p in parts] == [[7, 1], [1, 2], [1, 5]]
    assert family.tolist() == [[1, -1, -1, -1], [2, 0, -1, -1], [-1, 1, -1, -1]]
    area = cv2.contourArea(parts[0])
    assert area == 3 * 2


def test_contours_of_nothing_and_of_batches():
    for shape in ((0, 0), (0, 5), (5, 0), (4, 6)):
        parts, family = contours(np.zeros(shape, np.uint8))
        assert parts == [] and family.shape == (0, 4)
    masks = [np.random.default_rng(k).random((20, 30 + k)) < 0.4 for k in range(3)]
    points, starts, family = fn.find_contours(masks)
    for k, mask in enumerate(masks):
        for got, want in zip((points[k], starts[k], family[k]), fn.find_contours(np.uint8(mask)[..., None])):
            np.testing.assert_array_equal(got.numpy(), want)
    wide = np.uint8(np.random.default_rng(9).random((30, 40)) < 0.5)
    for got, want in zip(fn.find_contours(wide[::2, ::3]), fn.find_contours(wide[::2, ::3].copy())):
        np.testing.assert_array_equal(got, want)


def edges(seed, height=90, width=120, lines=5):
    rng, image = np.random.default_rng(seed), np.zeros((height, width), np.uint8)
    for _ in range(lines):
        a, b = (tuple(map(int, rng.integers(0, [width, height]))) for _ in range(2))
        cv2.line(image, a, b, 255)
    image[rng.random(image.shape) < 0.01] = 255
    return image


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rho, theta", [(1.0, 1.0), (2.0, 0.5), (0.5, 3.0)])
def test_lines_are_opencvs(seed, rho, theta):
    image = edges(seed)
    threshold = 25 if theta <= 1 else 15
    lines, votes = fn.hough_lines(image, rho=rho, theta=theta, threshold=threshold)
    want = cv2.HoughLinesWithAccumulator(image, rho, np.float64(np.float32(theta)) * np.pi / 180, threshold)
    want = np.float32([]).reshape(0, 3) if want is None else want.reshape(-1, 3)
    got = np.column_stack([lines, votes]).astype(np.float64)
    assert len(want) > 0 and got.shape == want.shape
    order = lambda x: x[np.lexsort(np.round(x, 3).T)]  # noqa: E731
    np.testing.assert_allclose(order(got), order(np.float64(want)), atol=1e-3)
    assert (np.diff(np.array(votes)) <= 0).all()
    few, _ = fn.hough_lines(image, rho=rho, theta=theta, threshold=threshold, max_lines=3)
    np.testing.assert_array_equal(few, np.array(lines)[:3])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length, gap", [(0, 0), (20, 2), (40, 9)])
def test_segments_are_opencvs(seed, length, gap):
    image = edges(seed)
    got = fn.hough_lines_p(image, threshold=20, min_length=length, max_gap=gap)
    want = cv2.HoughLinesP(image, 1, np.pi / 180, 20, minLineLength=length, maxLineGap=gap)
    np.testing.assert_array_equal(got, np.zeros((0, 4)) if want is None else want.reshape(-1, 4))
    other = fn.hough_lines_p(image, threshold=20, min_length=length, max_gap=gap, choice_seed=5)
    np.testing.assert_array_equal(
        other, fn.hough_lines_p(image, threshold=20, min_length=length, max_gap=gap, choice_seed=5)
    )


def test_lines_of_nothing():
    for shape in ((0, 0), (0, 5), (1, 1), (4, 6)):
        lines, votes = fn.hough_lines(np.zeros(shape, np.uint8), threshold=0)
        assert lines.shape == (0, 2) and votes.shape == (0,)
        assert fn.hough_lines_p(np.zeros(shape, bool), threshold=1).shape == (0, 4)
    lines, votes = fn.hough_lines([edges(1), edges(2)], threshold=25)
    np.testing.assert_array_equal(lines[1].numpy(), fn.hough_lines(edges(2), threshold=25)[0])


@pytest.mark.parametrize(
    "call, error, words",
    [
        (
            lambda x: fn.find_contours(x, mode="all"),
            ValueError,
            "mode must be external, list, ccomp or tree, got 'all'",
        ),
        (lambda x: fn.find_contours(x, approximation="tc89"), ValueError, "approximation must be simple or none"),
        (lambda x: fn.find_contours(x.astype(np.int32)), TypeError, "a mask must be uint8 or bool, got int32"),
        (lambda x: fn.find_contours(np.stack([x] * 3, 2)), ValueError, "expected an image of one channel"),
        (lambda x: fn.hough_lines(x, rho=0.0), ValueError, "rho"),
        (lambda x: fn.hough_lines(x, theta=1e-6), ValueError, "more than 2\\^28: take larger steps"),
        (
            lambda x: fn.hough_lines(x, min_theta=90.0, max_theta=10.0),
            ValueError,
            "min_theta is 90, more than max_theta",
        ),
        (lambda x: fn.hough_lines_p(x, threshold=0), ValueError, "threshold"),
        (lambda x: fn.hough_lines_p(x.astype(np.float32)), TypeError, "edges must be uint8 or bool, got float32"),
    ],
)
def test_what_does_not_fit(call, error, words):
    with pytest.raises(error, match=words):
        call(np.zeros((20, 20), np.uint8))
