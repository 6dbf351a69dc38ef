# SPDX-License-Identifier: Apache-2.0
"""resize with compat= and INTERP_AREA beside cv2.resize, Pillow and torchvision, over random sizes, types and channels."""

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from torchvision_oracle import F

import penstock
from penstock import fn, pipeline_def

CASES = 200  # of each filter
OPENCV = {
    "nearest": cv2.INTER_NEAREST,
    "linear": cv2.INTER_LINEAR,
    "cubic": cv2.INTER_CUBIC,
    "lanczos3": cv2.INTER_LANCZOS4,
    "area": cv2.INTER_AREA,
}
# The largest difference of a byte, and the share of bytes that differ, of float32 sums; the page of the operator says them.
BYTES = {"nearest": (0, 0), "linear": (1, 0.15), "cubic": (1, 0.02), "lanczos3": (1, 0.03), "area": (1, 0.08)}
EXACT = ["linear", "cubic", "lanczos3", "area"]


@pytest.fixture
def own_code():
    """OpenCV's own code computes, not IPP."""
    used = cv2.ipp.useIPP()
    cv2.ipp.setUseIPP(False)
    yield
    cv2.ipp.setUseIPP(used)


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
        given = {"weights": "float32"} if name in EXACT else {}
        y = fn.resize(x, size=size.astype(np.float32), interp_type=name, compat="opencv", **given).astype(np.float64)
        apart = np.abs(y - by_opencv(x, size, OPENCV[name]))
        worst, differing, count = max(worst, apart.max()), differing + (apart > 0).sum(), count + apart.size
        assert worst <= {"uint8": 1, "uint16": 1, "float32": 0.5}[dtype], (x.shape, size)
    if dtype == "uint8":
        assert worst <= BYTES[name][0] and differing <= BYTES[name][1] * count, (worst, differing / count)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64"])
def test_values_are_opencvs(own_code, name, dtype):
    rng = np.random.default_rng(10)
    for _ in range(CASES if dtype == "uint8" else CASES // 4):
        x, size = (
            picture(rng, "float32").clip(0, 255 if dtype == "uint8" else 32767).astype(dtype),
            rng.integers(1, 90, 2),
        )
        x = picture(rng, dtype) if dtype == "uint8" else x
        if name in ("linear", "area") and dtype != "uint8" and not (x.shape[:2] % size).any():
            continue  # OpenCV makes means of whole pixels, in another order
        y = fn.resize(x, size=size.astype(np.float32), interp_type=name, compat="opencv")
        np.testing.assert_array_equal(y, by_opencv(x, size, OPENCV[name]), f"{x.shape} {size}")


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_linear_exact_is_opencvs(own_code, dtype):
    """Also where each side is halved, of which OpenCV makes means, and where one side is not."""
    rng = np.random.default_rng(15)
    for k in range(CASES if dtype == "uint8" else CASES // 2):
        (h, w), size, c = rng.integers(1, 60, 2), rng.integers(1, 90, 2), int(rng.integers(1, 7))
        if k % 4 == 0:
            h, w = size[0] * 2, size[1] * (2 if k % 8 else 1)
        low, high = (0, 1) if dtype == "float32" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        x = rng.uniform(low, high, (h, w, c)).astype(dtype)
        if dtype == "float32" and not ((h, w) % size).any():
            continue  # OpenCV makes means of whole pixels, in another order
        y = fn.resize(x, size=size.astype(np.float32), interp_type="linear_exact", compat="opencv")
        np.testing.assert_array_equal(y, by_opencv(x, size, cv2.INTER_LINEAR_EXACT), f"{x.shape} {size}")


@pytest.mark.parametrize("name", ["linear", "area", "linear_exact"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16"])
def test_halves_are_opencvs(own_code, name, dtype):
    rng, limits = np.random.default_rng(17), np.iinfo(dtype)
    for channels in (1, 2, 3, 4, 5, 8):
        for _ in range(5):
            n = rng.integers(1, 40, 2)
            x = rng.integers(limits.min, limits.max, (*2 * n, channels), dtype, endpoint=True)
            y = fn.resize(x, size=n.astype(np.float32), interp_type=name, compat="opencv")
            np.testing.assert_array_equal(y, by_opencv(x, n, OPENCV.get(name, cv2.INTER_LINEAR_EXACT)), f"{x.shape}")


def test_linear_exact_in_layouts_and_regions():
    rng = np.random.default_rng(16)
    x = rng.integers(0, 256, (21, 34, 3), np.uint8)
    wanted = by_opencv(x, [30, 17], cv2.INTER_LINEAR_EXACT)
    given = {"size": [30, 17], "interp_type": "linear_exact", "compat": "opencv"}
    for layout, axes in (("HWC", (0, 1, 2)), ("CHW", (2, 0, 1))):
        y = fn.resize(penstock.tensor(np.ascontiguousarray(x.transpose(axes)), layout=layout), **given)
        np.testing.assert_array_equal(y.numpy(), wanted.transpose(axes))
    y = fn.resize(penstock.tensor(np.stack([x, x[::-1]]), layout="FHWC"), **given).numpy()
    np.testing.assert_array_equal(y, [wanted, by_opencv(x[::-1].copy(), [30, 17], cv2.INTER_LINEAR_EXACT)])
    mirrored = fn.resize(x, roi_start=[0, 34], roi_end=[21, 0], **given)
    np.testing.assert_array_equal(mirrored, by_opencv(x[:, ::-1].copy(), [30, 17], cv2.INTER_LINEAR_EXACT))
    floats = fn.resize(x, dtype="float32", **given)
    np.testing.assert_array_equal(floats, wanted.astype(np.float32))


def test_linear_exact_of_an_input_whose_type_is_not_known_yet():
    @pipeline_def(batch_size=1, num_threads=1)
    def resized():
        x = fn.external_source(name="images", layout="HWC")
        return fn.resize(x, size=[5, 7], interp_type="linear_exact", compat="opencv")

    call = resized().compile()
    x = np.random.default_rng(18).integers(0, 1 << 16, (9, 11, 3), np.uint16)
    np.testing.assert_array_equal(call([x])[0][0].numpy(), by_opencv(x, [5, 7], cv2.INTER_LINEAR_EXACT))
    with pytest.raises(TypeError, match="got int32"):
        call([x.astype(np.int32)])


@pytest.mark.parametrize(
    "dtype, given, error",
    [
        ("int32", {"compat": "opencv"}, "linear_exact resizes uint8, uint16, int16 and floats, got int32"),
        ("uint8", {}, "linear_exact.* is for resize with compat='opencv'"),
        ("uint8", {"compat": "torchvision"}, "linear_exact.* is for resize with compat='opencv'"),
        ("uint8", {"compat": "opencv", "weights": "float32"}, "linear_exact.* without weights"),
    ],
)
def test_what_linear_exact_refuses(dtype, given, error):
    with pytest.raises((ValueError, TypeError), match=error):
        fn.resize(np.zeros((4, 4, 3), dtype), size=[2, 2], interp_type="linear_exact", **given)
    with pytest.raises(ValueError, match="linear_exact|linear or"):
        fn.letterbox(np.zeros((4, 4, 3), np.uint8), size=8, interp_type="linear_exact")


def test_means_of_whole_bytes_are_opencvs():
    rng = np.random.default_rng(14)
    for k in range(CASES // 2):
        n, factors = rng.integers(1, 30, 2), rng.integers(1, 13, 2) if k else np.array([2, 2])
        x = rng.integers(0, 256, (*n * factors, rng.integers(1, 5)), np.uint8)
        y = fn.resize(x, size=n.astype(np.float32), interp_type="area", compat="opencv")
        np.testing.assert_array_equal(y, by_opencv(x, n, cv2.INTER_AREA), f"{x.shape} {n}")


@pytest.mark.parametrize("name", EXACT)
def test_bytes_are_opencvs_with_ipp_but_for_the_cubic(name):
    rng, differing, count = np.random.default_rng(11), 0, 0
    for _ in range(CASES // 4):
        x, size = picture(rng, "uint8"), rng.integers(1, 90, 2)
        y = fn.resize(x, size=size.astype(np.float32), interp_type=name, compat="opencv")
        apart = np.abs(y.astype(int) - by_opencv(x, size, OPENCV[name]))
        differing, count = differing + (apart > 0).sum(), count + apart.size
        assert apart.max() <= (name == "cubic")
    assert differing <= 0.06 * count


@pytest.mark.parametrize("layout", ["HW", "CHW", "FHWC", "FCHW"])
@pytest.mark.parametrize("name", EXACT)
def test_layouts_of_opencvs_values(own_code, layout, name):
    rng = np.random.default_rng(12)
    x = rng.integers(0, 256, (21, 34, 3), np.uint8)
    together, planes = (by_opencv(v, [30, 17], OPENCV[name]) for v in (x, x[:, :, :1]))
    alone = np.stack([by_opencv(np.ascontiguousarray(x[:, :, c]), [30, 17], OPENCV[name])[:, :, 0] for c in range(3)])
    views = {"HW": x[:, :, 0], "CHW": x.transpose(2, 0, 1), "FHWC": np.stack([x, x])}
    views["FCHW"] = np.stack([views["CHW"]] * 2)
    wanted = {"HW": planes[:, :, 0], "CHW": alone, "FHWC": np.stack([together] * 2), "FCHW": np.stack([alone] * 2)}
    y = fn.resize(penstock.tensor(views[layout], layout=layout), size=[30, 17], interp_type=name, compat="opencv")
    np.testing.assert_array_equal(y.numpy(), wanted[layout])


def test_what_else_an_exact_resize_takes(own_code):
    rng = np.random.default_rng(13)
    x = [rng.integers(0, 256, (*rng.integers(9, 40, 2), 3), np.uint8) for _ in range(3)]
    sizes = rng.integers(5, 60, (3, 2)).astype(np.float32)
    wanted = [by_opencv(one, size, cv2.INTER_LINEAR) for one, size in zip(x, sizes)]

    @penstock.pipeline_def(batch_size=3, num_threads=2, device_id=None)
    def pipeline():
        images = fn.external_source(lambda: x, layout="HWC")
        size = fn.external_source(lambda: list(sizes))
        small, extents = fn.resize(images, size=size, compat="opencv", save_attrs=True)
        kind = fn.external_source(lambda: [np.int32(k) for k in (1, 2, 8)])
        return (
            small,
            extents,
            fn.resize(images, size=size, compat="opencv", interp_type=kind),
            fn.cast(small, dtype="float32"),
        )

    made, extents, mixed, floats = ([s.numpy() for s in output] for output in pipeline().run())
    per_sample = penstock.per_sample(list(sizes))
    called = [s.numpy() for s in fn.resize(x, size=per_sample, compat="opencv", dtype="float32")]
    for k in range(3):
        np.testing.assert_array_equal(made[k], wanted[k])
        np.testing.assert_array_equal(called[k], wanted[k].astype(np.float32))
        np.testing.assert_array_equal(floats[k], called[k])
        assert extents[k].tolist() == list(x[k].shape[:2]) and np.abs(mixed[k].astype(int) - wanted[k]).mean() < 40
    mirrored = fn.resize(x[0], size=[-20, 30], compat="opencv")
    np.testing.assert_array_equal(mirrored, fn.resize(x[0][::-1].copy(), size=[20, 30], compat="opencv"))
    part = fn.resize(x[1][2:8, 1:9].copy(), size=[6, 8], compat="opencv")
    region = fn.resize(x[1], size=[6, 8], roi_start=[2, 1], roi_end=[8, 9], compat="opencv")
    np.testing.assert_array_equal(region, part)


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


def test_the_nearest_sample_is_pillows_but_for_edges():
    """Pillow adds the scale once for each output: on the edge between two samples it may take the other one."""
    rng = np.random.default_rng(7)
    for before, after in rng.integers(1, 120, (CASES, 2)):
        x = np.arange(before, dtype=np.int32)[None]
        y = fn.resize(penstock.tensor(x, "HW"), size=[1, int(after)], interp_type="nearest", compat="pillow").numpy()
        apart = np.abs(y - np.asarray(Image.fromarray(x).resize((after, 1), Image.Resampling.NEAREST)))[0]
        on_an_edge = (2 * np.arange(after) + 1) * before % (2 * after) == 0
        assert apart[~on_an_edge].max(initial=0) == 0 and apart.max() <= 1, (before, after)


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
        ({"interp_type": 10}, r"8 \(area\), got 10"),
        ({"interp_type": 10, "compat": "opencv"}, r"8 \(area\), got 10"),
    ],
)
def test_wrong_peers_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        fn.resize(np.zeros((4, 4, 3), np.uint8), size=[2, 2], **arguments)


@pytest.mark.parametrize(
    "x, layout, message",
    [
        (np.zeros((0, 4, 3), np.uint8), "HWC", "an image of the shape .* has no pixels"),
        (np.zeros((2, 4, 4, 3), np.uint8), "DHWC", "compat='opencv' resizes images, got the layout 'DHWC'"),
        (np.zeros((4, 3, 4), np.uint8), "HCW", "expected a layout such as HWC, CHW or FHWC, got 'HCW'"),
    ],
)
def test_what_opencv_does_not_resize(x, layout, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fn.resize(penstock.tensor(x, layout=layout), size=[2, 2], compat="opencv")
