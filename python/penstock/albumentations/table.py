# SPDX-License-Identifier: Apache-2.0
"""The transforms by name: their arguments with the defaults of Albumentations 1.4, what they do, and how they differ."""

from typing import Any, Callable, NamedTuple

from . import colors, geometry, sizes


class Definition(NamedTuple):
    """A transform.

    Args:
        function: What it does with a Sample and its arguments.
        arguments: Its arguments in order, with their defaults; REQUIRED has none.
        p: The default probability.
        limits: Arguments of which one number v means a range: from -v ("both"), from 1 ("one"), from 3 ("three"), from
            0 ("zero") to v, or v alone ("same").
        differs: How it differs from Albumentations.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    p: float = 0.5
    limits: dict[str, str] = {}
    differs: str = ""


REQUIRED = object()
_FILL = {"border_mode": 4, "fill": 0, "fill_mask": 0}
_CONSTANT = {**_FILL, "border_mode": 0}
_INTERPOLATION = {"interpolation": 1}
_SIZE = {"height": REQUIRED, "width": REQUIRED}
_ROTATES = "boxes become the box around their corners (rotate_method='largest_box')"

TABLE = {
    "Affine": Definition(
        geometry.affine,
        {"scale": 1.0, "translate_percent": None, "translate_px": None, "rotate": 0.0, "shear": 0.0, **_INTERPOLATION}
        | {"fit_output": False, "keep_ratio": False, "balanced_scale": False, **_CONSTANT},
        differs=_ROTATES + "; no fit_output, no balanced_scale",
    ),
    "AutoContrast": Definition(
        lambda x, a: colors.fn.autocontrast(x),
        {},
        differs="stretches from the smallest to the largest value, as torchvision does; Albumentations 1.4 equalizes",
    ),
    "BBoxSafeRandomCrop": Definition(
        sizes.box_safe_crop, {"erosion_rate": 0.0}, 1.0, differs="without boxes it is an error, use RandomCrop"
    ),
    "Blur": Definition(colors.blur, {"blur_limit": (3, 7)}, limits={"blur_limit": "three"}),
    "CLAHE": Definition(colors.clahe, {"clip_limit": 4.0, "tile_grid_size": (8, 8)}, limits={"clip_limit": "one"}),
    "CenterCrop": Definition(sizes.center_crop, {**_SIZE, "pad_if_needed": False}, 1.0, differs="no pad_if_needed"),
    "CoarseDropout": Definition(
        colors.coarse_dropout,
        {
            "num_holes_range": (1, 1),
            "hole_height_range": (8, 8),
            "hole_width_range": (8, 8),
            "fill": 0,
            "fill_mask": None,
        },
        differs="boxes and points under holes stay; masks stay; no random fill",
    ),
    "ColorJitter": Definition(
        colors.color_jitter,
        {"brightness": (0.8, 1.2), "contrast": (0.8, 1.2), "saturation": (0.8, 1.2), "hue": (-0.5, 0.5)},
        differs="exact as torchvision's; Albumentations rounds the hue to 180 steps",
    ),
    "Crop": Definition(
        sizes.crop,
        {"x_min": 0, "y_min": 0, "x_max": 1024, "y_max": 1024, "pad_if_needed": False},
        1.0,
        differs="a window beyond the image is an error; no pad_if_needed",
    ),
    "D4": Definition(geometry.d4, {}, 1.0),
    "Equalize": Definition(
        colors.equalize, {"mode": "cv", "by_channels": True, "mask": None}, differs="mode='cv' by channels alone"
    ),
    "Erasing": Definition(
        colors.erasing,
        {"scale": (0.02, 0.33), "ratio": (0.3, 3.3), "fill": 0, "fill_mask": None},
        differs="images alone",
    ),
    "GaussNoise": Definition(
        colors.gauss_noise,
        {"std_range": (0.2, 0.44), "mean_range": (0.0, 0.0), "per_channel": True, "noise_scale_factor": 1},
        differs="each element draws its own noise; nothing else is there",
    ),
    "GaussianBlur": Definition(
        colors.gaussian_blur,
        {"blur_limit": (3, 7), "sigma_limit": 0.0},
        limits={"blur_limit": "three", "sigma_limit": "zero"},
    ),
    "GridDistortion": Definition(
        geometry.grid,
        {"num_steps": 5, "distort_limit": (-0.3, 0.3), **_INTERPOLATION, "normalized": True},
        limits={"distort_limit": "both"},
        differs="cells have equal sizes; Albumentations' last one is larger, and it repeats the pixels at borders of cells",
    ),
    "HorizontalFlip": Definition(geometry.flipped(1, 0), {}),
    "ImageCompression": Definition(
        colors.compression, {"compression_type": "jpeg", "quality_range": (99, 100)}, differs="JPEG alone"
    ),
    "InvertImg": Definition(lambda x, a: colors.fn.invert(x), {}),
    "LongestMaxSize": Definition(sizes.longest, {"max_size": 1024, **_INTERPOLATION}, 1.0, differs="one size"),
    "MedianBlur": Definition(colors.median_blur, {"blur_limit": (3, 7)}, limits={"blur_limit": "three"}),
    "NoOp": Definition(lambda x, a: x, {}),
    "Normalize": Definition(
        colors.normalize,
        {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225), "max_pixel_value": 255.0}
        | {"normalization": "standard"},
        1.0,
        differs="normalization='standard' alone",
    ),
    "OpticalDistortion": Definition(
        geometry.optical,
        {"distort_limit": (-0.05, 0.05), **_INTERPOLATION, "mode": "camera"},
        limits={"distort_limit": "both"},
        differs="mode='camera' alone",
    ),
    "Pad": Definition(sizes.pad, {"padding": 0, "fill": 0, "fill_mask": 0, "border_mode": 0}, 1.0),
    "PadIfNeeded": Definition(
        sizes.pad_if_needed,
        {"min_height": 1024, "min_width": 1024, "pad_height_divisor": None, "pad_width_divisor": None}
        | {"position": "center", **_FILL},
        1.0,
        differs="no position='random'; boxes are not repeated at a reflected border",
    ),
    "Perspective": Definition(
        geometry.perspective,
        {"scale": (0.05, 0.1), "keep_size": True, "fit_output": False, **_INTERPOLATION, **_CONSTANT},
        limits={"scale": "zero"},
        differs="keep_size=True alone; positions are of pixels' areas",
    ),
    "Posterize": Definition(colors.posterize, {"num_bits": 4}, differs="one number of bits for all channels"),
    "RGBShift": Definition(
        colors.rgb_shift,
        {f"{c}_shift_limit": (-20.0, 20.0) for c in "rgb"},
        limits={f"{c}_shift_limit": "both" for c in "rgb"},
    ),
    "RandomBrightnessContrast": Definition(
        colors.brightness_contrast,
        {"brightness_limit": (-0.2, 0.2), "contrast_limit": (-0.2, 0.2)}
        | {"brightness_by_max": True, "ensure_safe_range": False},
        limits={"brightness_limit": "both", "contrast_limit": "both"},
        differs="brightness_by_max=True alone",
    ),
    "RandomCrop": Definition(sizes.random_crop, {**_SIZE, "pad_if_needed": False}, 1.0, differs="no pad_if_needed"),
    "RandomResizedCrop": Definition(
        sizes.random_resized_crop,
        {"size": REQUIRED, "scale": (0.08, 1.0), "ratio": (0.75, 1.3333333333333333), **_INTERPOLATION},
        1.0,
        differs="draws as torchvision does, without rounding to a place in 1e-10",
    ),
    "RandomRotate90": Definition(geometry.rotate90, {}),
    "RandomScale": Definition(
        sizes.random_scale, {"scale_limit": (-0.1, 0.1), **_INTERPOLATION}, limits={"scale_limit": "both"}
    ),
    "RandomSizedBBoxSafeCrop": Definition(
        sizes.sized_box_safe_crop,
        {**_SIZE, "erosion_rate": 0.0, **_INTERPOLATION},
        1.0,
        differs="without boxes it is an error, use RandomResizedCrop",
    ),
    "RandomSizedCrop": Definition(
        sizes.random_sized_crop, {"min_max_height": REQUIRED, "size": REQUIRED, "w2h_ratio": 1.0, **_INTERPOLATION}, 1.0
    ),
    "Resize": Definition(sizes.resize, {**_SIZE, **_INTERPOLATION}, 1.0),
    "Rotate": Definition(
        geometry.rotate,
        {"limit": (-90.0, 90.0), **_INTERPOLATION, **_FILL, "crop_border": False},
        limits={"limit": "both"},
        differs=_ROTATES + "; boxes are not repeated at a reflected border; no crop_border",
    ),
    "SaltAndPepper": Definition(
        colors.salt_and_pepper, {"amount": (0.01, 0.06), "salt_vs_pepper": (0.4, 0.6)}, differs="each element draws"
    ),
    "ShiftScaleRotate": Definition(
        geometry.shift_scale_rotate,
        {"shift_limit": (-0.0625, 0.0625), "scale_limit": (-0.1, 0.1), "rotate_limit": (-45.0, 45.0), **_INTERPOLATION}
        | {**_FILL, "shift_limit_x": None, "shift_limit_y": None},
        limits={n: "both" for n in ("shift_limit", "scale_limit", "rotate_limit", "shift_limit_x", "shift_limit_y")},
        differs=_ROTATES + "; boxes are not repeated at a reflected border",
    ),
    "SmallestMaxSize": Definition(sizes.smallest, {"max_size": 1024, **_INTERPOLATION}, 1.0, differs="one size"),
    "Solarize": Definition(colors.solarize, {"threshold_range": (0.5, 0.5)}, limits={"threshold_range": "same"}),
    "ToFloat": Definition(colors.to_float, {"max_value": None}, 1.0),
    "ToGray": Definition(
        colors.to_gray, {"num_output_channels": 3, "method": "weighted_average"}, differs="weighted_average alone"
    ),
    "ToTensorV2": Definition(
        colors.to_tensor,
        {"transpose_mask": False},
        1.0,
        differs="a tensor outside a pipeline, CHW inside one; masks stay HW",
    ),
    "Transpose": Definition(geometry.transpose, {}),
    "VerticalFlip": Definition(geometry.flipped(0, 1), {}),
}

MISSING = {
    "ElasticTransform": "the field is another one: fn.elastic_transform of a Sample",
    **dict.fromkeys(("GridElasticDeform", "PiecewiseAffine", "ThinPlateSpline"), "no operator of this field"),
    **dict.fromkeys(
        ("AtLeastOneBBoxRandomCrop", "RandomCropNearBBox"),
        "another crop that looks at boxes: penstock.augment.random_overlap_crop",
    ),
    **dict.fromkeys(("CropNonEmptyMaskIfExists", "MaskDropout"), "a crop or holes that look at the mask"),
    **dict.fromkeys(("HueSaturationValue", "FancyPCA", "PlanckianJitter", "ToSepia"), "no operator of these colors"),
    **dict.fromkeys(("RandomGamma", "RandomToneCurve"), "no operator of a curve that each sample draws"),
    **dict.fromkeys(
        ("CenterCrop3D", "CoarseDropout3D", "CubicSymmetry", "Pad3D", "PadIfNeeded3D", "RandomCrop3D"),
        "a Sample of volumes is not there",
    ),
    **dict.fromkeys(("FDA", "HistogramMatching", "PixelDistributionAdaptation", "TemplateTransform"), "second images"),
    **dict.fromkeys(
        ("RandomFog", "RandomGravel", "RandomRain", "RandomShadow", "RandomSnow", "RandomSunFlare", "Spatter"),
        "drawn weather: no operator",
    ),  # fmt: skip
    **dict.fromkeys(("FrequencyMasking", "TimeMasking", "TimeReverse"), "sound: use fn.spec_augment and fn.flip"),
    **dict.fromkeys(
        (
            "AdditiveNoise",
            "AdvancedBlur",
            "ChannelDropout",
            "ChannelShuffle",
            "ChromaticAberration",
            "CropAndPad",
            "Defocus",
            "Downscale",
            "Emboss",
            "FromFloat",
            "GlassBlur",
            "GridDropout",
            "ISONoise",
            "Illumination",
            "Morphological",
            "MotionBlur",
            "MultiplicativeNoise",
            "OverlayElements",
            "PixelDropout",
            "PlasmaBrightnessContrast",
            "PlasmaShadow",
            "RandomCropFromBorders",
            "RandomGridShuffle",
            "RingingOvershoot",
            "SafeRotate",
            "Sharpen",
            "ShotNoise",
            "Superpixels",
            "TextImage",
            "ToRGB",
            "UnsharpMask",
            "XYMasking",
            "ZoomBlur",
        ),
        "not mapped yet",
    ),
    **dict.fromkeys(("Lambda",), "call a function of yours between two Compose, or penstock.augment.maybe"),
}
