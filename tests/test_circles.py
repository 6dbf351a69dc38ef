# SPDX-License-Identifier: Apache-2.0
"""hough_circles finds what OpenCV finds, and the circles that were drawn."""

import cv2
import numpy as np
import pytest

from penstock import fn


def drawn(seed, height=150, width=200, count=4, noise=6.0, rings=True):
    """An image of filled circles, and rings, that do not touch, with noise; and their centers and radii."""
    rng, image, circles = np.random.default_rng(seed), np.full((height, width), 60, np.uint8), []
    for _ in range(500):
        r = int(rng.integers(10, 28))
        x, y = rng.integers([r, r], [width - r, height - r])
        if len(circles) < count and all(np.hypot(x - a, y - b) > r + c + 12 for a, b, c in circles):
            circles.append((x, y, r))
            cv2.circle(
                image, (int(x), int(y)), r, int(rng.choice([10, 180, 240])), 4 if rings and len(circles) % 2 else -1
            )
    image = np.uint8(np.clip(np.rint(image + rng.normal(0, noise, image.shape)), 0, 255))
    return cv2.GaussianBlur(image, (7, 7), 1.5), np.float64(circles)


def opencvs(image, **given):
    names = {"accumulator_scale": "dp", "min_distance": "minDist", "edge_threshold": "param1", "threshold": "param2"}
    names |= {"min_radius": "minRadius", "max_radius": "maxRadius"}
    found = cv2.HoughCircles(image, cv2.HOUGH_GRADIENT, **{names[k]: v for k, v in given.items()})
    return np.zeros((0, 3)) if found is None else np.float64(found).reshape(-1, found.shape[-1])[:, :3]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scale, threshold", [(1.0, 18), (2.0, 25)])
def test_circles_are_those_of_opencv(seed, scale, threshold):
    image, _ = drawn(seed)
    given = {"accumulator_scale": scale, "min_distance": 15.0, "edge_threshold": 120, "threshold": threshold}
    given |= {"min_radius": 6, "max_radius": 40}
    circles, pixels = (np.array(x) for x in fn.hough_circles(image, **given))
    want = opencvs(image, **given)
    assert len(want) > 0 and circles.shape == want.shape and pixels.shape == (len(want),)
    np.testing.assert_allclose(circles, want, atol=1e-3)
    assert (np.diff(pixels) <= 0).all() and (pixels > threshold).all()
    few, _ = fn.hough_circles(image, **given, max_circles=2)
    np.testing.assert_array_equal(few, circles[:2])


@pytest.mark.parametrize("seed", range(8))
def test_circles_are_those_that_were_drawn(seed):
    image, truth = drawn(seed, rings=False)
    circles, _ = fn.hough_circles(
        image, min_distance=20.0, edge_threshold=120, threshold=22, min_radius=8, max_radius=32
    )
    found = np.array(circles, np.float64)
    for x, y, r in truth:
        near = found[np.hypot(found[:, 0] - x, found[:, 1] - y).argmin()]
        assert np.hypot(near[0] - x, near[1] - y) <= 2 and abs(near[2] - r) <= 2, (near, (x, y, r))


def test_images_of_few_pixels_batches_and_views():
    for shape in ((0, 0), (0, 5), (1, 1), (1, 9), (3, 3)):
        circles, pixels = fn.hough_circles(np.zeros(shape, np.uint8), threshold=0)
        assert circles.shape == (0, 3) and pixels.shape == (0,)
    images = [drawn(k, 90 + k, 120)[0] for k in range(3)]
    given = {"threshold": 18, "max_radius": 30}
    circles, pixels = fn.hough_circles(images, **given)
    for k, image in enumerate(images):
        one, its = fn.hough_circles(image[..., None], **given)
        np.testing.assert_array_equal(circles[k].numpy(), one)
        np.testing.assert_array_equal(pixels[k].numpy(), its)
    wide = np.repeat(np.repeat(images[0], 2, 0), 3, 1)
    np.testing.assert_array_equal(fn.hough_circles(wide[::2, ::3], **given)[0], circles[0].numpy())


@pytest.mark.parametrize(
    "given, error, words",
    [
        ({"max_radius": 3, "min_radius": 9}, ValueError, "max_radius is 3, less than min_radius, 9"),
        ({"accumulator_scale": 0.5}, ValueError, "accumulator_scale"),
        ({"edge_threshold": 0}, ValueError, "edge_threshold"),
        ({"min_distance": -1.0}, ValueError, "min_distance"),
    ],
)
def test_arguments_that_do_not_fit(given, error, words):
    with pytest.raises(error, match=words):
        fn.hough_circles(np.zeros((20, 20), np.uint8), **given)


def test_images_that_do_not_fit():
    with pytest.raises(TypeError, match="expected uint8, got float32"):
        fn.hough_circles(np.zeros((20, 20), np.float32))
    with pytest.raises(ValueError, match="expected an image of one channel"):
        fn.hough_circles(np.zeros((20, 20, 3), np.uint8))
