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
