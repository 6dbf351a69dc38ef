# SPDX-License-Identifier: Apache-2.0
"""cvcuda.tv against torchvision: the same functions on the same tensors."""

import numpy as np
import penstock.cvcuda as cvcuda
import pytest
import torch
from penstock.cvcuda import tv
from torchvision_oracle import F, v2

Mode = v2.InterpolationMode
torch.manual_seed(0)
BYTES = torch.randint(0, 256, (2, 3, 37, 53), dtype=torch.uint8)
SHIFTS = (torch.rand(1, 37, 53, 2) - 0.5) * 0.1
CORNERS = [[0, 0], [52, 0], [52, 36], [0, 36]], [[3, 2], [50, 1], [49, 33], [2, 30]]
# function, arguments, the largest difference of bytes, the largest part of the values that may differ by more
CALLS = [
    ("invert", {}, 0, 0),
    ("permute_channels", {"permutation": [2, 0, -2]}, 0, 0),
    ("rgb_to_grayscale", {}, 0, 0),
    ("rgb_to_grayscale", {"num_output_channels": 3}, 0, 0),
    ("adjust_brightness", {"brightness_factor": 1.3}, 0, 0),
    ("adjust_contrast", {"contrast_factor": 0.4}, 1, 0),
    ("adjust_saturation", {"saturation_factor": 1.7}, 1, 0),
    ("adjust_hue", {"hue_factor": 0.2}, 1, 0),
    ("adjust_gamma", {"gamma": 0.7, "gain": 1.1}, 0, 0),
    ("adjust_sharpness", {"sharpness_factor": 1.9}, 1, 0),
    ("posterize", {"bits": 3}, 0, 0),
    ("autocontrast", {}, 1, 0),
    ("horizontal_flip", {}, 0, 0),
    ("vertical_flip", {}, 0, 0),
    ("crop", {"top": -2, "left": 5, "height": 30, "width": 60}, 0, 0),
    ("center_crop", {"output_size": [50, 20]}, 0, 0),
    ("center_crop", {"output_size": [20, 61]}, 0, 0),
    ("pad", {"padding": [1, 2, 3, 4], "fill": 7}, 0, 0),
    *(("pad", {"padding": [2, 3], "padding_mode": mode}, 0, 0) for mode in ("edge", "reflect", "symmetric")),
    *(("resize", {"size": [20, 71], "interpolation": m}, 1, 0) for m in (Mode.NEAREST, Mode.NEAREST_EXACT)),
    ("resize", {"size": [24], "max_size": 30}, 1, 0),
    ("resized_crop", {"top": 1, "left": 2, "height": 20, "width": 30, "size": [10, 12]}, 1, 0),
    ("gaussian_blur", {"kernel_size": [5, 3]}, 1, 0),
    ("rotate", {"angle": 31.0, "expand": True, "fill": 3.0}, 0, 0.02),
    ("rotate", {"angle": 12.0, "center": [3, 5], "interpolation": Mode.BILINEAR}, 1, 0),
    (
        "affine",
        {"angle": 20.0, "translate": [3, -2], "scale": 1.2, "shear": [5.0, 8.0], "interpolation": Mode.BILINEAR},
        1,
        0,
    ),
    ("perspective", {"startpoints": CORNERS[0], "endpoints": CORNERS[1]}, 1, 0),
    ("elastic", {"displacement": SHIFTS}, 1, 0),
    ("five_crop", {"size": [10, 12]}, 0, 0),
    ("ten_crop", {"size": [10, 12]}, 0, 0),
    *(("to_dtype", {"dtype": d, "scale": True}, 0, 0) for d in (torch.float32, torch.uint8, torch.int16)),
]


@pytest.mark.parametrize("kind", ["bytes", "floats"])
@pytest.mark.parametrize("name, given, most, part", CALLS)
def test_a_function_gives_torchvisions_values(name, given, most, part, kind):
    image = BYTES if kind == "bytes" else BYTES.float() / 255
    most = most if kind == "bytes" else 1e-5
    result, expected = getattr(tv, name)(image, **given), getattr(F, name)(image, **given)
    pairs = zip(result, expected, strict=True) if isinstance(expected, tuple) else [(result, expected)]
    for a, b in pairs:
        assert a.shape == b.shape and a.dtype == b.dtype
        assert ((a.double() - b.double()).abs() > most).double().mean() <= part


def test_functions_of_one_type_give_torchvisions_values():
    floats, gray = BYTES.float() / 255, BYTES[:, :1].contiguous()
    torch.testing.assert_close(
        tv.normalize(floats, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]), F.normalize(floats, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    )
    assert torch.equal(tv.grayscale_to_rgb(gray), F.grayscale_to_rgb(gray))
    assert torch.equal(tv.equalize(BYTES), F.equalize(BYTES))
    assert torch.equal(tv.solarize(BYTES, 100), F.solarize(BYTES, 100))
    value = torch.tensor([1.0, 2.0, 3.0])[:, None, None]
    assert torch.equal(tv.erase(floats, 1, 2, 5, 6, value), F.erase(floats, 1, 2, 5, 6, value))
    assert tv.jpeg(BYTES, 50).shape == BYTES.shape
    noisy = [tv.gaussian_noise(floats, 0.0, 0.2, seed=4) for _ in range(2)]
    assert torch.equal(*noisy) and noisy[0].min() >= 0 and noisy[0].max() <= 1 and not torch.equal(noisy[0], floats)
    copy = floats.clone()
    assert tv.normalize(cvcuda.as_tensor(copy, "NCHW"), 0.5, 0.5, inplace=True) is not None
    torch.testing.assert_close(copy, floats * 2 - 1)


# torch's weights of bicubic interpolation without antialiasing have a = -0.75
@pytest.mark.parametrize("mode, antialias", [(Mode.BILINEAR, True), (Mode.BILINEAR, False), (Mode.BICUBIC, True)])
def test_resize_gives_torchvisions_values_of_floating_point(mode, antialias):
    floats = BYTES.float() / 255
    given = {"interpolation": mode, "antialias": antialias}
    torch.testing.assert_close(
        tv.resize(floats, [20, 71], **given), F.resize(floats, [20, 71], **given), atol=1e-5, rtol=0
    )


def test_compose_draws_as_torchvision_does():
    transforms = [
        v2.RandomResizedCrop(24),
        v2.RandomHorizontalFlip(),
        v2.ColorJitter(0.2, 0.2),
        v2.RandomRotation(20),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize([0.5] * 3, [0.25] * 3),
    ]
    for seed in range(4):
        torch.manual_seed(seed)
        ours = tv.Compose(transforms)(BYTES)
        torch.manual_seed(seed)
        theirs = v2.Compose(transforms)(BYTES)
        assert type(ours) is torch.Tensor and ours.shape == theirs.shape
        assert ((ours - theirs).abs() > 2 / 255 / 0.25).double().mean() < 0.02


def test_compose_keeps_the_kind_and_the_layout_of_its_input():
    image = cvcuda.as_tensor(np.zeros((20, 30, 3), np.uint8), "HWC")
    result = tv.Compose([v2.Resize([8, 9])])(image)
    assert isinstance(result, cvcuda.Tensor) and result.shape == (8, 9, 3) and result.layout == "HWC"
    assert len(tv.Compose([v2.FiveCrop(4)])(BYTES)) == 5
    for wrong in ([], [lambda x: x], None):
        with pytest.raises(TypeError):
            tv.Compose(wrong)


def test_wrong_calls_say_what_is_wrong():
    for call, words in (
        (lambda: tv.normalize(BYTES, 0.5, 0.5), "to_dtype"),
        (lambda: tv.invert(np.zeros((3, 4, 4))), "cvcuda.Tensor or a torch.Tensor"),
        (lambda: tv.invert(torch.zeros(4, 4)), r"\(C, H, W\)"),
        (lambda: tv.rotate(BYTES, 3.0, "lanczos"), "nearest, bilinear or bicubic"),
        (lambda: tv.adjust_hue(BYTES, 0.7), "from -0.5 to 0.5"),
        (lambda: tv.gaussian_blur(BYTES, 4), "odd and positive"),
        (lambda: tv.five_crop(BYTES, 60), "larger than the image"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()
