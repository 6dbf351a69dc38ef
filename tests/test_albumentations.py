# SPDX-License-Identifier: Apache-2.0
"""penstock.albumentations beside Albumentations, with drawn numbers fixed by ranges of one number."""

import json
import sys
from pathlib import Path

import numpy as np
import penstock
import pytest
from albumentations_oracle import theirs
from penstock import albumentations as ours
from penstock import fn

ROOT = Path(__file__).resolve().parent.parent


def smooth(h, w):
    y, x = np.mgrid[:h, :w]
    waves = [np.sin(x / 9 + k) + np.cos(y / (7 + k)) for k in range(3)]
    return ((np.stack(waves, -1) + 2) * 63).astype(np.uint8)


def both(name, arguments, **data):
    bbox = {"bbox_params": {"format": "pascal_voc", "label_fields": ["labels"]}} if "bboxes" in data else {}
    point = {"keypoint_params": {"format": "xy", "remove_invisible": True}} if "keypoints" in data else {}
    return [
        module.Compose([getattr(module, name)(**arguments, p=1.0)], **bbox, **point)(**data)
        for module in (ours, theirs)
    ]


# (name, arguments, the largest difference of a pixel)
POINTWISE = [
    ("HorizontalFlip", {}, 0),
    ("VerticalFlip", {}, 0),
    ("Transpose", {}, 0),
    ("NoOp", {}, 0),
    ("InvertImg", {}, 0),
    ("Posterize", {"num_bits": 3}, 0),
    ("Solarize", {"threshold_range": (0.4, 0.4)}, 0),
    ("Equalize", {}, 1),
    ("RandomBrightnessContrast", {"brightness_limit": (0.1, 0.1), "contrast_limit": (-0.15, -0.15)}, 1),
    ("RGBShift", {"r_shift_limit": (7, 7), "g_shift_limit": (-9, -9), "b_shift_limit": (3, 3)}, 1),
    ("ToGray", {}, 1),
    ("CLAHE", {"clip_limit": (3.0, 3.0)}, 2),
    ("Blur", {"blur_limit": (5, 5)}, 1),
    ("GaussianBlur", {"blur_limit": (5, 5)}, 1),
    ("MedianBlur", {"blur_limit": (5, 5)}, 0),
    ("CenterCrop", {"height": 21, "width": 30}, 0),
    ("Crop", {"x_min": 3, "y_min": 4, "x_max": 20, "y_max": 31}, 0),
    ("PadIfNeeded", {"min_height": 60, "min_width": 71, "border_mode": 0, "fill": 7}, 0),
    ("PadIfNeeded", {"min_height": 60, "min_width": 71, "border_mode": 4}, 0),
    ("PadIfNeeded", {"min_height": None, "min_width": None, "pad_height_divisor": 32, "pad_width_divisor": 32}, 0),
    ("Pad", {"padding": (1, 2, 5, 4), "fill": 9}, 0),
    ("Resize", {"height": 33, "width": 70}, 1),
    ("LongestMaxSize", {"max_size": 40}, 1),
    ("SmallestMaxSize", {"max_size": 70}, 1),
    ("RandomScale", {"scale_limit": (0.3, 0.3)}, 1),
    ("Rotate", {"limit": (30, 30)}, 3),
    ("Rotate", {"limit": (-17, -17), "border_mode": 0, "fill": 50}, 8),
    ("Affine", {"scale": (1.2, 1.2), "rotate": (20, 20), "shear": (10, 10), "border_mode": 4}, 3),
    ("Affine", {"translate_px": {"x": (5, 5), "y": (-7, -7)}, "border_mode": 4}, 0),
    ("Affine", {"translate_percent": (0.1, 0.1), "border_mode": 4}, 0),
    ("ShiftScaleRotate", {"shift_limit": (0.05, 0.05), "scale_limit": (0.2, 0.2), "rotate_limit": (25, 25)}, 3),
    ("OpticalDistortion", {"distort_limit": (0.3, 0.3)}, 3),
]


@pytest.mark.parametrize("name, arguments, bound", POINTWISE)
@pytest.mark.parametrize("shape", [(47, 64), (33, 41), (48, 48)])
def test_pixels_are_theirs(name, arguments, bound, shape):
    image, mask = smooth(*shape), np.zeros(shape, np.uint8)
    mask[10:25, 8:22] = 3
    got, want = both(name, arguments, image=image, mask=mask)
    assert got["image"].shape == want["image"].shape and got["image"].dtype == want["image"].dtype
    far = np.abs(got["image"].astype(int) - want["image"])
    assert far.max() <= bound, (far.max(), (far > bound).mean())
    np.testing.assert_array_equal(got["mask"], at_centers(mask, got["mask"].shape) if name in RESIZES else want["mask"])


RESIZES = ("Resize", "LongestMaxSize", "SmallestMaxSize", "RandomScale")


def at_centers(mask, shape):
    """Nearest neighbors of the centers of pixels, as images are resized. OpenCV's are those of upper left corners, so
    its masks are half a pixel beside its images."""
    return mask[np.ix_(*(((np.arange(n) + 0.5) * m / n).astype(int) for m, n in zip(mask.shape, shape)))]


def test_random_crops_reach_both_ends():
    image = np.arange(30, dtype=np.uint8).reshape(5, 6, 1)
    crop = ours.Compose([ours.RandomCrop(3, 4)])
    firsts = {int(crop(image=image)["image"][0, 0, 0]) for _ in range(200)}
    assert firsts == {6 * y + x for y in range(3) for x in range(3)}
    whole = ours.Compose([ours.Crop(2, 1, 6, 5)])(image=image)["image"]
    np.testing.assert_array_equal(whole, image[1:, 2:])
    padded = ours.Compose([ours.Pad((3, 2, 0, 0))])(image=image)["image"]
    np.testing.assert_array_equal(padded[2:, 3:], image)


@pytest.mark.parametrize("name", ["D4", "RandomRotate90"])
def test_turns_are_those_of_a_square(name):
    """Each result is one that Albumentations can draw, and all of them are drawn."""
    image = np.arange(20, dtype=np.uint8).reshape(4, 5, 1)
    turned = [np.rot90(image, k) for k in range(4)]
    known = {t.tobytes() + bytes(t.shape) for t in [*turned, *([t[:, ::-1] for t in turned] if name == "D4" else [])]}
    assert known >= {
        t.tobytes() + bytes(t.shape) for t in (getattr(theirs, name)(p=1.0)(image=image)["image"] for _ in range(60))
    }
    seen = {
        t.tobytes() + bytes(t.shape) for t in (getattr(ours, name)(p=1.0)(image=image)["image"] for _ in range(150))
    }
    assert seen == known


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("RandomSizedCrop", {"min_max_height": (48, 48), "size": (30, 36)}),
        ("RandomResizedCrop", {"size": (30, 36), "scale": (1.0, 1.0), "ratio": (1.0, 1.0)}),
    ],
)
def test_crops_of_the_whole_are_theirs(name, arguments):
    got, want = both(name, arguments, image=smooth(48, 48))
    assert np.abs(got["image"].astype(int) - want["image"]).max() <= 1


def test_crops_that_keep_boxes():
    image, boxes = smooth(48, 64), [[10.0, 12.0, 30.0, 40.0], [25.0, 20.0, 50.0, 44.0]]
    params = ours.BboxParams("pascal_voc", label_fields=["labels"])
    for crop in (ours.BBoxSafeRandomCrop(), ours.RandomSizedBBoxSafeCrop(32, 40)):
        for _ in range(20):
            made = ours.Compose([crop], bbox_params=params)(image=image, bboxes=boxes, labels=["a", "b"])
            assert list(made["labels"]) == ["a", "b"]
    assert made["image"].shape == (32, 40, 3)


def test_a_grid_distortion_of_equal_steps_moves_nothing():
    image = smooth(40, 60)
    made = ours.Compose([ours.GridDistortion(distort_limit=(0.2, 0.2), p=1.0)])(image=image)["image"]
    np.testing.assert_array_equal(made, image)
    drawn = ours.Compose([ours.GridDistortion(p=1.0)])(image=image)["image"]
    assert drawn.shape == image.shape and (drawn != image).any()


def test_normalize_and_types():
    image = smooth(20, 30)
    for name in ("Normalize", "ToFloat"):
        got, want = both(name, {}, image=image)
        assert got["image"].dtype == np.float32
        np.testing.assert_allclose(got["image"], want["image"], atol=2e-6)
    made = ours.Compose([ours.Normalize(), ours.ToTensorV2()])(image=image)["image"]
    assert tuple(made.shape) == (3, 20, 30) and str(made.dtype) == "torch.float32"


BOXES = [[4.0, 5.0, 30.0, 40.0], [20.0, 2.0, 44.0, 20.0], [40.0, 30.0, 47.0, 46.0]]


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("HorizontalFlip", {}),
        ("VerticalFlip", {}),
        ("Transpose", {}),
        ("CenterCrop", {"height": 21, "width": 30}),
        ("Resize", {"height": 96, "width": 24}),
        ("Affine", {"translate_px": {"x": (9, 9), "y": (-7, -7)}}),
        ("Affine", {"rotate": (30, 30)}),
        ("Pad", {"padding": (1, 2, 5, 4)}),
    ],
)
def test_boxes_are_theirs(name, arguments):
    data = {"image": smooth(48, 48), "bboxes": np.float32(BOXES), "labels": ["a", "b", "c"]}
    got, want = both(name, arguments, **data)
    assert list(got["labels"]) == list(want["labels"])
    np.testing.assert_allclose(got["bboxes"], want["bboxes"], atol=0.02)


@pytest.mark.parametrize(
    "name, arguments",
    [("HorizontalFlip", {}), ("CenterCrop", {"height": 21, "width": 30}), ("Affine", {"rotate": (30, 30)})],
)
def test_points_are_theirs(name, arguments):
    got, want = both(name, arguments, image=smooth(48, 48), keypoints=np.float32([[20, 22], [3, 40], [30, 25]]))
    np.testing.assert_allclose(got["keypoints"], np.asarray(want["keypoints"])[:, :2], atol=0.01)


@pytest.mark.parametrize("form", ["pascal_voc", "albumentations", "coco", "yolo"])
def test_formats_of_boxes_are_theirs(form):
    rows = {
        "pascal_voc": [[4, 5, 30, 40]],
        "albumentations": [[0.1, 0.2, 0.5, 0.8]],
        "coco": [[4, 5, 26, 35]],
        "yolo": [[0.4, 0.5, 0.3, 0.6]],
    }[form]
    made = [
        m.Compose(
            [m.HorizontalFlip(p=1.0), m.CenterCrop(40, 44)], bbox_params=m.BboxParams(form, label_fields=["ids"])
        )(image=smooth(48, 64), bboxes=np.float32(rows), ids=[7])
        for m in (ours, theirs)
    ]
    np.testing.assert_allclose(made[0]["bboxes"], made[1]["bboxes"], atol=1e-4)
    assert list(made[0]["ids"]) == list(made[1]["ids"])


def test_how_often_and_how_far():
    image = np.zeros((4, 4, 3), np.uint8) + 100
    flips = ours.Compose([ours.InvertImg(p=0.3)])
    share = np.mean([flips(image=image)["image"][0, 0, 0] == 155 for _ in range(600)])
    assert abs(share - 0.3) < 0.08
    bright = ours.Compose([ours.RandomBrightnessContrast(0.2, 0.0, p=1.0)])
    drawn = np.array([bright(image=image)["image"][0, 0, 0] for _ in range(400)], float)
    assert 48 <= drawn.min() < 60 and 140 < drawn.max() <= 152 and abs(drawn.mean() - 100) < 6
    one = ours.OneOf([ours.InvertImg(p=0.9), ours.NoOp(p=0.1)], p=1.0)
    assert abs(np.mean([one(image=image)["image"][0, 0, 0] == 155 for _ in range(300)]) - 0.9) < 0.08


def test_batches_lists_and_pipelines():
    images = [smooth(20, 30), smooth(25, 31)]
    train = ours.Compose([ours.HorizontalFlip(p=1.0), ours.CenterCrop(10, 12)])
    each = [train(image=x)["image"] for x in images]
    for made in (train(image=images)["image"], train(image=penstock.batch(images, layout="HWC"))["image"]):
        for a, b in zip(made, each):
            np.testing.assert_array_equal(np.asarray(a), b)

    boxes = ours.Compose(
        [ours.HorizontalFlip(p=1.0), ours.RandomBrightnessContrast(p=0.5), ours.Rotate(p=0.5), ours.Resize(10, 15)],
        bbox_params={"format": "pascal_voc", "label_fields": ["labels"]},
    )

    @penstock.pipeline_def(batch_size=2, num_threads=1, seed=3)
    def pipeline():
        image = fn.reshape(fn.constant(idata=[9] * 1800, dtype=penstock.types.UINT8, shape=[20, 30, 3]), layout="HWC")
        box = fn.constant(fdata=[3.0, 4.0, 15.0, 16.0], shape=[1, 4])
        made = boxes(image=image, bboxes=box, labels=fn.constant(idata=[5], shape=[1]))
        return made["image"], made["bboxes"], made["labels"]

    image, box, label = pipeline().run()
    assert image[0].shape() == [10, 15, 3] and box[0].shape()[1] == 4 and label[0].numpy().tolist() in ([5], [])


def test_replay_does_it_again():
    twice = ours.ReplayCompose([ours.Rotate(p=0.5), ours.RandomCrop(12, 13), ours.GaussNoise(p=0.5)])
    image = smooth(30, 31)
    for _ in range(5):
        first = twice(image=image)
        np.testing.assert_array_equal(twice.replay(first["replay"], image=image)["image"], first["image"])
        # Theirs is called on the class, with what json may have kept.
        again = ours.ReplayCompose.replay(json.loads(json.dumps(first["replay"])), image=image)
        np.testing.assert_array_equal(again["image"], first["image"])


def test_additional_targets_and_masks():
    made = ours.Compose([ours.HorizontalFlip(p=1.0)], additional_targets={"other": "image"})(
        image=smooth(8, 9), other=smooth(8, 9), masks=[np.eye(8, 9, dtype=np.uint8)] * 2
    )
    np.testing.assert_array_equal(made["other"], smooth(8, 9)[:, ::-1])
    np.testing.assert_array_equal(made["masks"][1], np.eye(8, 9, dtype=np.uint8)[:, ::-1])


def tensor():
    import torch

    return torch.zeros(3, 4, 4)


def labeled(**data):
    params = ours.BboxParams("pascal_voc", label_fields=["labels"])
    return ours.Compose([ours.NoOp()], bbox_params=params)(image=smooth(4, 4), **data)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ours.Rotate(value=3), TypeError, "write fill="),
        (lambda: ours.RandomResizedCrop(height=3, width=4), TypeError, "write size="),
        (lambda: ours.HorizontalFlip(prob=3), TypeError, "no argument 'prob'"),
        (lambda: ours.Resize(3), TypeError, "needs width="),
        (lambda: ours.HorizontalFlp(), AttributeError, "HorizontalFlip"),
        (lambda: ours.BboxParams("voc"), ValueError, "pascal_voc"),
        (lambda: ours.BboxParams("coco", check_each_transform=False), ValueError, "is not there"),
        (lambda: ours.Compose([ours.NoOp()])(image=smooth(4, 4), bboxes=[]), TypeError, "needs bbox_params"),
        (lambda: ours.Compose([ours.NoOp()])(image=smooth(4, 4), label=[]), TypeError, "'label' is not a target"),
        (lambda: ours.Compose([3]), TypeError, "takes transforms"),
        (lambda: ours.Compose(ours.NoOp()), TypeError, "takes a list of transforms"),
        (lambda: ours.Compose([ours.NoOp()])(smooth(4, 4)), TypeError, "by name: image="),
        (lambda: ours.NoOp()(image="picture.jpg"), TypeError, "image must be an array .* got str"),
        (lambda: ours.NoOp()(image=np.zeros((1, 2, 3, 4))), TypeError, "got shape"),
        (lambda: ours.NoOp()(image=tensor()), TypeError, "tensor of torch"),
        (lambda: ours.NoOp()(image=smooth(4, 4), mask=np.zeros((5, 4))), ValueError, "image is 4 x 4, mask is 5 x 4"),
        (lambda: ours.NoOp()(image=smooth(4, 4), masks=[np.zeros((4, 5))]), ValueError, r"masks\[0\] is 4 x 5"),
        (lambda: labeled(bboxes=[[1, 1, 2, 2]]), ValueError, "no labels="),
        (lambda: labeled(bboxes=[[1, 1, 2, 2]], labels=[1, 2]), ValueError, "bboxes has 1 rows, labels has 2"),
        (lambda: ours.RandomCrop(9, 9)(image=smooth(4, 4)), ValueError, "PadIfNeeded"),
        (lambda: ours.Resize(4, 4, interpolation=3)(image=smooth(4, 4)), ValueError, "interpolation=3"),
        (
            lambda: ours.Compose([], bbox_params=ours.BboxParams("coco"))(image=smooth(4, 4), bboxes=[[1, 1, 9, 9]]),
            ValueError,
            "clip=True",
        ),
    ],
)
def test_errors_say_what_to_write(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_table_lists_all_of_theirs():
    import inspect

    base = theirs.BasicTransform
    known = {n for n, c in vars(theirs).items() if inspect.isclass(c) and issubclass(c, base)}
    known -= {"BasicTransform", "DualTransform", "ImageOnlyTransform", "Transform3D"}
    assert known | {"ToTensorV2"} == {*ours.table.TABLE}


def test_the_page_is_current():
    sys.path.insert(0, str(ROOT / "tools"))
    import generate_albumentations

    for path, text in generate_albumentations.generate([]).items():
        assert (ROOT / path).read_text() == text


DEPRECATED = {("RandomResizedCrop", "size"), ("RandomSizedCrop", "size")}  # None stands for older arguments there
FUNCTIONS = {
    (n, "read_fn") for n in ("FDA", "HistogramMatching", "PixelDistributionAdaptation")
}  # ours reads with Penstock


def test_defaults_are_theirs():
    import inspect

    for name, definition in ours.table.TABLE.items():
        if name == "ToTensorV2":
            continue
        known = inspect.signature(getattr(theirs, name).__init__).parameters
        assert list(definition.arguments) == [n for n in known if n in definition.arguments], name
        assert known["p"].default == definition.p, name
        for argument, value in definition.arguments.items():
            default = known[argument].default
            default = ours.table.REQUIRED if default is inspect.Parameter.empty else default
            same = default is value or default == value or (name, argument) in DEPRECATED | FUNCTIONS
            assert same, (name, argument, default)
