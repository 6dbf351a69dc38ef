# SPDX-License-Identifier: Apache-2.0
"""Keypoints of objects: they go with their boxes, left and right change places in a mirror, hidden ones are hidden."""

import numpy as np
import pytest

import penstock
from penstock import augment, fn, pipeline_def
from penstock.sample import Boxes, Instances, Keypoints, Sample

FLIP = (0, 2, 1)
PEOPLE = np.float32([[[20, 10, 2], [15, 8, 2], [25, 8, 1]], [[60, 30, 2], [55, 28, 0], [65, 28, 2]]])
BOXES = np.float32([[10, 4, 30, 20], [50, 20, 70, 40]])


def people(**more):
    masks = np.zeros((2, 48, 80), np.uint8)
    for mask, (left, top, right, bottom) in zip(masks, BOXES.astype(int)):
        mask[top:bottom, left:right] = 1
    return Sample(
        image=np.zeros((48, 80, 3), np.uint8),
        boxes=Boxes(BOXES, **more),
        labels=np.int64([3, 4]),
        keypoints=Keypoints(PEOPLE, flip_indices=FLIP),
        masks=Instances(masks),
    )


@pytest.mark.parametrize(
    "op, arguments, mirrored",
    [
        ("flip", {"horizontal": 1}, True),
        ("flip", {"horizontal": 0, "vertical": 1}, True),
        ("flip", {"horizontal": 1, "vertical": 1}, False),
        ("flip", {"horizontal": 0}, False),
        ("rotate", {"angle": 30.0, "fill_value": 0}, False),
        ("warp_affine", {"matrix": [-1.0, 0.0, 79.0, 0.0, 1.0, 0.0], "fill_value": 0}, True),
    ],
)
def test_left_and_right_change_places_in_a_mirror(op, arguments, mirrored):
    moved = getattr(fn, op)(people(), **arguments)
    points = getattr(fn, op)(Sample(image=np.zeros((48, 80, 3), np.uint8), points=PEOPLE), **arguments)["points"]
    expected = points[:, list(FLIP)] if mirrored else points
    height, width = moved["image"].shape[:2]
    outside = ((expected[..., :2] < 0) | (expected[..., :2] > [width, height])).any(-1)
    np.testing.assert_array_equal(moved["keypoints"][..., :2], expected[..., :2])
    np.testing.assert_array_equal(moved["keypoints"][..., 2], np.where(outside, 0, expected[..., 2]))


def test_keypoints_go_with_their_boxes():
    left = fn.crop(people(), crop=[48, 40], crop_pos_x=1.0, crop_pos_y=0.0)
    assert left["labels"].tolist() == [4] and left["masks"].shape == (1, 48, 40)
    np.testing.assert_array_equal(left["keypoints"], PEOPLE[1:] - np.float32([40, 0, 0]))
    right = fn.crop(people(), crop=[48, 20], crop_pos_x=0.0, crop_pos_y=0.0)
    np.testing.assert_array_equal(
        right["keypoints"], [[[20, 10, 2], [15, 8, 2], [25, 8, 0]]]
    )  # the last one is outside
    none = fn.crop(people(), crop=[4, 4], crop_pos_x=0.0, crop_pos_y=1.0)
    assert none["keypoints"].shape == (0, 3, 3) and none["boxes"].shape == (0, 4)


def test_what_has_left_stays_hidden():
    """A crop takes a keypoint out, a border brings its place back: the picture there is gone."""
    cut = fn.crop(people(), crop=[48, 20], crop_pos_x=0.0, crop_pos_y=0.0)
    wide = fn.crop(cut, crop=[48, 80], out_of_bounds_policy="pad")
    assert wide["keypoints"][0, :, 2].tolist() == [2, 2, 0]


def test_distortions_move_keypoints_as_points():
    arguments = {"steps_x": [1.2, 0.8], "steps_y": [0.9, 1.1]}
    points = fn.grid_distortion(Sample(image=np.zeros((48, 80, 3), np.uint8), points=PEOPLE), **arguments)["points"]
    np.testing.assert_array_equal(fn.grid_distortion(people(), **arguments)["keypoints"], points)


@pytest.mark.parametrize("seed", range(3))
def test_a_pipeline_does_as_calls_do(seed):
    @pipeline_def(batch_size=8, num_threads=2, seed=seed)
    def moved():
        def source(value, layout=""):
            return fn.external_source(lambda: [value] * 8, layout=layout)

        parts = {n: source(v) for n, v in people().items() if n != "image"}
        image = source(np.zeros((48, 80, 3), np.uint8), "HWC")
        sample = Sample(
            image=image,
            boxes=Boxes(parts["boxes"], min_visibility=0.4),
            labels=parts["labels"],
            keypoints=Keypoints(parts["keypoints"], flip_indices=FLIP),
            masks=Instances(parts["masks"]),
        )
        turned, left = fn.random.coin_flip(), fn.random.uniform(range=[0.0, 1.0])
        sample = fn.crop(fn.flip(sample, horizontal=turned), crop=[48, 50], crop_pos_x=left, crop_pos_y=0.0)
        return {**sample, "turned": turned, "left": left}

    out = {name: [np.asarray(v) for v in batch] for name, batch in moved().run().items()}
    for k in range(8):
        alone = fn.flip(people(min_visibility=0.4), horizontal=int(out["turned"][k]))
        alone = fn.crop(alone, crop=[48, 50], crop_pos_x=float(out["left"][k]), crop_pos_y=0.0)
        for name in ("keypoints", "labels", "boxes", "masks"):
            np.testing.assert_array_equal(out[name][k], alone[name], name)


def test_mosaics_and_pasted_objects_keep_rows():
    parts = people()
    batch = parts.replaced({name: penstock.batch([value] * 4) for name, value in parts.items()})
    for made in (augment.mosaic(batch, size=(64, 64)), augment.copy_paste(batch, p=1.0)):
        for k in range(4):
            rows = {len(made[n][k].numpy()) for n in ("boxes", "labels", "keypoints", "masks")}
            assert len(rows) == 1


def test_flip_indices_of_other_objects():
    sample = Sample(image=np.zeros((8, 8, 3), np.uint8), points=Keypoints(PEOPLE, flip_indices=(0, 1)))
    with pytest.raises(ValueError, match="name 2 keypoints, objects have 3"):
        fn.flip(sample)
