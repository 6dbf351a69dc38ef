# SPDX-License-Identifier: Apache-2.0
"""sift finds OpenCV's keypoints, with OpenCV's descriptors."""

import pathlib
import re

import cv2
import numpy as np
import pytest

import penstock
from penstock import fn


def picture(height, width, seed):
    """Blobs of many sizes."""
    rng, total = np.random.default_rng(seed), np.zeros((height, width), np.float32)
    for size in (1.5, 3, 6, 12):
        noise = cv2.GaussianBlur(rng.normal(size=total.shape).astype(np.float32), (0, 0), size).reshape(total.shape)
        total += noise / noise.std() * np.float32(size**0.5)
    return np.uint8((total - total.min()) / np.ptp(total) * 255)


def found(image, **given):
    return tuple(np.array(x) for x in fn.sift(image, **given))


def opencvs(image, max_features=0, **given):
    names = {"octave_layers": "nOctaveLayers", "contrast_threshold": "contrastThreshold"}
    names |= {"edge_threshold": "edgeThreshold", "sigma": "sigma"}
    finder = cv2.SIFT_create(nfeatures=max_features, **{names[k]: v for k, v in given.items()})
    points, descriptors = finder.detectAndCompute(image, None)
    rows = np.float64([(*p.pt, p.size, p.angle, p.response) for p in points]).reshape(-1, 5)
    return rows, np.zeros((0, 128)) if descriptors is None else descriptors


GIVEN = [
    {},
    {"octave_layers": 2},
    {"octave_layers": 5},
    {"contrast_threshold": 0.06},
    {"edge_threshold": 5.0},
    {"sigma": 2.3},
    {"max_features": 20},
]


@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("size", [(120, 150), (133, 101)])
def test_keypoints_and_descriptors_are_opencvs(given, size):
    image = picture(*size, 5)
    (points, descriptors), (want, wanted) = found(image, **given), opencvs(image, **given)
    assert points.dtype == np.float32 and descriptors.dtype == np.uint8 and points.shape[1] == 7
    assert len(want) > 5 and abs(len(points) - len(want)) <= 0.02 * len(want)
    apart = np.linalg.norm(want[:, None, :2] - points[None, :, :2], axis=2)
    assert (apart.min(1) < 1).mean() > 0.98  # the share of OpenCV's keypoints within a pixel
    turned = np.abs((points[None, :, 3] - want[:, None, 3] + 180) % 360 - 180)
    cost = apart + turned / 10 + np.abs(points[None, :, 2] - want[:, None, 2])
    same, nearest = cost.min(1) < 0.1, cost.argmin(1)
    assert same.mean() > 0.97
    np.testing.assert_allclose(points[nearest, 4][same], want[same, 4], atol=1e-4)
    # Descriptors have the length 512.
    differences = np.linalg.norm(descriptors[nearest].astype(float) - wanted, axis=1)[same]
    assert differences.mean() < 2 and differences.max() < 40


def test_without_expansion_there_are_fewer():
    image = picture(128, 128, 2)
    (points, _), (all_points, _) = found(image, expand=False), found(image)
    assert 0 < len(points) < len(all_points) and points[:, 5].min() == 0 and all_points[:, 5].min() == -1


def test_the_turned_image_has_the_same_descriptors():
    image = picture(120, 120, 7)
    (points, first), (turned, second) = found(image), found(np.ascontiguousarray(np.rot90(image)))
    pairs, distances = fn.match(first, second, cross_check=True)
    pairs = np.array(pairs)[np.array(distances) < 100]
    assert len(pairs) > 0.6 * len(points)
    moved = np.stack([points[:, 1], 119 - points[:, 0]], 1)[pairs[:, 0]]
    # The position is that of a pixel of the expanded image, a quarter of one away on one side.
    assert (np.abs(moved - turned[pairs[:, 1], :2]).max(1) < 1.5).mean() > 0.9


def test_the_order_is_that_of_x_and_the_most_are_kept():
    image = picture(100, 100, 3)
    points, _ = found(image)
    assert (np.diff(points[:, 0]) >= 0).all()
    kept, _ = found(image, max_features=7)
    assert len(kept) == 7 and set(kept[:, 4]) == set(np.sort(points[:, 4])[-7:])


@pytest.mark.parametrize("shape", [(0, 0), (0, 7), (1, 1), (1, 50), (2, 3), (11, 11), (12, 40)])
def test_small_images_have_few_keypoints(shape):
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    for expand in (True, False):
        points, descriptors = found(image, expand=expand)
        assert len(points) == len(descriptors) and points.shape[1:] == (7,) and descriptors.shape[1:] == (128,)
    if min(shape) > 1:
        assert abs(len(found(image)[0]) - len(opencvs(image)[0])) <= 1
    assert len(found(np.full(shape, 9, np.uint8))[0]) == 0


def test_a_batch_is_its_images_in_any_layout():
    images = [picture(60 + 9 * k, 70, k) for k in range(3)]
    points, descriptors = fn.sift(images)
    for image, p, d in zip(images, points, descriptors):
        for alike in (image, image[..., None], np.repeat(image, 2, 1)[:, ::2]):
            one = found(alike)
            np.testing.assert_array_equal(p.numpy(), one[0])
            np.testing.assert_array_equal(d.numpy(), one[1])


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: fn.sift(np.stack([x] * 3, 2)), ValueError, "image of one channel, got the shape"),
        (lambda x: fn.sift(x.astype(np.float32)), TypeError, "expected uint8, got float32"),
        (lambda x: fn.sift(np.zeros((8200, 8200), np.uint8)), ValueError, "with expand=False it needs a quarter"),
        (lambda x: fn.sift(x, octave_layers=0), ValueError, "octave_layers"),
        (lambda x: fn.sift(x, sigma=0.0), ValueError, "sigma"),
        (lambda x: fn.sift(x, edge_threshold=-1.0), ValueError, "edge_threshold"),
    ],
)
def test_what_does_not_fit(call, error, words):
    with pytest.raises(error, match=words):
        call(np.zeros((20, 20), np.uint8))


def test_a_pipeline_of_two_images_finds_the_shift():
    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def pipe(image):
        x = fn.external_source(lambda: [image], ndim=2)
        a, b = (
            fn.slice(x, start=[0, 0], shape=[90, 90], axes=[0, 1]),
            fn.slice(x, start=[6, 11], shape=[90, 90], axes=[0, 1]),
        )
        (p, d), (q, e) = fn.sift(a), fn.sift(b)
        pairs, _ = fn.match(d, e, cross_check=True)
        return p, q, pairs

    p, q, pairs = (out[0].numpy() for out in pipe(picture(100, 110, 1)).run())
    shift = np.median(p[pairs[:, 0], :2] - q[pairs[:, 1], :2], axis=0)
    assert np.abs(shift - [11, 6]).max() < 0.1


def test_the_page_of_two_images():
    page = pathlib.Path(__file__).parents[1] / "docs" / "how_to" / "align_images.md"
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(block, str(page), "exec"), {})
