# SPDX-License-Identifier: Apache-2.0
"""resize with compat= and INTERP_AREA beside cv2.resize, Pillow and torchvision, over random sizes, types and channels."""

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from torchvision_oracle import F

import penstock
from penstock import fn

CASES = 200  # of each filter
OPENCV = {
    "nearest": cv2.INTER_NEAREST,
    "linear": cv2.INTER_LINEAR,
    "cubic": cv2.INTER_CUBIC,
    "lanczos3": cv2.INTER_LANCZOS4,
    "area": cv2.INTER_AREA,
}
# The largest difference of a byte, and the share of bytes that differ; the page of the operator says them.
BYTES = {"nearest": (0, 0), "linear": (1, 0.15), "cubic": (1, 0.02), "lanczos3": (1, 0.03), "area": (1, 0.08)}


def picture(rng, dtype, channels=None, largest=60):
    h, w = rng.integers(1, largest, 2)
    c = rng.choice([1, 2, 3, 4]) if channels is None else channels
    x = rng.integers(0, 256, (h, w, c)) if dtype == "uint8" else rng.random((h, w, c)) * 65535
    return x.astype(dtype)


def by_opencv(x, size, how):
    y = cv2.resize(x, (int(size[1]), int(size[0])), interpolation=how)
    return y.reshape(y.shape[:2] + (-1,))


@pytest.mark.parametrize("name", OPENCV)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_resize_is_opencv(name, dtype):
    rng = np.random.default_rng(list(OPENCV).index(name))
    worst, differing, count = 0.0, 0, 0
    for _ in range(CASES if dtype == "uint8" else CASES // 2):
        x = picture(rng, dtype)
        size = rng.integers(1, 90, 2)
        y = fn.resize(x, size=size.astype(np.float32), interp_type=name, compat="opencv").astype(np.float64)
        apart = np.abs(y - by_opencv(x, size, OPENCV[name]))
        worst, differing, count = max(worst, apart.max()), differing + (apart > 0).sum(), count + apart.size
        assert worst <= {"uint8": 1, "uint16": 1, "float32": 0.5}[dtype], (x.shape, size)
    if dtype == "uint8":
        assert worst <= BYTES[name][0] and differing <= BYTES[name][1] * count, (worst, differing / count)


@pytest.mark.parametrize("factors", [(2, 2), (4, 4), (3, 3), (2, 4), (5, 3), (7, 7), (1, 1), (8, 8)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_means_of_whole_pixels_are_opencvs(factors, dtype):
    rng = np.random.default_rng(1)
    for _ in range(13):
        n, c = rng.integers(1, 40, 2), int(rng.choice([1, 2, 3, 4]))
        x = rng.integers(0, 1000 if dtype == "uint16" else 256, (n[0] * factors[0], n[1] * factors[1], c)).astype(dtype)
        y = fn.resize(x, size=n.astype(np.float32), interp_type="area")
        np.testing.assert_array_equal(y, by_opencv(x, n, cv2.INTER_AREA), f"{x.shape} {n}")


def test_an_even_area_that_is_no_power_of_two_differs_in_halves_alone():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 256, (600, 600, 3), np.uint8)
    for n, share in ((100, 0.03), (60, 0.01), (50, 0.01)):
        y = fn.resize(x, size=[n, n], interp_type="area").astype(int)
        apart = np.abs(y - cv2.resize(x, (n, n), interpolation=cv2.INTER_AREA))
        assert apart.max() <= 1 and (apart > 0).mean() <= share


@pytest.mark.parametrize("layout", ["HW", "CHW", "FHWC"])
def test_an_area_of_other_layouts(layout):
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (40, 60, 3), np.uint8)
    exact = cv2.resize(x, (30, 20), interpolation=cv2.INTER_AREA)
    views = {"HW": x[:, :, 0], "CHW": x.transpose(2, 0, 1), "FHWC": np.stack([x, x])}
    y = fn.resize(penstock.tensor(views[layout], layout=layout), size=[20, 30], interp_type="area").numpy()
    wanted = {"HW": exact[:, :, 0], "CHW": exact.transpose(2, 0, 1), "FHWC": np.stack([exact, exact])}
    np.testing.assert_array_equal(y, wanted[layout])


def test_an_area_per_sample_and_mirrored():
    x = np.random.default_rng(4).integers(0, 256, (40, 60, 3), np.uint8)
    how = penstock.per_sample([np.int32(8), np.int32(1)])
    area, linear = (b.numpy() for b in fn.resize([x, x], size=[20, 30], interp_type=how))
    np.testing.assert_array_equal(area, cv2.resize(x, (30, 20), interpolation=cv2.INTER_AREA))
    np.testing.assert_array_equal(linear, fn.resize(x, size=[20, 30]))
    mirrored = fn.resize(x, size=[-20, 30], interp_type="area")
    np.testing.assert_array_equal(mirrored, area[::-1])


@pytest.mark.parametrize("name, pillow", [("box", "BOX"), ("hamming", "HAMMING"), ("cubic", "BICUBIC")])
def test_bytes_are_pillows(name, pillow):
    """Pillow rounds to bytes between the axes: one axis at a time is the same but for halves."""
    rng = np.random.default_rng(5)
    for _ in range(CASES):
        x = picture(rng, "uint8", 3)
        size = [x.shape[0], int(rng.integers(1, 90))]
        y = fn.resize(x, size=size, interp_type=name, compat="pillow").astype(int)
        apart = np.abs(y - np.asarray(Image.fromarray(x).resize(size[::-1], getattr(Image.Resampling, pillow))))
        assert apart.max() <= 1 and (apart > 0).mean() <= 0.35, (x.shape, size)
        whole = fn.resize(x, size=size, interp_type=name, compat="pillow", dtype="float32")
        assert apart[np.abs(whole - np.floor(whole) - 0.5) > 1e-3].max(initial=0) == 0, (x.shape, size)


@pytest.mark.parametrize("name, mode", [("nearest", "NEAREST"), ("linear", "BILINEAR"), ("cubic", "BICUBIC")])
@pytest.mark.parametrize("antialias", [False, True])
def test_resize_is_torchvision(name, mode, antialias):
    rng = np.random.default_rng(6)
    for _ in range(CASES // 2):
        x = picture(rng, "float32", 3)
        size = rng.integers(1, 90, 2)
        y = fn.resize(x, size=size.astype(np.float32), interp_type=name, compat="torchvision", antialias=antialias)
        planes = torch.from_numpy(x).permute(2, 0, 1)
        exact = F.resize(planes, size.tolist(), getattr(F.InterpolationMode, mode), antialias=antialias)
        np.testing.assert_allclose(y, exact.permute(1, 2, 0), atol=0 if name == "nearest" else 0.5)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"compat": "PIL"}, "compat must be 'opencv', 'torchvision' or 'pillow', got 'PIL'"),
        ({"compat": "opencv", "outside": "cut"}, "compat='opencv' has another rule than outside='cut'"),
        ({"compat": "pillow", "antialias": False}, "compat='pillow' is antialiased"),
        ({"interp_type": 9}, r"8 \(area\), got 9"),
    ],
)
def test_wrong_peers_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        fn.resize(np.zeros((4, 4, 3), np.uint8), size=[2, 2], **arguments)
