# SPDX-License-Identifier: Apache-2.0
"""penstock.dali.experimental.torchvision against torchvision: functions value by value, transforms by what they draw."""

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision_oracle import F as theirs
from torchvision_oracle import v2

import penstock
import penstock.dali.experimental.dynamic as ndd
from penstock.dali.experimental import torchvision as tv
from penstock.dali.experimental.torchvision.v2 import functional as F

RNG = np.random.default_rng(0)
ARRAY = RNG.integers(0, 256, (37, 52, 3), np.uint8)
TENSOR = torch.from_numpy(ARRAY.transpose(2, 0, 1).copy())
BATCH = torch.stack([TENSOR, TENSOR.flip(-1), 255 - TENSOR])
FLOATS = TENSOR.float() / 255
INTERP = v2.InterpolationMode
# name, arguments, keywords, the largest difference of bytes
CALLS = [
    ("horizontal_flip", (), {}, 0),
    ("vertical_flip", (), {}, 0),
    ("center_crop", (20,), {}, 0),
    ("center_crop", ([21, 30],), {}, 0),
    ("center_crop", ([50, 31],), {}, 0),
    ("crop", (3, 4, 10, 12), {}, 0),
    ("crop", (-3, 40, 20, 30), {}, 0),
    ("resize", ([20, 25],), {}, 1),
    ("resize", ([60, 75],), {}, 1),
    ("resize", ([16],), {}, 1),
    ("resize", ([30],), {"max_size": 40}, 1),
    ("resize", ([20, 25],), {"interpolation": INTERP.BICUBIC}, 1),
    ("resize", ([20, 25],), {"interpolation": INTERP.NEAREST_EXACT}, 0),
    ("resize", ([20, 75],), {"antialias": False}, 1),
    ("resized_crop", (3, 4, 20, 30, [16, 18]), {}, 1),
    ("pad", ([3],), {"fill": 7}, 0),
    ("pad", ([3, 5],), {"padding_mode": "edge"}, 0),
    ("pad", ([1, 2, 3, 4],), {"padding_mode": "reflect"}, 0),
    ("pad", ([1, 2, 3, 4],), {"padding_mode": "symmetric"}, 0),
    ("gaussian_blur", ([5, 7],), {"sigma": [1.0, 2.0]}, 1),
    ("gaussian_blur", ([5, 5],), {"sigma": 0.7}, 1),
    ("rgb_to_grayscale", (), {}, 1),
    ("rgb_to_grayscale", (3,), {}, 1),
    ("get_size", (), {}, 0),
    ("get_dimensions", (), {}, 0),
]


def close(got, expected, most):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    assert (got.double() - expected.double()).abs().max() <= most


@pytest.mark.parametrize(("name", "arguments", "keywords", "most"), CALLS, ids=lambda v: str(v))
def test_functions_are_torchvisions(name, arguments, keywords, most):
    for image, limit in ((TENSOR, most), (BATCH, most), (FLOATS, 2e-5 if most else 0)):
        expected = getattr(theirs, name)(image, *arguments, **keywords)
        got = getattr(F, name)(image, *arguments, **keywords)
        if isinstance(expected, list):
            assert got == expected
        else:
            close(got, expected, limit)


def test_normalize():
    mean, std = [0.5, 0.4, 0.3], [0.2, 0.3, 0.4]
    close(F.normalize(FLOATS, mean, std), theirs.normalize(FLOATS, mean, std), 1e-5)
    close(
        F.normalize(torch.stack([FLOATS] * 2), mean, std), theirs.normalize(torch.stack([FLOATS] * 2), mean, std), 1e-5
    )
    made = tv.Normalize([1.0], [2.0])(Image.fromarray(ARRAY))
    close(made, (TENSOR.float() - 1) / 2, 1e-5)


def test_what_goes_in_comes_out():
    picture = Image.fromarray(ARRAY)
    flipped = F.horizontal_flip(picture)
    assert isinstance(flipped, Image.Image) and (np.array(flipped) == ARRAY[:, ::-1]).all()
    gray = F.to_grayscale(picture)
    assert gray.mode == "L" and gray.size == picture.size and F.to_grayscale(gray, 3).mode == "RGB"
    assert (F.vertical_flip(ARRAY) == ARRAY[::-1]).all()
    one = F.crop(ndd.tensor(ARRAY, layout="HWC"), 1, 2, 3, 4)
    assert isinstance(one, ndd.Tensor) and (np.asarray(one) == ARRAY[1:4, 2:6]).all()
    several = F.resize(ndd.batch([ARRAY, ARRAY[:20]], layout="HWC"), [5, 6])
    assert isinstance(several, ndd.Batch) and several.shape == [(5, 6, 3)] * 2
    assert F.get_image_size(picture) == [52, 37] and F.get_dimensions(picture) == [3, 37, 52]
    assert torch.equal(F.pil_to_tensor(picture), TENSOR) and torch.equal(F.to_tensor(picture), FLOATS)
    assert (np.array(F.to_pil_image(TENSOR)) == ARRAY).all() and (np.array(F.to_pil_image(FLOATS)) == ARRAY).all()
    assert (np.array(F.to_pil_image(ARRAY, input_layout="HWC")) == ARRAY).all()


def test_compose():
    steps = tv.Compose([tv.Resize(24), tv.CenterCrop(20), tv.ToPureTensor(), tv.Normalize([0.0] * 3, [255.0] * 3)])
    expected = v2.Compose([v2.Resize(24), v2.CenterCrop(20)])(TENSOR).float() / 255
    close(steps(Image.fromarray(ARRAY)), expected, 1.01 / 255)
    close(steps(TENSOR), expected, 1.01 / 255)
    assert steps(BATCH).shape == (3, 3, 20, 20) and "CenterCrop" in repr(steps)
    there_and_back = tv.Compose([tv.PILToTensor(), tv.Pad(2, padding_mode="edge"), tv.ToPILImage()])(
        Image.fromarray(ARRAY)
    )
    assert (np.array(there_and_back) == np.pad(ARRAY, ((2, 2), (2, 2), (0, 0)), mode="edge")).all()


def many(transform, image=TENSOR, count=200):
    penstock.seed(3)
    try:
        return list(transform(torch.stack([image] * count)))
    finally:
        penstock.seed(None)


def test_draws_of_each_image():
    flips = [torch.equal(t, TENSOR.flip(-1)) for t in many(tv.RandomHorizontalFlip(0.3))]
    assert 0.2 < np.mean(flips) < 0.4
    assert {torch.equal(t, TENSOR.flip(-2)) for t in many(tv.RandomVerticalFlip(), count=20)} == {True, False}
    gray = [bool((t[0] == t[1]).all()) for t in many(tv.RandomGrayscale(0.5))]
    assert 0.35 < np.mean(gray) < 0.65
    both = [t for t in many(tv.RandomApply([tv.RandomHorizontalFlip(1.0), tv.RandomVerticalFlip(1.0)], 0.5))]
    assert {(torch.equal(t, TENSOR), torch.equal(t, TENSOR.flip(-1).flip(-2))) for t in both} == {
        (True, False),
        (False, True),
    }


def test_random_windows():
    index = torch.arange(37 * 52, dtype=torch.int32).reshape(1, 37, 52)
    starts = [divmod(int(t[0, 0, 0]), 52) for t in many(tv.RandomCrop((30, 40)), index, 400)]
    assert {y for y, _ in starts} == set(range(8)) and {x for _, x in starts} == set(range(13))
    assert all(t.shape == (3, 60, 70) for t in many(tv.RandomCrop((60, 70), pad_if_needed=True), count=3))
    assert many(tv.RandomCrop((37, 52), padding=2, padding_mode="reflect"), count=2)[0].shape == TENSOR.shape
    ramp = torch.linspace(0, 1, 52).expand(3, 37, 52).contiguous()
    widths = [float(t[0, 0, -1] - t[0, 0, 0]) for t in many(tv.RandomResizedCrop(16), ramp)]
    assert 0.1 < min(widths) < 0.4 < max(widths) <= 1.0
    assert all(torch.isfinite(t).all() for t in many(tv.ColorJitter(0.4, 0.4, 0.4, 0.1), FLOATS, 3))
    assert len({float(t.float().std()) for t in many(tv.GaussianBlur(5, (0.1, 3.0)), count=20)}) > 10


@pytest.mark.parametrize(
    ("kind", "message", "call"),
    [
        (ValueError, "box", lambda: F.resize(TENSOR, [3, 3], interpolation="box")),
        (ValueError, "max_size must be larger", lambda: tv.Resize(30, max_size=20)),
        (ValueError, "positive integer or a pair", lambda: tv.CenterCrop(0)),
        (ValueError, "padding has 1, 2 or 4", lambda: tv.Pad([1, 2, 3])),
        (ValueError, "padding_mode must be", lambda: F.pad(TENSOR, 1, padding_mode="wrap")),
        (ValueError, "larger than the image", lambda: tv.RandomCrop(100)(TENSOR)),
        (ValueError, "odd and positive", lambda: F.gaussian_blur(TENSOR, 4)),
        (ValueError, "std must not be 0", lambda: F.normalize(FLOATS, [0.0], [0.0])),
        (ValueError, "for each of 3 channels", lambda: F.normalize(FLOATS, [0.0] * 2, [1.0])),
        (ValueError, "must be 1 or 3", lambda: tv.Grayscale(2)),
        (ValueError, "p must be from 0 to 1", lambda: tv.RandomApply([], 2)),
        (ValueError, 'device must be "cpu" or "gpu"', lambda: tv.Resize(3, device="tpu")),
        (TypeError, "an image is one of Pillow", lambda: F.horizontal_flip("photo.jpg")),
        (TypeError, "takes an image of Pillow", lambda: F.pil_to_tensor(TENSOR)),
        (TypeError, "takes transforms", lambda: tv.Compose([3])),
        (TypeError, "Pillow holds uint8", lambda: F.normalize(Image.fromarray(ARRAY), [0.0], [1.0])),
    ],
)
def test_refusals(kind, message, call):
    with pytest.raises(kind, match=message):
        call()


def test_dalis_names():
    penstock.dali.install()
    try:
        import nvidia.dali.experimental.torchvision.v2.functional as functional
        from nvidia.dali.experimental.torchvision import Compose
    finally:
        penstock.dali.uninstall()
    assert functional is F and Compose is tv.Compose and len(tv.__all__) == 18 and len(F.__all__) == 17
