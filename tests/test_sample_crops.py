# SPDX-License-Identifier: Apache-2.0
"""Letterbox and the way back, crops that look at boxes and masks, stacks of instances, images with a filter of their own."""

import numpy as np
import pytest

import penstock
from penstock import augment, fn, types
from penstock.sample import Boxes, Image, Instances, Mask, Sample

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("shape", [(48, 64), (64, 48), (1, 7), (33, 33), (301, 40)])
@pytest.mark.parametrize("size", [96, (40, 80), (81, 33)])
def test_a_letterbox_and_the_way_back(shape, size):
    height, width = shape
    frame = (size, size) if isinstance(size, int) else size
    boxes = np.float32([[0, 0, width, height], [width * 0.25, height * 0.5, width * 0.75, height]])
    points = np.hstack([RNG.uniform(0, [width, height], (5, 2)), np.ones((5, 1))]).astype(np.float32)
    sample = Sample(
        image=np.full((height, width, 3), 200, np.uint8),
        mask=Mask(np.ones((height, width, 1), np.uint8), fill=255),
        boxes=boxes,
        points=points,
    )
    boxed = augment.letterbox(sample, size, fill=(1, 2, 3))
    assert boxed["image"].shape == (*frame, 3) and boxed["mask"].shape == (*frame, 1)
    inside = boxed["mask"][..., 0] == 1
    assert (boxed["image"][inside] == 200).all() and (boxed["image"][~inside] == [1, 2, 3]).all()
    y, x = np.nonzero(inside)
    np.testing.assert_array_equal(boxed["boxes"][0], [x.min(), y.min(), x.max() + 1, y.max() + 1])
    shown_height, shown_width = np.ptp(y) + 1, np.ptp(x) + 1
    assert shown_height == frame[0] or shown_width == frame[1]
    assert abs(y.min() - (frame[0] - shown_height) / 2) <= 0.5 and abs(x.min() - (frame[1] - shown_width) / 2) <= 0.5
    np.testing.assert_allclose(boxed.boxes_back(boxed["boxes"]), boxes, atol=1e-3)
    np.testing.assert_allclose(boxed.points_back(boxed["points"]), points, atol=1e-3)
    np.testing.assert_array_equal(augment.letterbox(sample["image"], size, fill=(1, 2, 3)), boxed["image"])
    np.testing.assert_allclose(augment.letterbox_back(boxed["boxes"], size, shape), boxes, atol=1e-3)
    xywh = np.hstack([boxed["boxes"][:, :2], boxed["boxes"][:, 2:] - boxed["boxes"][:, :2]])
    back = augment.letterbox_back(xywh, size, shape, layout="xywh")
    np.testing.assert_allclose(back, np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]), atol=1e-3)
    np.testing.assert_allclose(augment.letterbox_back(boxed["points"], size, shape, "points"), points, atol=1e-3)


def test_the_way_back_of_a_chain():
    points = RNG.uniform(10, 40, (6, 2)).astype(np.float32)
    sample = Sample(image=np.zeros((50, 60, 3), np.uint8), points=points)
    sample = fn.rotate(fn.random_resized_crop(sample, size=[40, 44]), angle=30.0)
    sample = fn.warp_perspective(fn.brightness(sample, brightness=2.0), matrix=[1, 0.1, 2, 0, 1, 3, 1e-3, 0, 1.0])
    np.testing.assert_allclose(sample.points_back(sample["points"]), points, atol=1e-3)
    planes = penstock.tensor(np.zeros((3, 50, 60), np.uint8), "CHW")
    halved = fn.resize(Sample(image=planes, points=points), size=[25, 30])
    np.testing.assert_allclose(halved.points_back(halved["points"]), points, atol=1e-4)
    same = Sample(image=planes).boxes_back(np.float32([[-5, 1, 80, 9]]))
    np.testing.assert_array_equal(same, [[0, 1, 60, 9]])
    with pytest.raises(TypeError, match="no matrix leads back from elastic_transform"):
        fn.elastic_transform(sample).points_back(points)
    batch = fn.flip(Sample(image=penstock.batch([np.zeros((5, 6, 3), np.uint8)] * 2)))
    with pytest.raises(TypeError, match="not for batches"):
        batch.points_back(points)


@pytest.mark.parametrize("seed", range(30))
def test_safe_crops_keep_all_boxes(seed):
    penstock.seed(seed)
    rng = np.random.default_rng(seed)
    height, width = (int(n) for n in rng.integers(30, 90, 2))
    low = rng.uniform(0, [width - 12, height - 12], (3, 2))
    boxes = np.hstack([low, low + rng.uniform(2, 12, (3, 2))]).astype(np.float32)
    normalized = bool(seed % 2)
    unit = np.float32([width, height, width, height]) if normalized else np.float32(1)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    sample = Sample(
        image=np.stack([x, y, x], -1), boxes=Boxes(boxes / unit, normalized=normalized), labels=np.arange(3)
    )
    cut = augment.random_box_safe_crop(sample)
    new_height, new_width = cut["image"].shape[:2]
    got = cut["boxes"] * (np.float32([new_width, new_height, new_width, new_height]) if normalized else np.float32(1))
    assert cut["labels"].tolist() == [0, 1, 2]
    np.testing.assert_allclose(got - boxes, np.tile(-cut["image"][0, 0, :2], 2)[None].repeat(3, 0), atol=1e-3)
    sized = augment.random_sized_box_safe_crop(sample, (32, 40), erosion=0.2)
    assert sized["image"].shape == (32, 40, 3) and len(sized["boxes"]) == len(sized["labels"])
    overlapping = augment.random_overlap_crop(sample)
    assert len(overlapping["boxes"]) == len(overlapping["labels"])


def test_crops_without_boxes():
    sample = Sample(image=np.zeros((20, 30, 3), np.uint8), boxes=np.zeros((0, 4), np.float32))
    shapes = set()
    for seed in range(20):
        penstock.seed(seed)
        cut = augment.random_box_safe_crop(sample)["image"].shape
        assert 1 <= cut[0] <= 20 and 1 <= cut[1] <= 30
        shapes.add(cut)
    assert len(shapes) > 10
    assert augment.random_overlap_crop(sample)["boxes"].shape == (0, 4)


@pytest.mark.parametrize("seed", range(20))
def test_crops_near_a_mask_show_it(seed):
    penstock.seed(seed)
    rng = np.random.default_rng(seed)
    mask = np.zeros((50, 70, 1), np.uint8)
    mask[rng.integers(50), rng.integers(70)] = 3
    cut = augment.crop_near_mask(Sample(image=mask.repeat(3, -1), mask=mask), (16, 20))
    assert cut["image"].shape == (16, 20, 3) and (cut["mask"] == 3).sum() == 1
    np.testing.assert_array_equal(cut["image"][..., :1], cut["mask"])
    large = augment.crop_near_mask(Sample(image=mask.repeat(3, -1), mask=mask), (64, 64))
    assert large["image"].shape == (64, 64, 3) and (large["mask"] == 3).sum() == 1


def test_instances_move_as_masks_and_go_with_their_boxes():
    boxes = np.float32([[2, 2, 10, 8], [20, 12, 30, 20], [1, 20, 5, 28]])
    masks = np.zeros((3, 30, 40), np.uint8)
    for mask, (left, top, right, bottom) in zip(masks, boxes.astype(int)):
        mask[top:bottom, left:right] = 255
    sample = Sample(image=np.zeros((30, 40, 3), np.uint8), boxes=boxes, labels=np.arange(3), instances=masks)
    assert isinstance(sample.kinds["instances"], Instances)
    for moved in (
        fn.crop(sample, crop=[20, 20], crop_pos_x=0.0, crop_pos_y=0.0),
        fn.flip(fn.crop(sample, crop=[20, 15], crop_pos_x=0.0, crop_pos_y=0.0)),
        fn.resize(sample, size=[60, 80]),
        fn.paste(sample, ratio=1.5, fill_value=[0.0]),
        fn.crop(sample, crop=[4, 4], crop_pos_x=1.0, crop_pos_y=1.0),
        fn.flip(fn.crop(sample, crop=[4, 4], crop_pos_x=1.0, crop_pos_y=1.0)),
    ):
        assert moved["instances"].dtype == np.uint8 and isinstance(moved["instances"], np.ndarray)
        assert moved["instances"].shape == (len(moved["labels"]), *moved["image"].shape[:2])
        for box, mask in zip(moved["boxes"], moved["instances"]):
            y, x = np.nonzero(mask)
            np.testing.assert_allclose(box, [x.min(), y.min(), x.max() + 1, y.max() + 1], atol=1)
            assert set(np.unique(mask)) <= {0, 255}
    alone = fn.flip(Sample(masks=Instances(masks)))
    np.testing.assert_array_equal(alone["masks"], masks[:, :, ::-1])


def test_images_with_interpolations_of_their_own():
    depth = RNG.integers(0, 9, (20, 24, 1)).astype(np.uint16) * 1000
    sample = Sample(image=RNG.integers(0, 256, (20, 24, 3), np.uint8), depth=Image(depth, interp_type=types.INTERP_NN))
    turned = fn.rotate(sample, angle=20.0, interp_type=types.INTERP_LINEAR)
    assert set(np.unique(turned["depth"])) <= set(np.unique(depth)) | {0}
    np.testing.assert_array_equal(turned["image"], fn.rotate(sample["image"], angle=20.0, interp_type=1))


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda s: augment.random_box_safe_crop(s), "no Boxes"),
        (lambda s: augment.random_box_safe_crop(s["image"]), "a Sample is needed"),
        (lambda s: augment.crop_near_mask(s, (4, 4)), "no Mask"),
        (lambda s: augment.letterbox(s, (0, 4)), "size must be"),
        (lambda s: augment.letterbox(s, 4, interpolation="cubic"), "interpolation must be"),
        (lambda s: s.boxes_back(np.zeros((2, 3))), "shape"),
        (lambda s: s.boxes_back(np.zeros((2, 4)), layout="yxyx"), "layout must be"),
        (lambda s: s.points_back(np.zeros((2, 1))), "shape"),
    ],
)
def test_crops_say_what_is_wrong(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(Sample(image=np.zeros((8, 8, 3), np.uint8)))
