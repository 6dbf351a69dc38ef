# SPDX-License-Identifier: Apache-2.0
"""The transforms by name: their arguments with the defaults of Albumentations 1.4, what they do, and how they differ."""

import math
from typing import Any, Callable, NamedTuple

from . import (
    colors,
    crops,
    fields,
    functions,
    geometry,
    holes,
    illuminants,
    kernels,
    light,
    noises,
    overlays,
    patterns,
    references,
    sizes,
    tones,
    volumes,
    weather,
)


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
_CROP_OF_VOLUME = {"size": REQUIRED, "pad_if_needed": False, "fill": 0, "fill_mask": 0}
_STAY = "boxes, points and masks stay"
_KERNELS = "each sample draws one of 256 kernels of this distribution"
_PLASMA = (
    "noise of squares becomes weaker with their size; that of Albumentations 1.4 stays as strong down to single pixels"
)
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
        holes.erasing,
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
        colors.compression,
        {"compression_type": "jpeg", "quality_range": (99, 100)},
        differs="JPEG alone; Albumentations encodes red as blue, which makes other bytes",
    ),
    "InvertImg": Definition(lambda x, a: colors.fn.invert(x), {}),
    "LongestMaxSize": Definition(sizes.longest, {"max_size": 1024, **_INTERPOLATION}, 1.0, differs="one size"),
    "MedianBlur": Definition(colors.median_blur, {"blur_limit": 7}, limits={"blur_limit": "three"}),
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
        differs="corners of boxes move as those of pixels do, half a pixel beside their centers",
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
        {"limit": (-90.0, 90.0), **_INTERPOLATION, "border_mode": 4, "crop_border": False, **_FILL},
        limits={"limit": "both"},
        differs=_ROTATES + "; boxes are not repeated at a reflected border; no crop_border",
    ),
    "SaltAndPepper": Definition(
        colors.salt_and_pepper, {"amount": (0.01, 0.06), "salt_vs_pepper": (0.4, 0.6)}, differs="each element draws"
    ),
    "ShiftScaleRotate": Definition(
        geometry.shift_scale_rotate,
        {"shift_limit": (-0.0625, 0.0625), "scale_limit": (-0.1, 0.1), "rotate_limit": (-45.0, 45.0), **_INTERPOLATION}
        | {"border_mode": 4, "shift_limit_x": None, "shift_limit_y": None, **_FILL},
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
    "AdditiveNoise": Definition(
        noises.additive_noise,
        {"noise_type": "uniform", "spatial_mode": "constant", "noise_params": None, "approximation": 1.0},
        differs="constant noise needs 3 channels; no approximation",
    ),
    "AdvancedBlur": Definition(
        kernels.advanced_blur,
        {"blur_limit": (3, 7), "sigma_x_limit": (0.2, 1.0), "sigma_y_limit": (0.2, 1.0), "rotate_limit": (-90, 90)}
        | {"beta_limit": (0.5, 8.0), "noise_limit": (0.9, 1.1)},
        limits={"blur_limit": "three", "rotate_limit": "both"}
        | {n: "zero" for n in ("sigma_x_limit", "sigma_y_limit", "beta_limit", "noise_limit")},
        differs=_KERNELS,
    ),
    "AtLeastOneBBoxRandomCrop": Definition(crops.at_least_one_box_crop, {**_SIZE, "erosion_factor": 0.0}, 1.0),
    "ChannelDropout": Definition(
        tones.channel_dropout, {"channel_drop_range": (1, 1), "fill": 0}, differs="images of 3 channels alone"
    ),
    "ChannelShuffle": Definition(tones.channel_shuffle, {}, differs="images of 3 channels alone"),
    "ChromaticAberration": Definition(
        light.chromatic_aberration,
        {"primary_distortion_limit": (-0.02, 0.02), "secondary_distortion_limit": (-0.05, 0.05)}
        | {"mode": "green_purple", **_INTERPOLATION},
        limits={f"{n}_distortion_limit": "both" for n in ("primary", "secondary")},
    ),
    "CropAndPad": Definition(
        crops.crop_and_pad,
        {"px": None, "percent": None, "keep_size": True, "sample_independently": True, **_INTERPOLATION}
        | {"border_mode": 0, "fill": 0, "fill_mask": 0},
        1.0,
        differs="fill is one number; no choices among lists of px and percent",
    ),
    "CropNonEmptyMaskIfExists": Definition(
        crops.crop_non_empty_mask,
        {**_SIZE, "ignore_values": None, "ignore_channels": None},
        1.0,
        differs="looks at the first mask; no ignore_values and ignore_channels",
    ),
    "Defocus": Definition(
        kernels.defocus,
        {"radius": (3, 10), "alias_blur": (0.1, 0.5)},
        limits={"radius": "one", "alias_blur": "zero"},
        differs="alias_blur is one of 8 steps of its range",
    ),
    "Downscale": Definition(
        sizes.downscale,
        {"scale_range": (0.25, 0.25), "interpolation_pair": {"upscale": 0, "downscale": 0}},
        differs="sizes are rounded before their ratio is taken; nearest neighbors are those of pixels' centers, "
        "OpenCV takes those of their upper left corners",
    ),
    "ElasticTransform": Definition(
        geometry.elastic,
        {"alpha": 1, "sigma": 50, **_INTERPOLATION, "approximate": False, "same_dxdy": False}
        | {"noise_distribution": "gaussian"},
        differs="smoothed by a whole Gaussian that gives displacements of the same width and deviation; no same_dxdy",
    ),
    "Emboss": Definition(kernels.emboss, {"alpha": (0.2, 0.5), "strength": (0.2, 0.7)}),
    "FrequencyMasking": Definition(holes.one_strip("y", "freq_mask_param"), {"freq_mask_param": 30}, differs=_STAY),
    "FromFloat": Definition(tones.from_float, {"dtype": "uint8", "max_value": None}, 1.0),
    "GridDropout": Definition(
        holes.grid_dropout,
        {"ratio": 0.5, "random_offset": True, "unit_size_range": None, "holes_number_xy": None}
        | {"shift_xy": (0, 0), "fill": 0, "fill_mask": None},
        differs=_STAY
        + "; holes_number_xy is (columns, rows), Albumentations 1.4 takes (rows, columns); cells that differ "
        "by a pixel are not shuffled; no unit_size_range",
    ),
    "HueSaturationValue": Definition(
        tones.hue_saturation_value,
        {"hue_shift_limit": (-20, 20), "sat_shift_limit": (-30, 30), "val_shift_limit": (-20, 20)},
        limits={f"{n}_shift_limit": "both" for n in ("hue", "sat", "val")},
        differs="images of 3 channels; floating point is not rounded to bytes on its way",
    ),
    "ISONoise": Definition(
        noises.iso_noise,
        {"color_shift": (0.01, 0.05), "intensity": (0.1, 0.5)},
        differs="color_shift has no effect: Albumentations adds it to hues in degrees, where it changes no byte",
    ),
    "Illumination": Definition(
        light.illumination,
        {"mode": "linear", "intensity_range": (0.01, 0.2), "effect_type": "both", "angle_range": (0, 360)}
        | {"center_range": (0.1, 0.9), "sigma_range": (0.2, 1.0)},
    ),
    "Lambda": Definition(
        colors.user_functions,
        {"image": None, "mask": None, "keypoints": None, "bboxes": None, "name": None},
        1.0,
        differs="functions get the value alone; in a pipeline it is a value of the pipeline",
    ),
    "Morphological": Definition(
        colors.morphological, {"scale": (2, 3), "operation": "dilation"}, limits={"scale": "one"}, differs="boxes stay"
    ),
    "MotionBlur": Definition(
        kernels.motion_blur,
        {"blur_limit": 7, "allow_shifted": True, "angle_range": (0, 360), "direction_range": (-1.0, 1.0)},
        limits={"blur_limit": "three"},
        differs=_KERNELS,
    ),
    "MultiplicativeNoise": Definition(
        noises.multiplicative_noise,
        {"multiplier": (0.9, 1.1), "per_channel": False, "elementwise": False},
        differs="per_channel without elementwise needs 3 channels",
    ),
    "PixelDropout": Definition(
        noises.pixel_dropout,
        {"dropout_prob": 0.01, "per_channel": False, "drop_value": 0, "mask_drop_value": None},
        differs=_STAY + "; no random drop_value",
    ),
    "RandomCropFromBorders": Definition(
        crops.crop_from_borders, {f"crop_{n}": 0.1 for n in ("left", "right", "top", "bottom")}, 1.0
    ),
    "RandomCropNearBBox": Definition(
        crops.crop_near_box,
        {"max_part_shift": (0, 0.3), "cropping_bbox_key": "cropping_bbox"},
        1.0,
        limits={"max_part_shift": "zero"},
        differs="a window without pixels becomes one of one pixel",
    ),
    "RandomGamma": Definition(
        tones.gamma,
        {"gamma_limit": (80, 120)},
        limits={"gamma_limit": "one"},
        differs="results are rounded; Albumentations rounds bytes down",
    ),
    "RandomShadow": Definition(
        light.shadow,
        {"shadow_roi": (0, 0.5, 1, 1), "num_shadows_limit": (1, 2), "shadow_dimension": 5}
        | {"shadow_intensity_range": (0.5, 0.5)},
        differs="pixels whose center is on the edge of a shadow are not all in it",
    ),
    "RandomSnow": Definition(
        noises.snow,
        {"brightness_coeff": 2.5, "snow_point_range": (0.1, 0.3), "method": "bleach"},
        differs="method='bleach' alone; HLS is not rounded to bytes on the way",
    ),
    "RandomToneCurve": Definition(tones.tone_curve, {"scale": 0.1, "per_channel": False}, differs="no per_channel"),
    "RingingOvershoot": Definition(
        kernels.ringing_overshoot,
        {"blur_limit": (7, 15), "cutoff": (math.pi / 4, math.pi / 2)},
        limits={"blur_limit": "three"},
        differs="cutoff is one of 32 steps of its range",
    ),
    "SafeRotate": Definition(
        geometry.safe_rotate,
        {"limit": (-90, 90), **_INTERPOLATION, **_FILL},
        limits={"limit": "both"},
        differs=_ROTATES + "; boxes are not repeated at a reflected border",
    ),
    "Sharpen": Definition(
        kernels.sharpen,
        {"alpha": (0.2, 0.5), "lightness": (0.5, 1.0), "method": "kernel", "kernel_size": 5, "sigma": 1.0},
        differs="method='gaussian' does not wrap around where bytes become negative",
    ),
    "ShotNoise": Definition(noises.shot_noise, {"scale_range": (0.1, 0.3)}),
    "TimeMasking": Definition(holes.one_strip("x", "time_mask_param"), {"time_mask_param": 40}, differs=_STAY),
    "TimeReverse": Definition(geometry.flipped(1, 0), {}),
    "ToRGB": Definition(tones.to_rgb, {"num_output_channels": 3}, 1.0),
    "ToSepia": Definition(tones.sepia, {}, differs="images of 3 channels alone"),
    "UnsharpMask": Definition(
        tones.unsharp_mask,
        {"blur_limit": (3, 7), "sigma_limit": 0.0, "alpha": (0.2, 0.5), "threshold": 10},
        limits={"blur_limit": "three", "sigma_limit": "zero", "alpha": "zero"},
    ),
    "XYMasking": Definition(
        holes.xy_masking,
        {"num_masks_x": 0, "num_masks_y": 0, "mask_x_length": 0, "mask_y_length": 0, "fill": 0, "fill_mask": None},
        limits={n: "zero" for n in ("num_masks_x", "num_masks_y", "mask_x_length", "mask_y_length")},
        differs=_STAY,
    ),
    "FancyPCA": Definition(patterns.fancy_pca, {"alpha": 0.1}, differs="images of 3 channels alone"),
    "GlassBlur": Definition(functions.glass_blur, {"sigma": 0.7, "max_delta": 4, "iterations": 2, "mode": "fast"}),
    "GridElasticDeform": Definition(
        fields.grid_elastic,
        {"num_grid_xy": REQUIRED, "magnitude": REQUIRED, **_INTERPOLATION},
        1.0,
        differs="num_grid_xy is (columns, rows), of which Albumentations mixes up those that are not equal; no pixel at "
        "an edge of a cell is lost",
    ),
    "HistogramMatching": Definition(
        references.histogram_matching,
        {"reference_images": REQUIRED, "blend_ratio": (0.5, 1.0), "read_fn": None},
        differs="the histogram is of the reference as it is, not resized; images are uint8",
    ),
    "MaskDropout": Definition(
        patterns.mask_dropout,
        {"max_objects": (1, 1), "fill": 0, "fill_mask": 0},
        limits={"max_objects": "one"},
        differs="an object is what the first mask has in the box around a connected region; boxes and points stay; no "
        "fill='inpaint'",
    ),
    "PiecewiseAffine": Definition(
        fields.piecewise_affine,
        {"scale": (0.03, 0.05), "nb_rows": (4, 4), "nb_cols": (4, 4), **_INTERPOLATION, "absolute_scale": False},
        limits={"scale": "zero", "nb_rows": "same", "nb_cols": "same"},
        differs="points and boxes follow the pixels exactly; Albumentations moves them by one step toward it",
    ),
    "PixelDistributionAdaptation": Definition(
        references.pixel_distribution,
        {"reference_images": REQUIRED, "blend_ratio": (0.25, 1.0), "read_fn": None, "transform_type": "pca"},
        differs="transform_type='standard' or 'minmax' must be given; the reference is not resized; Albumentations 1.4 cuts "
        "the adapted image at 1 of 255, which darkens it",
    ),
    "PlasmaBrightnessContrast": Definition(
        patterns.plasma_brightness_contrast,
        {"brightness_range": (-0.3, 0.3), "contrast_range": (-0.3, 0.3), "plasma_size": 256, "roughness": 3.0},
        differs=_PLASMA,
    ),
    "PlasmaShadow": Definition(
        patterns.plasma_shadow,
        {"shadow_intensity_range": (0.3, 0.7), "plasma_size": 256, "roughness": 3.0},
        differs=_PLASMA,
    ),
    "RandomFog": Definition(weather.fog, {"alpha_coef": 0.08, "fog_coef_range": (0.3, 1)}),
    "RandomGravel": Definition(
        weather.gravel,
        {"gravel_roi": (0.1, 0.4, 0.9, 0.9), "number_of_patches": 2},
        differs="grains are round; HLS is not rounded to bytes on the way",
    ),
    "RandomGridShuffle": Definition(
        fields.grid_shuffle,
        {"grid": (3, 3)},
        differs="a point goes with the pixel that it is in; borders of boxes are between pixels",
    ),
    "RandomRain": Definition(
        weather.rain,
        {"slant_range": (-10, 10), "drop_length": 20, "drop_width": 1, "drop_color": (200, 200, 200), "blur_value": 7}
        | {"brightness_coefficient": 0.7, "rain_type": "default"},
        differs="drops have round ends; HSV is not rounded to bytes on the way",
    ),
    "RandomSunFlare": Definition(
        weather.sun_flare,
        {"flare_roi": (0, 0, 1, 0.5), "src_radius": 400, "src_color": (255, 255, 255), "angle_range": (0, 1)}
        | {"num_flare_circles_range": (6, 10), "method": "overlay"},
        differs="where circles overlap, a later one does not hide an earlier one; results are rounded once",
    ),
    "Spatter": Definition(
        patterns.spatter,
        {"mean": (0.65, 0.65), "std": (0.3, 0.3), "gauss_sigma": (2, 2), "cutout_threshold": (0.68, 0.68)}
        | {"intensity": (0.6, 0.6), "mode": "rain", "color": None},
        limits=dict.fromkeys(("mean", "std", "gauss_sigma", "cutout_threshold", "intensity"), "zero"),
        differs="drops of rain are lit by their depth in pixels; Albumentations looks at the distance from edges that "
        "cv2.Canny finds",
    ),
    "TemplateTransform": Definition(
        references.template,
        {"templates": REQUIRED, "img_weight": (0.5, 0.5), "template_transform": None, "name": None},
        limits={"img_weight": "zero"},
        differs="templates are resized by a triangular filter",
    ),
    "ThinPlateSpline": Definition(
        fields.thin_plate_spline,
        {"scale_range": (0.2, 0.4), "num_control_points": 4, **_INTERPOLATION},
        differs="points and boxes follow the pixels exactly; Albumentations moves them by one step toward it",
    ),
    "Transpose": Definition(geometry.transpose, {}),
    "VerticalFlip": Definition(geometry.flipped(0, 1), {}),
    "ZoomBlur": Definition(
        light.zoom_blur,
        {"max_factor": (1, 1.31), "step_factor": (0.01, 0.03)},
        limits={"max_factor": "one", "step_factor": "zero"},
        differs="enlarges about the middle exactly; Albumentations cuts and resizes in whole pixels",
    ),
    "CenterCrop3D": Definition(volumes.center_crop, {**_CROP_OF_VOLUME}, 1.0),
    "CoarseDropout3D": Definition(
        volumes.coarse_dropout,
        {"num_holes_range": (1, 1), **{f"hole_{side}_range": (0.1, 0.2) for side in ("depth", "height", "width")}}
        | {"fill": 0, "fill_mask": None},
        differs="masks have holes where fill_mask is given; Albumentations 1.4 fills them with fill; points under holes stay",
    ),
    "CubicSymmetry": Definition(volumes.cubic_symmetry, {}, 1.0),
    "OverlayElements": Definition(
        overlays.overlay,
        {"metadata_key": "overlay_metadata"},
        differs="a picture that does not fit takes its mask along; in a pipeline pictures, masks and boxes may be values, and "
        "p must be 1",
    ),
    "Pad3D": Definition(volumes.pad, {"padding": REQUIRED, "fill": 0, "fill_mask": 0}, 1.0),
    "PadIfNeeded3D": Definition(
        volumes.pad_if_needed,
        {"min_zyx": None, "pad_divisor_zyx": None, "position": "center", "fill": 0, "fill_mask": 0},
        1.0,
        differs="position='random' gives the size that is requested; Albumentations 1.4 draws the two sides apart",
    ),
    "PlanckianJitter": Definition(
        illuminants.planckian_jitter,
        {"mode": "blackbody", "temperature_limit": None, "sampling_method": "uniform"},
        differs="the colors of light are those of CIE's formulas in linear sRGB; the table of Albumentations 1.4 is up to 17 % "
        "nearer to white from 4000 K on, and has no blue at 3000 K",
    ),
    "RandomCrop3D": Definition(volumes.random_crop, {**_CROP_OF_VOLUME}, 1.0),
    "TextImage": Definition(
        overlays.text_image,
        {"font_path": REQUIRED, "stopwords": ("the", "is", "in", "at", "of"), "augmentations": (None,)}
        | {"fraction_range": (1.0, 1.0), "font_size_fraction_range": (0.8, 0.9), "font_color": "black"}
        | {"clear_bg": False, "metadata_key": "textimage_metadata"},
        differs="no clear_bg; images have 1 or 3 channels; Pillow draws, so in a pipeline it runs on the CPU, and p must be 1",
    ),
    "FDA": Definition(
        functions.fourier_adaptation,
        {"reference_images": REQUIRED, "beta_limit": (0, 0.1), "read_fn": None},
        limits={"beta_limit": "zero"},
        differs="results are rounded; Albumentations rounds bytes down; NumPy transforms, so in a pipeline it runs on the CPU",
    ),
    "Superpixels": Definition(
        functions.superpixels,
        {"p_replace": (0, 0.1), "n_segments": (100, 100), "max_size": 128, **_INTERPOLATION},
        limits={"p_replace": "zero", "n_segments": "one"},
        differs="the first segment is drawn as the others are; an image in which none is drawn is resized, too; NumPy computes, "
        "so in a pipeline it runs on the CPU",
    ),
}
