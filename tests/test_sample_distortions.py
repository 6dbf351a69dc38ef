# SPDX-License-Identifier: Apache-2.0
"""Displacement fields move all parts of a Sample: points by the inverse of the field, boxes around what they surround."""

import cv2
import numpy as np
import pytest

from penstock import fn, pipeline_def
from penstock.sample import Boxes, Mask, Sample

HEIGHT, WIDTH = 90, 120
CALLS = {
    "elastic_transform": {"alpha": 60.0, "sigma": 6.0, "seed": 3},
    "elastic_transform strong": {"alpha": 200.0, "sigma": 9.0, "seed": 5},
    "optical_distortion pincushion": {"k": 0.5},
    "optical_distortion barrel": {"k": -0.3},
    "grid_distortion": {"steps_x": [0.7, 1.3, 0.9, 1.1], "steps_y": [1.4, 0.6, 1.0]},
    "warp_by_points": {
        "points": [0, 0, 1, 0, 0, 1, 1, 1, 0.3, 0.4, 0.7, 0.5],
        "targets": [0, 0, 1, 0, 0, 1, 1, 1, 0.35, 0.36, 0.66, 0.55],
        "normalized": True,
    },
    "warp_by_mesh": {
        "columns": [0, 40, 120],
        "rows": [0, 50, 90],
        "moves": [0, 0, 0, 0, 0, 0, 0, 0, 4, -3, 0, 0, 0, 0, 0, 0, 0, 0],
    },
}


def called(name, sample):
    return getattr(fn, name.split()[0])(sample, **CALLS[name])


def positions():
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32) + 0.5
    return np.stack([x, y], -1)


def read_at(picture, at):
    """Between the pixels."""
    maps = [np.float32(at[:, axis])[None] for axis in (0, 1)]
    return cv2.remap(picture, *maps, cv2.INTER_LINEAR)[0]


def shown(name):
    """(u, v) of pixels that show a position inside the image, and these positions."""
    picture = called(name, Sample(image=positions()))["image"]
    v, u = np.nonzero((picture > 1).all(-1) & (picture < [WIDTH - 1, HEIGHT - 1]).all(-1))
    return np.stack([u, v], -1) + 0.5, np.ascontiguousarray(picture[v, u])


@pytest.mark.parametrize("name", CALLS)
def test_points_move_by_the_inverse(name):
    at, from_ = shown(name)
    moved = called(name, Sample(image=positions(), points=from_))["points"]
    away = np.abs(moved - at).max(-1)
    if "strong" in name:  # some places fold: there several pixels show a position, and one of them is given
        again = called(name, Sample(image=positions()))["image"]
        x, y = (np.clip(moved[:, a] - 0.5, 0, n - 1.001) for a, n in ((0, WIDTH), (1, HEIGHT)))
        seen = read_at(again, np.stack([x, y], -1))
        inside = (x > 1) & (x < WIDTH - 2) & (y > 1) & (y < HEIGHT - 2)
        assert np.quantile(np.abs(seen - from_).max(-1)[inside], 0.98) < 0.1
    else:  # a blend with the border shows no position
        assert np.quantile(away, 0.97) < 1e-3, np.quantile(away, [0.5, 0.97, 1])


@pytest.mark.parametrize("name", CALLS)
def test_masks_boxes_and_instances_follow(name):
    boxes = np.float32([[20, 24, 60, 50], [70, 40, 100, 80]])
    masks = np.zeros((2, HEIGHT, WIDTH), np.uint8)
    for mask, (left, top, right, bottom) in zip(masks, boxes.astype(int)):
        mask[top:bottom, left:right] = 1
    sample = Sample(
        image=positions(), mask=Mask(masks.max(0), fill=9), boxes=Boxes(boxes), labels=np.int32([5, 6]), instances=masks
    )
    moved = called(name, sample)
    assert moved["labels"].tolist() == [5, 6] and moved["mask"].dtype == np.uint8
    outside = (moved["image"] <= 0).all(-1)
    assert (moved["mask"][outside] == 9).mean() > 0.9 if outside.any() else (moved["mask"] < 2).all()
    for box, mask in zip(moved["boxes"], moved["instances"]):
        y, x = np.nonzero(mask)
        np.testing.assert_allclose(box, [x.min(), y.min(), x.max() + 1, y.max() + 1], atol=1.5)
    np.testing.assert_array_equal(moved["instances"].max(0), moved["mask"] % 9)


@pytest.mark.parametrize("name", CALLS)
def test_a_pipeline_moves_parts_alike(name):
    """Each sample draws a field of its own; its points lie where its pixels show them."""
    spots = np.float32([[30, 30], [60, 45], [90, 60]])

    @pipeline_def(batch_size=3, num_threads=1, seed=4)
    def moved():
        image = fn.external_source(lambda: [positions()] * 3, layout="HWC")
        sample = Sample(image=image, points=fn.external_source(lambda: [spots] * 3))
        op, more = name.split()[0], {k: v for k, v in CALLS[name].items() if k != "seed"}
        more = more | ({"alpha": 60.0} if "strong" in name else {})
        return fn.flip(getattr(fn, op)(sample, **more))

    out, places = moved().run(), []
    for image, points in zip(out["image"], out["points"]):
        image, points = np.asarray(image), np.asarray(points)
        places.append(points)
        np.testing.assert_allclose(read_at(image, points - 0.5), spots, atol=0.05)
    assert np.array_equal(places[0], places[1]) == ("elastic" not in name)


def test_optical_distortion_is_opencvs():
    image = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    camera = np.float64([[WIDTH, 0, (WIDTH - 1) / 2], [0, HEIGHT, (HEIGHT - 1) / 2], [0, 0, 1]])
    for k in (0.6, -0.3):
        maps = cv2.initUndistortRectifyMap(
            camera, np.float64([k, k, 0, 0, 0]), None, camera, (WIDTH, HEIGHT), cv2.CV_32FC1
        )
        expected = cv2.remap(image, *maps, cv2.INTER_LINEAR).astype(int)
        apart = np.abs(fn.optical_distortion(image, k=k).astype(int) - expected)
        assert apart.max() <= 3 and np.mean(apart > 1) < 0.01  # OpenCV rounds positions to 1/32 pixels


def test_numbers_after_x_and_y_and_empty_parts():
    image = positions()
    sample = Sample(image=image, points=np.float64([[10, 20, 0.25]]), boxes=np.zeros((0, 4), np.float32))
    moved = fn.grid_distortion(sample, steps_x=[0.5, 1.5], steps_y=[1.0])
    np.testing.assert_allclose(moved["points"], [[20, 20, 0.25]], atol=1e-5)
    assert moved["boxes"].shape == (0, 4)


@pytest.mark.parametrize(
    "name, arguments, text",
    [
        ("grid_distortion", {"steps_x": [1.0], "steps_y": []}, "steps_y must have 1 to"),
        ("grid_distortion", {"steps_x": [1.0, float("nan")], "steps_y": [1.0]}, "steps_x must be"),
        ("grid_distortion", {"steps_x": [1.0]}, "steps_y"),
        ("optical_distortion", {"k": float("inf")}, "k must be"),
        ("optical_distortion", {"border_mode": "mirror"}, "border_mode"),
    ],
)
def test_distortions_say_what_is_wrong(name, arguments, text):
    with pytest.raises(ValueError, match=text):
        getattr(fn, name)(np.zeros((8, 8, 3), np.uint8), **arguments)


def test_tiles_take_their_points_boxes_and_masks_along():
    tiles = {"columns": [0, 60, WIDTH], "rows": [0, 45, HEIGHT], "order": [3, 2, 1, 0]}
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[10:30, 70:100] = 1
    boxes = Boxes(np.float32([[70, 10, 100, 30], [50, 35, 80, 50]]), labels=["names"])
    sample = Sample(image=positions(), mask=mask, boxes=boxes, names=np.int32([5, 6]), points=np.float32([[61, 44, 7]]))
    made = fn.shuffle_tiles(sample, **tiles)
    np.testing.assert_array_equal(made["points"], [[1, 89, 7]])
    np.testing.assert_array_equal(np.argwhere(made["mask"])[[0, -1]], [[55, 10], [74, 39]])
    # The second box is cut into four, of which none touch.
    assert made["names"].tolist() == [5, 6, 6, 6, 6]
    rows = sorted(made["boxes"][1:].tolist())
    assert made["boxes"][0].tolist() == [10, 55, 40, 75]
    assert rows == sorted([[50 + 60, 35 + 45, 120, 90], [0, 80, 20, 90], [110, 0, 120, 5], [0, 0, 20, 5]])
    few = fn.shuffle_tiles(Sample(image=positions(), boxes=Boxes(boxes.value, min_visibility=0.4)), **tiles)
    assert few["boxes"].tolist() == [[10, 55, 40, 75], [0, 80, 20, 90]]
    with pytest.raises(TypeError, match="no matrix leads back from shuffle_tiles"):
        made.points_back(np.float32([[1, 2]]))


@pytest.mark.parametrize(
    "name, arguments, words",
    [
        ("warp_by_points", {"points": [0, 0, 1, 1, 2, 2], "targets": [0] * 6}, "not on a line"),
        ("warp_by_points", {"points": [0, 0], "targets": [0] * 4, "between": "inverse_distance"}, "has its target"),
        ("warp_by_points", {"points": [], "targets": []}, "1 to 256 points"),
        ("warp_by_points", {"points": [0, 0], "targets": [0, 0], "between": "lines"}, "thin_plate_spline"),
        ("warp_by_mesh", {"columns": [0, 9, 9], "rows": [0, 9], "moves": [0] * 12}, "columns must ascend"),
        ("warp_by_mesh", {"columns": [0, 9], "rows": [0, 9], "moves": [0] * 6}, "need 8"),
        ("shuffle_tiles", {"columns": [0, 60, 110], "rows": [0, 90], "order": [0, 1]}, "from 0 to 120"),
        ("shuffle_tiles", {"columns": [0, 50, 120], "rows": [0, 90], "order": [1, 0]}, "is 90 x 70"),
        ("shuffle_tiles", {"columns": [0, 60, 120], "rows": [0, 90], "order": [0, 0]}, "each number from 0 to 1 once"),
        ("draw_segments", {"segments": [1, 2, 3], "color": [0.0]}, "4 numbers for each"),
        ("draw_segments", {"segments": [1, 2, 3, 4], "color": [0.0, 1.0, 2.0]}, "expected 1, 2 for the channels"),
        ("draw_segments", {"segments": [1, 2, 3, 4], "color": [0.0], "opacity": [2.0]}, "opacity must be from 0 to 1"),
    ],
)
def test_refusals_of_warps_say_what_to_write(name, arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        getattr(fn, name)(positions(), **arguments)


def test_images_without_pixels_and_segments_without_number():
    empty = np.zeros((0, 5, 3), np.uint8)
    assert fn.draw_segments(empty, segments=[1, 1, 2, 2], color=[9.0]).shape == empty.shape
    assert fn.shuffle_tiles(empty, columns=[0, 5], rows=[0, 0], order=[0]).shape == empty.shape
    points = {"points": [0, 0, 1, 0, 0, 1], "targets": [0, 0, 1, 0, 0, 1]}
    assert fn.warp_by_points(empty, **points).shape == empty.shape
    assert fn.warp_by_mesh(empty, columns=[0, 5], rows=[0, 1], moves=[0] * 8).shape == empty.shape
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    np.testing.assert_array_equal(fn.draw_segments(image, segments=[], color=[9.0]), image)
    np.testing.assert_array_equal(fn.draw_segments(image, segments=[1, 1, 2, 2], color=[9.0], opacity=[0.0]), image)
    np.testing.assert_array_equal(fn.draw_segments(image[:, ::-1], segments=[], color=[9.0]), image[:, ::-1])
