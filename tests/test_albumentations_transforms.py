# SPDX-License-Identifier: Apache-2.0
"""Transforms of penstock.albumentations beside Albumentations: pixels where no number is drawn, else statistics."""

import warnings

import numpy as np
import penstock
import pytest
from albumentations_oracle import theirs
from penstock import albumentations as ours
from penstock import fn
from test_albumentations import both, smooth

SIDES = {f"crop_{n}": 0 for n in ("left", "right", "top", "bottom")}
STILL = {"brightness": (1, 1), "contrast": (1, 1), "saturation": (1, 1), "hue": (0, 0)}
PIXELS = [
    (
        "HueSaturationValue",
        {"hue_shift_limit": (20, 20), "sat_shift_limit": (-30, -30), "val_shift_limit": (15, 15)},
        1,
    ),
    (
        "HueSaturationValue",
        {"hue_shift_limit": (-7.5, -7.5), "sat_shift_limit": (9.6, 9.6), "val_shift_limit": (0, 0)},
        1,
    ),
    ("RandomGamma", {"gamma_limit": (120, 120)}, 1),
    ("RandomGamma", {"gamma_limit": (60, 60)}, 1),
    ("ToSepia", {}, 1),
    ("ToRGB", {}, 0),
    ("TimeReverse", {}, 0),
    ("Sharpen", {"alpha": (0.3, 0.3), "lightness": (0.7, 0.7)}, 1),
    ("Emboss", {"alpha": (0.3, 0.3), "strength": (0.5, 0.5)}, 1),
    (
        "MotionBlur",
        {"blur_limit": (7, 7), "allow_shifted": False, "angle_range": (30, 30), "direction_range": (0.5, 0.5)},
        0,
    ),
    ("Defocus", {"radius": (4, 4), "alias_blur": (0.3, 0.3)}, 1),
    ("Defocus", {"radius": (9, 9), "alias_blur": (0.5, 0.5)}, 1),
    ("RingingOvershoot", {"blur_limit": (9, 9), "cutoff": (1.0, 1.0)}, 1),
    ("UnsharpMask", {"blur_limit": (5, 5), "sigma_limit": (1.5, 1.5), "alpha": (0.4, 0.4)}, 1),
    ("RandomToneCurve", {"scale": 0.0}, 1),
    ("RandomSnow", {"snow_point_range": (0.2, 0.2)}, 6),  # Albumentations rounds HLS to bytes before it scales
    ("MultiplicativeNoise", {"multiplier": (1.1, 1.1)}, 1),
    ("AdditiveNoise", {"noise_params": {"ranges": [(0.1, 0.1), (-0.05, -0.05), (0.02, 0.02)]}}, 1),
    ("PixelDropout", {"dropout_prob": 1.0, "drop_value": 9}, 0),
    ("Illumination", {"intensity_range": (0.1, 0.1), "effect_type": "brighten", "angle_range": (30, 30)}, 1),
    (
        "Illumination",
        {"mode": "gaussian", "intensity_range": (0.2, 0.2), "effect_type": "darken", "center_range": (0.3, 0.3)}
        | {"sigma_range": (0.4, 0.4)},
        1,
    ),
    ("ZoomBlur", {"max_factor": (1.2, 1.2), "step_factor": (0.02, 0.02)}, 8),  # Albumentations cuts whole pixels
    ("ZoomBlur", {"max_factor": (1.05, 1.05), "step_factor": (0.03, 0.03)}, 8),
    ("ChromaticAberration", {"primary_distortion_limit": (0.1, 0.1), "secondary_distortion_limit": (0.2, 0.2)}, 1),
    ("ChromaticAberration", {"primary_distortion_limit": (-0.1, -0.1), "secondary_distortion_limit": (-0.2, -0.2)}, 1),
    ("Morphological", {}, 0),
    ("Morphological", {"scale": (4, 5), "operation": "erosion"}, 0),
    ("Morphological", {"scale": (3, 7)}, 0),
    ("CropAndPad", {"px": 5}, 1),
    ("CropAndPad", {"px": -5}, 1),
    ("CropAndPad", {"px": (3, -4, -6, 2), "keep_size": False, "fill": 7}, 0),
    ("CropAndPad", {"percent": (0.1, -0.05, 0.1, 0.2), "border_mode": 4}, 1),
    ("SafeRotate", {"limit": (30, 30)}, 3),
    ("SafeRotate", {"limit": (-70, -70), "border_mode": 0}, 8),
    ("RandomCropFromBorders", SIDES, 0),
    ("ElasticTransform", {"alpha": 0}, 0),
    ("ColorJitter", {**STILL, "brightness": (1.2, 1.2)}, 1),
    ("ColorJitter", {**STILL, "contrast": (1.3, 1.3)}, 1),
    ("ColorJitter", {**STILL, "saturation": (0.5, 0.5)}, 1),
    ("ColorJitter", {**STILL, "hue": (0.1, 0.1)}, 3),  # Albumentations' hue has 180 steps
    ("Perspective", {"scale": (0, 0)}, 0),
]


@pytest.mark.parametrize("name, arguments, bound", PIXELS)
def test_pixels_of_these_are_theirs(name, arguments, bound):
    for shape in ((47, 64), (48, 48)):
        got, want = (made["image"] for made in both(name, arguments, image=smooth(*shape)))
        assert got.shape == want.shape and got.dtype == want.dtype
        assert np.abs(got.astype(int) - want).max() <= bound


def test_masks_grow_as_images():
    mask = np.zeros((48, 64), np.uint8)
    mask[10:25, 8:22] = 3
    for operation in ("dilation", "erosion"):
        got, want = both("Morphological", {"scale": (4, 5), "operation": operation}, image=smooth(48, 64), mask=mask)
        np.testing.assert_array_equal(got["mask"], want["mask"])


def test_light_comes_from_each_corner_and_lenses_are_drawn():
    bright = {"intensity_range": (0.2, 0.2), "effect_type": "brighten", "mode": "corner"}
    corners = [
        repeated(module, "Illumination", bright, GRAY, 60)[:, ::39, ::49, 0].reshape(60, 4) for module in (ours, theirs)
    ]
    got, want = (np.unique(x, axis=0) for x in corners)
    assert got.shape == want.shape == (4, 4) and np.abs(got - want).max() <= 1
    for mode in ("green_purple", "red_blue", "random"):
        made = repeated(ours, "ChromaticAberration", {"mode": mode}, smooth(40, 50), 2)
        np.testing.assert_array_equal(made[..., 1], [smooth(40, 50)[..., 1]] * 2)


def test_shadows_are_as_large_and_dark_as_theirs():
    image = np.full((120, 160, 1), 100, np.uint8)  # Albumentations' shadows have half a pixel more on each side
    for arguments in ({}, {"num_shadows_limit": (2, 3), "shadow_dimension": 3, "shadow_intensity_range": (0.2, 0.6)}):
        got, want = (repeated(m, "RandomShadow", arguments, image, 60) for m in (ours, theirs))
        assert (got[:, :59] == 100).all()
        assert abs(got.mean() - want.mean()) < 2 and abs(got.std() - want.std()) < 3


def test_compression_is_theirs_of_swapped_channels():
    """Albumentations gives OpenCV red where it takes blue."""
    image = smooth(47, 64)
    for quality in (60, 99):
        made = ours.ImageCompression(quality_range=(quality, quality), p=1.0)(image=image[..., ::-1].copy())["image"]
        want = theirs.ImageCompression(quality_range=(quality, quality), p=1.0)(image=image)["image"]
        np.testing.assert_array_equal(made[..., ::-1], want)


def test_holes_of_a_grid_are_theirs():
    """Where cells have one size; Albumentations shuffles those that differ by a pixel."""
    for arguments in ({"holes_number_xy": (4, 4)}, {"holes_number_xy": (4, 4), "shift_xy": (2, 3)}, {"ratio": 0.3}):
        image = smooth(48, 48)
        got, want = both("GridDropout", {"random_offset": False, **arguments}, image=image)
        np.testing.assert_array_equal(got["image"], want["image"])


def repeated(module, name, arguments, image, count):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transform = getattr(module, name)(**arguments, p=1.0)
        if module is theirs:
            transform.set_random_seed(5)
        penstock.seed(5)
        return np.array([transform(image=image)["image"] for _ in range(count)], np.float64)


GRAY = np.full((40, 50, 3), 128, np.uint8)
NOISE = [
    ("GaussNoise", {"std_range": (0.1, 0.1), "mean_range": (0.05, 0.05)}),
    ("SaltAndPepper", {"amount": (0.1, 0.1), "salt_vs_pepper": (0.3, 0.3)}),
    ("ShotNoise", {"scale_range": (0.02, 0.02)}),
    ("MultiplicativeNoise", {"multiplier": (0.7, 1.3), "elementwise": True}),
    ("MultiplicativeNoise", {"multiplier": (0.7, 1.3), "elementwise": True, "per_channel": True}),
    ("AdditiveNoise", {"noise_type": "uniform", "spatial_mode": "per_pixel"}),
    ("AdditiveNoise", {"noise_type": "gaussian", "spatial_mode": "per_pixel", "noise_params": {"mean_range": (0.1, 0.1), "std_range": (0.1, 0.1)}}),
    ("AdditiveNoise", {"noise_type": "laplace", "spatial_mode": "per_pixel", "noise_params": {"mean_range": (0.1, 0.1), "scale_range": (0.05, 0.05)}}),
    ("AdditiveNoise", {"noise_type": "beta", "spatial_mode": "per_pixel", "noise_params": {"alpha_range": (0.7, 0.7), "beta_range": (1.4, 1.4), "scale_range": (0.2, 0.2)}}),
    ("PixelDropout", {"dropout_prob": 0.2}),
    ("PixelDropout", {"dropout_prob": 0.2, "per_channel": True}),
    ("ISONoise", {"intensity": (0.8, 0.8)}),
]  # fmt: skip


@pytest.mark.parametrize("name, arguments", NOISE)
def test_noise_is_distributed_as_theirs(name, arguments):
    image = smooth(40, 50) if name == "ISONoise" else GRAY
    got, want = (repeated(module, name, arguments, image, 8) for module in (ours, theirs))
    assert abs(got.mean() - want.mean()) < 1.2
    assert abs(got.std() - want.std()) < 0.05 * want.std() + 0.5
    quantiles = [0.02, 0.25, 0.5, 0.75, 0.98]
    assert np.abs(np.quantile(got, quantiles) - np.quantile(want, quantiles)).max() <= 4


def changed(image, made):
    """The parts of rows, columns and pixels that differ, on average, and the deviation of the last."""
    far = (made != image).any(-1)
    return far.any(2).mean(), far.any(1).mean(), far.mean(), far.mean((1, 2)).std()


HOLES = [
    ("CoarseDropout", {"num_holes_range": (1, 4), "hole_height_range": (4, 9), "hole_width_range": (5, 12)}),
    ("Erasing", {}),
    ("Erasing", {"scale": (0.1, 0.9), "ratio": (0.8, 1.2)}),
    ("GridDropout", {"ratio": 0.4}),
    ("XYMasking", {"num_masks_x": (1, 3), "num_masks_y": 2, "mask_x_length": (2, 8), "mask_y_length": 5}),
    ("TimeMasking", {"time_mask_param": 20}),
    ("FrequencyMasking", {"freq_mask_param": 20}),
]


@pytest.mark.parametrize("name, arguments", HOLES)
def test_holes_are_distributed_as_theirs(name, arguments):
    got, want = (changed(GRAY, repeated(module, name, arguments, GRAY, 300)) for module in (ours, theirs))
    assert np.abs(np.subtract(got, want)).max() < 0.1, (got, want)


def test_colors_are_drawn_as_theirs():
    image = np.uint8([[[200, 90, 40]]]).repeat(4, 0).repeat(4, 1)
    for name, count in (
        ("HueSaturationValue", 800),
        ("RandomGamma", 300),
        ("RandomToneCurve", 300),
        ("ColorJitter", 300),
    ):
        got, want = (repeated(module, name, {}, image, count)[:, 0, 0] for module in (ours, theirs))
        assert np.abs(got.mean(0) - want.mean(0)).max() < 9, name
        assert np.abs(got.std(0) - want.std(0)).max() < 7, name


def test_channels_are_drawn():
    image = np.uint8([[[10, 20, 30]]]).repeat(2, 0).repeat(2, 1)
    shuffled = {tuple(x[0, 0]) for x in repeated(ours, "ChannelShuffle", {}, image, 80)}
    assert len(shuffled) == 6 and all(sorted(x) == [10, 20, 30] for x in shuffled)
    for limits, numbers in (((1, 1), {1}), ((1, 2), {1, 2}), ((2, 2), {2})):
        made = repeated(ours, "ChannelDropout", {"channel_drop_range": limits, "fill": 7}, image, 40)[:, 0, 0]
        assert {int((x == 7).sum()) for x in made} == numbers
        assert ((made == 7) | (made == [10, 20, 30])).all() and (made == 7).any(0).all()


def test_blurs_keep_a_flat_image_and_blur_as_much_as_theirs():
    point = np.zeros((31, 31, 1), np.float32)
    point[15, 15] = 1
    y, x = np.mgrid[:31, :31] - 15
    for name in ("MotionBlur", "AdvancedBlur", "Defocus", "RingingOvershoot"):
        assert np.abs(repeated(ours, name, {}, GRAY, 3) - 128).max() <= (3 if name == "Defocus" else 1)  # sums 1.02
        spread = []
        for module in (ours, theirs):  # which cuts floating point to 0 and 1
            made = repeated(module, name, {}, point, 300).reshape(300, 31, 31).clip(0, 1)
            spread.append([np.square(made).sum((1, 2)).mean(), (made * (x * x + y * y)).sum((1, 2)).mean()])
        np.testing.assert_allclose(spread[0], spread[1], rtol=0.2, atol=0.02, err_msg=name)


def test_an_elastic_field_is_as_far_and_as_smooth_as_theirs():
    ramp = (np.mgrid[:60, :80][1] / 80).astype(np.float32)[..., None]
    for arguments in ({"alpha": 40}, {"alpha": 60, "sigma": 4, "approximate": True, "noise_distribution": "uniform"}):
        moved = []
        for module in (ours, theirs):
            made = repeated(module, "ElasticTransform", arguments, ramp, 12).reshape(12, 60, 80)
            by = (made - ramp[..., 0])[:, 15:-15, 15:-15] * 80
            moved.append([by.std(), np.diff(by, axis=2).std(), np.diff(by[..., ::6], axis=2).std()])
        np.testing.assert_allclose(moved[0][::2], moved[1][::2], rtol=0.25)
        assert moved[0][1] < 1.25 * moved[1][1]  # the flat window of Albumentations has edges


def test_crops_keep_what_they_look_at():
    image, mask = smooth(48, 64), np.zeros((48, 64), np.uint8)
    mask[40:43, 5:8] = 1
    for _ in range(15):
        assert ours.CropNonEmptyMaskIfExists(12, 14)(image=image, mask=mask)["mask"].any()
    params = ours.BboxParams("coco", label_fields=["labels"])
    crop = ours.Compose([ours.AtLeastOneBBoxRandomCrop(16, 20)], bbox_params=params)
    for _ in range(15):
        made = crop(image=image, bboxes=[[5, 6, 8, 10], [50, 30, 12, 9]], labels=[1, 2])
        assert made["image"].shape == (16, 20, 3) and len(made["labels"]) >= 1
    assert crop(image=image, bboxes=[], labels=[])["image"].shape == (16, 20, 3)
    sizes = [ours.RandomCropFromBorders(0.3, 0.3, 0.2, 0.2)(image=image)["image"].shape for _ in range(60)]
    assert min(s[0] for s in sizes) < 38 and max(s[0] for s in sizes) > 40
    assert all(48 * 0.6 - 1 <= h <= 48 and 64 * 0.4 - 1 <= w <= 64 for h, w, _ in sizes)


def test_a_crop_near_a_box_is_theirs():
    image, box = smooth(48, 64), [10, 12, 40, 30]
    for shift, count in ((0, 1), ((0.3, 0.5), 300)):
        sizes = []
        for module in (ours, theirs):
            crop = module.Compose([module.RandomCropNearBBox(max_part_shift=(0, 0) if shift == 0 else shift, p=1.0)])
            sizes.append([crop(image=image, cropping_bbox=box)["image"].shape[:2] for _ in range(count)])
        got, want = (np.array(s) for s in sizes)
        assert np.abs(got.mean(0) - want.mean(0)).max() < 4 and np.abs(got.std(0) - want.std(0)).max() < 2.5
    whole = ours.Compose([ours.RandomCropNearBBox(max_part_shift=(0, 0))])(image=image, cropping_bbox=box)["image"]
    np.testing.assert_array_equal(whole, image[12:30, 10:40])


def test_functions_of_the_program():
    twice = ours.Lambda(image=lambda x: x // 2, mask=lambda m: m + 1)
    made = twice(image=GRAY, mask=np.zeros((40, 50), np.uint8))
    assert (made["image"] == 64).all() and (made["mask"] == 1).all()
    gray = ours.ToRGB()(image=GRAY[..., 0])["image"]
    np.testing.assert_array_equal(gray, GRAY)
    back = ours.Compose([ours.ToFloat(), ours.FromFloat()])(image=smooth(9, 7))["image"]
    np.testing.assert_array_equal(back, smooth(9, 7))


ARGUMENTS = {
    "AtLeastOneBBoxRandomCrop": {"height": 20, "width": 30},
    "CenterCrop": {"height": 20, "width": 30},
    "Crop": {"x_max": 30, "y_max": 20},
    "CropAndPad": {"px": (-5, 6)},
    "CropNonEmptyMaskIfExists": {"height": 20, "width": 30},
    "FDA": {"reference_images": [np.zeros((4, 5, 3), np.uint8)], "read_fn": lambda v: v},
    "GridElasticDeform": {"num_grid_xy": (3, 2), "magnitude": 4},
    "HistogramMatching": {"reference_images": [np.zeros((4, 5, 3), np.uint8)], "read_fn": lambda v: v},
    "Lambda": {"image": lambda x: x},
    "PixelDistributionAdaptation": {
        "reference_images": [np.eye(4, 5, dtype=np.uint8)[..., None].repeat(3, -1)],
        "read_fn": lambda v: v,
        "transform_type": "standard",
    },
    "RandomCrop": {"height": 20, "width": 30},
    "RandomResizedCrop": {"size": (20, 30)},
    "RandomSizedBBoxSafeCrop": {"height": 20, "width": 30},
    "RandomSizedCrop": {"min_max_height": (20, 30), "size": (20, 30)},
    "Resize": {"height": 20, "width": 30},
    "TemplateTransform": {"templates": np.zeros((9, 8, 3), np.uint8)},
    "XYMasking": {"num_masks_x": (1, 3), "num_masks_y": 2, "mask_x_length": 10, "mask_y_length": (3, 5)},
}


OF_VOLUMES = {name for name in ours.table.TABLE if name.endswith("3D")} | {"CubicSymmetry"}
DESCRIBED = {"OverlayElements", "TextImage"}  # by an argument of the call


MODES = [
    ("AdditiveNoise", {"noise_type": "laplace", "spatial_mode": "shared"}),
    ("AdditiveNoise", {"noise_type": "beta", "spatial_mode": "per_pixel"}),
    ("ChannelDropout", {"channel_drop_range": (1, 2)}),
    ("CropAndPad", {"percent": (-0.1, 0.2), "keep_size": False, "border_mode": 4}),
    ("GridDropout", {"holes_number_xy": (3, 5)}),
    ("Illumination", {"mode": "corner"}),
    ("Illumination", {"mode": "gaussian"}),
    ("MultiplicativeNoise", {"elementwise": True}),
    ("MultiplicativeNoise", {"per_channel": True}),
    ("GridElasticDeform", {"num_grid_xy": (2, 2), "magnitude": 3}),
    ("MaskDropout", {"max_objects": (1, 3)}),
    ("Perspective", {"fit_output": True}),
    ("Perspective", {"keep_size": False}),
    ("PiecewiseAffine", {"nb_rows": (2, 4), "nb_cols": (3, 4)}),
    ("RandomShadow", {"num_shadows_limit": (1, 3)}),
    ("RandomSunFlare", {"method": "physics_based"}),
    ("Spatter", {"mode": ["rain", "mud"]}),
    ("Sharpen", {"method": "gaussian"}),
]


def test_every_transform_is_there_in_a_pipeline():
    names = set(ours.table.TABLE) - OF_VOLUMES - DESCRIBED - {"ToTensorV2"}
    chosen = [(name, ARGUMENTS.get(name, {})) for name in sorted(names)]
    chosen += [(name, arguments) for name, arguments in MODES]
    image, mask = smooth(60, 70), np.zeros((60, 70, 1), np.uint8)
    mask[10:30, 20:40] = 1

    @penstock.pipeline_def(batch_size=2, num_threads=1, seed=3)
    def pipeline():
        feed = lambda value: fn.external_source(lambda: [value] * 2, layout="HWC", dtype=penstock.types.UINT8, ndim=3)  # noqa: E731
        data = {"image": feed(image), "mask": feed(mask), "labels": fn.constant(idata=[1], shape=[1])}
        data["cropping_bbox"] = fn.constant(fdata=[3.0, 4.0, 30.0, 40.0], shape=[4])
        data["bboxes"] = fn.constant(fdata=[3.0, 4.0, 30.0, 40.0], shape=[1, 4])
        params = ours.BboxParams("pascal_voc", label_fields=["labels"])
        parts = []
        for name, arguments in chosen:
            given = {n: v for n, v in data.items() if n != "cropping_bbox" or name == "RandomCropNearBBox"}
            made = ours.Compose([getattr(ours, name)(**arguments, p=1.0)], bbox_params=params)(**given)
            parts += [made["image"], made["mask"], made["bboxes"]]
        return tuple(parts)

    outputs = pipeline().run()
    names = [name for name, _ in chosen]
    for k, name in enumerate(names):
        for picture, cut, boxes in zip(*outputs[3 * k : 3 * k + 3]):
            assert picture.shape()[:2] == cut.shape()[:2], name
            assert boxes.shape()[1] == 4, name


def test_a_function_of_images_has_no_replay():
    with pytest.raises(TypeError, match="by a function"):
        ours.ReplayCompose([ours.UnsharpMask(p=1.0)])(image=GRAY)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: ours.ChannelDropout((1, 3), p=1.0)(image=GRAY), "within 1 and 2"),
        (lambda: ours.CropAndPad()(image=GRAY), "one of px= and percent="),
        (lambda: ours.XYMasking(1, 0, 99, 0, p=1.0)(image=GRAY), "at most 50"),
        (lambda: ours.GridDropout(unit_size_range=(3, 5), p=1.0)(image=GRAY), "holes_number_xy="),
        (lambda: ours.RandomCropFromBorders(0.6, 0.6)(image=GRAY), "1 at most together"),
        (lambda: ours.AtLeastOneBBoxRandomCrop(4, 4)(image=GRAY), "needs bboxes"),
        (lambda: ours.RandomCropNearBBox()(image=GRAY), "no cropping_bbox="),
        (lambda: ours.Sharpen(method="other", p=1.0)(image=GRAY), "'kernel' or 'gaussian'"),
        (lambda: ours.FromFloat("int8")(image=GRAY), "uint8"),
        (lambda: ours.HueSaturationValue(p=1.0)(image=GRAY[..., :1]), "three channels"),
    ],
)
def test_refusals_of_transforms_say_what_to_write(call, words):
    with pytest.raises(ValueError, match=words):
        call()


class Scenes:
    """A data set as users of Albumentations write it: pictures with masks, boxes and their labels."""

    def __init__(self):
        self.transform = ours.Compose(
            [
                ours.RandomSizedBBoxSafeCrop(32, 40),
                ours.HorizontalFlip(p=0.5),
                ours.HueSaturationValue(p=0.5),
                ours.MotionBlur(p=0.3),
                ours.Normalize(),
                ours.ToTensorV2(),
            ],
            bbox_params=ours.BboxParams("coco", label_fields=["names"], min_visibility=0.1),
        )

    def __len__(self):
        return 8

    def __getitem__(self, k):
        mask = np.zeros((48, 64), np.uint8)
        mask[10:20, 12:30] = 1
        boxes = [[12, 10, 18, 10], [40, 30, 10, 12]]
        return self.transform(image=smooth(48, 64), mask=mask, bboxes=boxes, names=["cat", "dog"])


def test_a_data_set_of_boxes_and_masks_in_a_loader_of_torch():
    from torch.utils.data import DataLoader

    for workers in (0, 2):
        seen = []
        for batch in DataLoader(Scenes(), batch_size=4, num_workers=workers, collate_fn=list):
            for scene in batch:
                assert tuple(scene["image"].shape) == (3, 32, 40) and tuple(scene["mask"].shape) == (32, 40)
                assert scene["names"] == ["cat", "dog"] and scene["bboxes"].shape == (2, 4)
                seen.append(float(scene["image"].sum()))
        assert len(set(seen)) == 8  # workers draw numbers of their own
