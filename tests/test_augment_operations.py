# SPDX-License-Identifier: Apache-2.0
"""penstock.augment and the operators under it against torchvision's functions with the same numbers, within 1 of 255."""

import numpy as np
import pytest
import torch
from torchvision_oracle import F, chw, hwc, v2

from penstock import augment, fn
from penstock.augment import adjustments, geometry, magnitudes, operations

RNG = np.random.default_rng(0)


def picture(height, width):
    """Waves with noise: neither flat nor white."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 100 * np.sin(x / 7 + y / 11 + c) + 20 * RNG.standard_normal((height, width)) for c in range(3)]
    return np.clip(np.stack(waves, -1), 0, 255).astype(np.uint8)


PICTURES = [picture(37, 53), picture(64, 48), picture(3, 3), picture(1, 5), np.full((9, 4, 3), 77, np.uint8)]
FUNCTIONS = [
    (fn.invert, F.invert, [{}]),
    (fn.solarize, F.solarize, [{"threshold": t} for t in (0.0, 127.5, 128.0, 255.0)]),
    (fn.posterize, F.posterize, [{"bits": n} for n in range(9)]),
    (fn.grayscale, F.rgb_to_grayscale, [{"num_output_channels": n} for n in (1, 3)]),
    (fn.autocontrast, F.autocontrast, [{}]),
    (lambda x: fn.equalize(x, rule="pillow"), F.equalize, [{}]),
    (fn.adjust_saturation, F.adjust_saturation, [{"saturation_factor": v} for v in (0.0, 0.3, 1.0, 1.9)]),
    (fn.adjust_sharpness, F.adjust_sharpness, [{"sharpness_factor": v} for v in (0.0, 0.3, 1.0, 1.9, 5.0)]),
    (fn.adjust_hue, F.adjust_hue, [{"hue_factor": v} for v in (-0.5, -0.2, 0.0, 0.1, 0.37, 0.5)]),
    (
        lambda x, contrast_factor: adjustments.adjust_contrast(x, contrast_factor),
        F.adjust_contrast,
        [{"contrast_factor": v} for v in (0.0, 0.3, 1.0, 1.9)],
    ),
]


@pytest.mark.parametrize("ours, theirs, calls", FUNCTIONS, ids=[f[1].__name__ for f in FUNCTIONS])
def test_functions_of_bytes(ours, theirs, calls):
    for image in PICTURES:
        for arguments in calls:
            want = hwc(theirs(chw(image), **arguments)).astype(int)
            assert np.abs(ours(image, **arguments).astype(int) - want).max() <= 1, arguments


OF_FLOATS = [f for f in FUNCTIONS if f[1] is not F.equalize]  # which takes bytes


@pytest.mark.parametrize("ours, theirs, calls", OF_FLOATS, ids=[f[1].__name__ for f in OF_FLOATS])
def test_functions_of_float32(ours, theirs, calls):
    for image in PICTURES:
        x = image.astype(np.float32) / 255
        for arguments in calls:
            if "threshold" in arguments:
                arguments = {"threshold": arguments["threshold"] / 255}
            want = hwc(theirs(chw(x), **arguments))
            got = ours(x, **arguments)
            # torchvision clamps; here floating point keeps what leaves 0 to 1.
            np.testing.assert_allclose(np.clip(got, 0, 1), want, atol=2e-6, err_msg=str(arguments))


SPACES = {
    "RandAugment": (magnitudes.of_rand_augment(31), 31),
    "RandAugment 7": (magnitudes.of_rand_augment(7), 7),
    "TrivialAugmentWide": (magnitudes.of_trivial_augment(31), 31),
    "AutoAugment": (magnitudes.of_auto_augment(), 10),
    "AugMix": (magnitudes.of_aug_mix(True), 10),
}


def near_a_border(height, width, name, magnitude):
    """Where the position is between two pixels up to float32's rounding: either is the nearest one."""
    y, x = np.mgrid[0:height, 0:width] + 0.5
    if name == "ShearX":
        at = [x + magnitude * y]
    elif name == "ShearY":
        at = [y + magnitude * x]
    elif name == "Rotate":
        c, s = np.cos(np.deg2rad(magnitude)), np.sin(np.deg2rad(magnitude))
        x, y = x - width / 2, y - height / 2
        at = [c * x - s * y + width / 2, s * x + c * y + height / 2]
    else:
        return np.zeros((height, width), bool)
    return np.any([np.abs(v - np.round(v)) < 2e-4 for v in at], 0)


@pytest.mark.parametrize("space", SPACES)
def test_every_operation_of_every_magnitude(space):
    ours, count = SPACES[space]
    theirs = getattr(v2, space.split()[0])()
    table = theirs._AUGMENTATION_SPACE
    assert {o.name for o in ours} == set(table)
    for image in (PICTURES[0], PICTURES[2]):
        height, width = image.shape[:2]
        for operation in ours:
            make, signed = table[operation.name]
            listed = make(count, height, width)
            assert operation.signed == signed and operation.count == (0 if listed is None else count)
            for place in range(operation.count or 1):
                for sign in (1, -1) if signed else (1,):
                    magnitude = operations.strength(image, operation, place, sign)
                    if operation.name.startswith("Translate"):
                        assert magnitude == sign * int(float(listed[place]) * (1 + 1e-6)), operation
                    elif operation.count:
                        assert abs(magnitude - float(listed[place]) * sign) < 1e-5, operation
                    moves = operation.name.startswith(("Shear", "Translate", "Rotate"))
                    for number, kind in enumerate(("nearest", "bilinear") if moves else ("nearest",)):
                        got = operations.operated(image, operation.name, magnitude, number).astype(int)
                        want = theirs._apply_image_or_video_transform(
                            chw(image), operation.name, magnitude, kind, theirs._fill
                        )
                        off = np.abs(got - hwc(want).astype(int)).max(-1)
                        if kind == "nearest":
                            off[near_a_border(height, width, operation.name, magnitude)] = 0
                        assert off.max() <= 1, (operation.name, magnitude, kind)


@pytest.mark.parametrize("policy", ["imagenet", "cifar10", "svhn"])
def test_policies_are_torchvisions(policy):
    theirs = v2.AutoAugment(v2.AutoAugmentPolicy(policy))._policies
    assert magnitudes.policies(policy) == [tuple(tuple(step) for step in pair) for pair in theirs]


def test_fill_for_each_channel():
    image = PICTURES[0]
    fill = [1.0, 200.0, 3.0]
    for name, magnitude in (("ShearX", 0.2), ("TranslateY", 7.0), ("Rotate", 30.0)):
        for number, kind in enumerate(("nearest", "bilinear")):
            got = operations.operated(image, name, magnitude, number, fill).astype(int)
            theirs = v2.RandAugment(interpolation=kind, fill=fill)
            want = theirs._apply_image_or_video_transform(chw(image), name, magnitude, kind, theirs._fill)
            off = np.abs(got - hwc(want).astype(int)).max(-1)
            share = operations.operated(np.ones(image.shape, np.float32), name, magnitude, number, 0)[..., 0]
            off[(share > 0) & (share < 1)] = 0  # torchvision mixes the fill in twice there
            if kind == "nearest":
                off[near_a_border(*image.shape[:2], name, magnitude)] = 0
            assert off.max() <= 1, (name, kind)


AFFINES = [
    (30.0, (0.0, 0.0), 1.0, (0.0, 0.0)),
    (-75.0, (4.0, -3.0), 1.3, (10.0, 0.0)),
    (10.0, (-5.0, 2.0), 0.7, (-8.0, 15.0)),
    (0.0, (0.0, 0.0), 0.9, (0.0, 20.0)),
]


@pytest.mark.parametrize("angle, translate, scale, shear", AFFINES)
@pytest.mark.parametrize("center", [None, (10.0, 5.0)])
def test_affine(angle, translate, scale, shear, center):
    for image in PICTURES[:2]:
        height, width = image.shape[:2]
        middle = (width / 2, height / 2) if center is None else center
        matrix = adjustments.affine_matrix(angle, translate, scale, shear, middle)
        got = adjustments.warped(image, matrix, 1, 0).astype(int)
        want = F.affine(
            chw(image),
            angle,
            list(translate),
            scale,
            list(shear),
            "bilinear",
            center=None if center is None else list(center),
        )
        assert np.abs(got - hwc(want).astype(int)).max() <= 1


CORNERS = [
    [(3, 4), (50, 1), (44, 30), (2, 33)],
    [(0, 0), (52, 0), (52, 36), (0, 36)],
    [(10, 0), (40, 3), (52, 36), (0, 20)],
]


@pytest.mark.parametrize("corners", CORNERS)
def test_perspective(corners):
    image = PICTURES[0]
    height, width = image.shape[:2]
    ends = [[float(x), float(y)] for x, y in corners]
    starts = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    matrix = geometry.perspective_matrix(ends, width, height)
    got = fn.warp_perspective(image, matrix=matrix, inverse_map=False, fill_value=[0.0]).astype(int)
    want = hwc(F.perspective(chw(image), starts, [[int(v) for v in end] for end in ends])).astype(int)
    assert np.abs(got - want).max() <= 1


@pytest.mark.parametrize("size, sigma", [(3, 0.1), (5, 0.8), (7, 2.0)])
def test_gaussian_blur(size, sigma):
    for image in PICTURES[:2]:
        want = hwc(F.gaussian_blur(chw(image), [size, size], [sigma, sigma])).astype(int)
        assert np.abs(augment.gaussian_blur(image, size, sigma).astype(int) - want).max() <= 1


def test_gaussian_blur_of_two_sizes():
    want = hwc(F.gaussian_blur(chw(PICTURES[0]), [7, 3], [1.0, 1.0])).astype(int)
    assert np.abs(augment.gaussian_blur(PICTURES[0], (7, 3), 1.0).astype(int) - want).max() <= 1


def test_equalize_by_both_rules():
    """Where they differ: OpenCV's counts the value itself and not the smallest one, Pillow's the smaller ones."""
    plane = np.repeat(np.uint8([0, 100, 200]), [10, 80, 10]).repeat(10).reshape(20, 50)
    assert np.unique(fn.equalize(plane)).tolist() == [0, 227, 255]
    assert np.unique(fn.equalize(plane, rule="pillow")).tolist() == [0, 33, 255]
    assert np.unique(F.equalize(torch.from_numpy(plane[None]))).tolist() == [0, 33, 255]
    with pytest.raises(ValueError, match='rule must be "opencv" or "pillow", got "pil"'):
        fn.equalize(plane, rule="pil")
