# SPDX-License-Identifier: Apache-2.0
"""Thresholds, morphology, bilateral filters, borders of blurs, places of extremes: beside OpenCV."""

import cv2
import numpy as np
import penstock
import pytest

from penstock import augment, fn

BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
}
MODES = ["binary", "binary_inv", "trunc", "tozero", "tozero_inv"]
SHAPES = [(97, 131), (1, 1), (1, 40), (33, 1), (64, 70)]


def image(shape, dtype="uint8", seed=3):
    most = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else 255
    return (np.random.default_rng(seed).random(shape) * most).astype(dtype)


def picture(shape, seed=3):
    """Soft areas with edges."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    soft = 110 + 50 * np.sin(x / 9) + 60 * ((x + y) // 37 % 2)
    soft = soft if len(shape) == 2 else soft[..., None] + np.arange(shape[2]) * 11
    return np.clip(soft + np.random.default_rng(seed).normal(0, 8, shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_threshold_as_opencv(dtype, mode):
    kind = getattr(cv2, f"THRESH_{mode.upper()}")
    for shape in [*SHAPES, (20, 30, 3)]:
        x = image(shape, dtype)
        for level in (-3.5, 0.0, 99.5, 100.0, 254.0, 255.0, 300.0, 40000.3):
            for most in (255.0, 7.0, 7.5):
                want = cv2.threshold(x, level, most, kind)[1].reshape(x.shape)
                got = np.asarray(fn.threshold(x, threshold=level, max_value=most, mode=mode))
                np.testing.assert_array_equal(got, want, err_msg=f"{shape} {level} {most}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int16"])
def test_a_threshold_of_integers_is_that_of_float32(dtype, mode):
    """For each frame its own threshold; also those beyond the type, whose results saturate."""
    levels = np.float32([-1e9, -32769, -128.5, -1, 0, 3.7, 126.9, 127, 32767, 65535, 1e9])
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.random.default_rng(2).integers(least, most, (len(levels), 9, 31), dtype, endpoint=True)
    x[:, 0, :4] = least, most, 0, 1
    arguments = {"mode": mode, "max_value": 1e6}
    frames, floats = (penstock.batch([v], layout="FHW") for v in (x, x.astype(np.float32)))
    got, want = (
        fn.threshold(v, threshold=fn.per_frame(penstock.batch([own])), **arguments)[0].numpy()
        for v, own in ((frames, levels), (floats, np.floor(levels)))
    )
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.clip(want, least, most).astype(dtype))


@pytest.mark.parametrize("method", ["otsu", "triangle"])
def test_find_threshold_as_opencv(method):
    kind = getattr(cv2, f"THRESH_{method.upper()}")
    random = np.random.default_rng(1)
    for k in range(60):
        shape = [*SHAPES, (70, 90)][k % 6]
        x = np.clip(random.normal(random.uniform(20, 230), random.uniform(1, 60), shape), 0, 255)
        if k % 3:
            x = np.where(
                random.random(shape) < random.uniform(0.05, 0.7), np.clip(x + random.uniform(-90, 90), 0, 255), x
            )
        x = x.astype(np.uint8)
        level, want = cv2.threshold(x, 0, 255, kind)
        found = fn.find_threshold(x, method=method)
        np.testing.assert_array_equal(np.asarray(fn.threshold(x, threshold=found)), want, err_msg=f"{k}")
        if len(np.unique(x)) > 100:  # else many thresholds divide alike, and OpenCV's sums choose one
            assert found.item() == level, k
    if method == "otsu":
        wide = (picture((80, 90)).astype(np.uint16) * 200 + 17).astype(np.uint16)
        want = cv2.threshold(wide, 0, 65535, kind)[1]
        got = fn.threshold(wide, threshold=fn.find_threshold(wide), max_value=65535)
        np.testing.assert_array_equal(np.asarray(got), want)


def test_thresholds_of_frames():
    x = np.stack([picture((40, 50)), picture((40, 50), 5) // 2])
    levels = fn.find_threshold(penstock.tensor(x, layout="FHW"))
    assert levels.numpy().tolist() == [cv2.threshold(f, 0, 255, cv2.THRESH_OTSU)[0] for f in x]


@pytest.mark.parametrize("method", ["mean", "gaussian"])
def test_adaptive_threshold_as_opencv(method):
    kind = getattr(cv2, f"ADAPTIVE_THRESH_{method.upper()}_C")
    differ = total = 0
    for shape in [*SHAPES, (200, 300)]:
        x = picture(shape)
        for side in (3, 5, 7, 11, 31, 101):
            for offset in (0, 2, 2.5, -7.3):
                for mode in ("binary", "binary_inv"):
                    flag = getattr(cv2, f"THRESH_{mode.upper()}")
                    want = cv2.adaptiveThreshold(x, 200, kind, flag, side, offset)
                    got = fn.adaptive_threshold(
                        x, block_size=side, offset=offset, max_value=200, method=method, mode=mode
                    )
                    differ += (np.asarray(got) != want.reshape(shape)).sum()
                    total += x.size
    assert differ == 0 if method == "mean" else differ / total < 2e-4, differ / total


@pytest.mark.parametrize("border", ["constant", "replicate", "reflect", "reflect_101"])
@pytest.mark.parametrize("operation", ["open", "close", "gradient", "tophat", "blackhat"])
def test_morphology_as_opencv(operation, border):
    kind = getattr(cv2, f"MORPH_{operation.upper()}")
    for dtype in ("uint8", "uint16", "int16", "float32"):
        for shape in [(60, 70), (40, 50, 3), (1, 9)]:
            x = image(shape, dtype)
            for size, times in [((3, 3), 1), ((7, 5), 1), ((3, 5), 2), ((4, 2), 1)]:
                mask = np.ones(size[::-1], np.uint8)
                want = cv2.morphologyEx(x, kind, mask, iterations=times, borderType=BORDERS[border]).reshape(shape)
                got = fn.morphology(x, operation=operation, mask_size=size, iterations=times, border_mode=border)
                if border != "constant" and times > 1:  # OpenCV enlarges the mask, or repeats; the border is seen anew
                    continue
                np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{dtype} {shape} {size} {times}")


@pytest.mark.parametrize("border", BORDERS)
def test_bilateral_filter_as_opencv(border):
    for shape in [(70, 90), (50, 60, 3), (9, 5), (1, 7, 3)]:
        for dtype in ("uint8", "float32"):
            x = picture(shape).astype(dtype)
            for d, color, space in [(5, 20, 2), (9, 40, 4), (0, 15, 2), (4, 200, 1)]:
                if border.startswith("reflect") and min(shape[:2]) < 10:
                    continue  # OpenCV's borders are within the image
                want = cv2.bilateralFilter(x, d, color, space, borderType=BORDERS[border]).reshape(shape)
                got = fn.bilateral_filter(x, diameter=d, sigma_color=color, sigma_space=space, border_mode=border)
                differs = np.abs(np.asarray(got).astype(np.float64) - want)
                assert differs.max() <= (1 if dtype == "uint8" else 0.1), (shape, dtype, d, differs.max())
                if dtype == "uint8" and x.ndim == 3:  # OpenCV cuts fractions of some gray images off
                    assert (differs > 0).mean() < 0.01


def test_a_guide_that_is_the_image_changes_nothing():
    x = picture((40, 50, 3))
    more = {"diameter": 7, "sigma_color": 25, "sigma_space": 3}
    alone, joint = fn.bilateral_filter(x, **more), fn.joint_bilateral_filter(x, x, **more)
    np.testing.assert_array_equal(np.asarray(alone), np.asarray(joint))


@pytest.mark.parametrize("border", BORDERS)
def test_blurs_have_opencvs_borders(border):
    for shape in [(40, 50, 3), (31, 33, 1)]:
        for dtype in ("uint8", "float32"):
            x = image(shape, dtype)
            want = cv2.GaussianBlur(x, (5, 5), 1.2, borderType=BORDERS[border]).reshape(shape)
            got = fn.gaussian_blur(penstock.tensor(x, layout="HWC"), window_size=5, sigma=1.2, border_mode=border)
            np.testing.assert_allclose(np.asarray(got).astype(float), want, atol=1 if dtype == "uint8" else 1e-3)
            for side in (1, 3, 5):
                want = cv2.Laplacian(x, cv2.CV_32F, ksize=side, borderType=BORDERS[border]).reshape(shape)
                got = fn.laplacian(
                    penstock.tensor(x, layout="HWC"), window_size=side, border_mode=border, dtype="float32"
                )
                np.testing.assert_allclose(np.asarray(got), want, atol=1e-2)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "float32", "float64"])
def test_places_of_extremes_as_opencv(dtype):
    random = np.random.default_rng(2)
    for shape in [*SHAPES, (100, 5000)]:
        for most in (3, 200):  # many equal ones
            x = random.integers(0, min(most, 100), shape).astype(dtype)
            if x.size > 99 and dtype[0] == "f":
                x[0, :3] = np.nan
            low, high, low_at, high_at = fn.min_max_loc(x)
            want = cv2.minMaxLoc(np.nan_to_num(x, nan=1))  # the value of none of the extremes, which come later
            assert (low.item(), high.item()) == want[:2]
            assert (tuple(low_at.tolist()), tuple(high_at.tolist())) == want[2:]
    if dtype[0] == "f":
        low, high, low_at, high_at = fn.min_max_loc(np.full((3, 5), np.nan, dtype))
        assert np.isnan(low.item()) and low_at.tolist() == high_at.tolist() == [-1, -1]


@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC"])
def test_noise_of_pixels_is_that_of_an_image_of_one_channel(layout):
    shape = [dict(zip("FHWC", (2, 20, 30, 3)))[k] for k in layout]
    axis = layout.index("C")
    for dtype in ("float32", "uint8", "float64"):
        x = np.full(shape, 100, dtype)
        one = x.take([0], axis)
        more = {"mean": 3.0, "stddev": 5.0, "seed": 7}
        got = np.asarray(fn.noise.gaussian(penstock.tensor(x, layout=layout), per_channel=False, **more))
        want = np.asarray(fn.noise.gaussian(penstock.tensor(one, layout=layout), **more))
        for k in range(3):
            np.testing.assert_allclose(got.take([k], axis), want, rtol=3e-7)
        assert 4.5 < got.astype(np.float64).std() < 5.5
    with pytest.raises(TypeError, match="per_channel"):
        fn.noise.gaussian(penstock.tensor(np.zeros((4, 5)), layout="HW"), per_channel=False)


def test_five_and_ten_windows_as_torchvision():
    from torchvision_oracle import F, chw, hwc

    x = image((20, 31, 3))
    of_torch = chw(x)
    for size in ((8, 9), (6, 15), (20, 31)):  # even rests: their half has no rounding
        pairs = [(augment.five_crop(x, size), F.five_crop(of_torch, size))]
        for vertical in (False, True):
            pairs.append((augment.ten_crop(x, size, vertical), F.ten_crop(of_torch, size, vertical_flip=vertical)))
        for got, want in pairs:
            assert len(got) == len(want)
            for a, b in zip(got, want):
                np.testing.assert_array_equal(np.asarray(a), hwc(b))
    for size, words in ((0, "size must be"), ((8, 40), "40")):
        with pytest.raises(ValueError, match=words):
            augment.five_crop(x, size)


def test_inputs_that_are_not_dense():
    x = picture((60, 80, 3))
    for function, more in [
        (fn.threshold, {"threshold": 120}),
        (fn.adaptive_threshold, {"block_size": 5}),
        (fn.morphology, {"operation": "tophat"}),
        (fn.bilateral_filter, {"diameter": 5, "sigma_color": 20, "sigma_space": 2}),
        (fn.channel_reorder, {"order": [2, 1, 0]}),
    ]:
        part = x[5:50:2, 60:3:-1]
        got, want = function(part, **more), function(np.ascontiguousarray(part), **more)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


GRAY, COLOR = np.zeros((8, 9), np.uint8), np.zeros((8, 9, 3), np.uint8)


@pytest.mark.parametrize(
    "name, inputs, arguments, words",
    [
        ("threshold", [GRAY], {"threshold": 3, "mode": "Binary"}, '"binary_inv"'),
        ("threshold", [GRAY.astype(np.int32)], {"threshold": 3}, "int32"),
        ("find_threshold", [COLOR], {}, "3 channels"),
        ("find_threshold", [GRAY], {"method": "mean"}, '"triangle"'),
        ("find_threshold", [GRAY.astype(np.uint16)], {"method": "triangle"}, "expected uint8, got uint16"),
        ("adaptive_threshold", [GRAY], {"block_size": 4}, "odd, got 4"),
        ("adaptive_threshold", [GRAY], {"mode": "tozero"}, '"binary" or "binary_inv"'),
        ("morphology", [GRAY], {"operation": "opening"}, '"tophat"'),
        ("morphology", [GRAY.astype(np.int64)], {"operation": "tophat"}, "64-bit"),
        ("morphology", [np.zeros((900, 900))], {"mask_size": [801, 801]}, "too large"),
        ("bilateral_filter", [GRAY], {"sigma_color": 0}, "sigma_color must be above 0"),
        ("bilateral_filter", [np.zeros((8, 9, 5), np.uint8)], {}, "one, three or four channels, got 5"),
        ("bilateral_filter", [GRAY], {"sigma_space": 300}, "diameter of at most 255"),
        ("joint_bilateral_filter", [GRAY, COLOR[1:]], {}, "does not match"),
        ("joint_bilateral_filter", [GRAY, COLOR.astype(np.float32)], {}, "float32"),
        ("composite", [COLOR, COLOR, GRAY], {}, "one channel"),
        ("composite", [COLOR, COLOR, COLOR.astype(np.int16)], {}, "int16"),
        ("min_max_loc", [COLOR], {}, "3 channels"),
        ("channel_reorder", [COLOR], {"order": [0, 3]}, "channel 3"),
        ("gaussian_blur", [COLOR], {"sigma": 1, "border_mode": "mirror"}, "border_mode"),
        ("gaussian_blur", [COLOR], {"sigma": 1, "border_mode": "wrap"}, "box_blur"),
        ("laplacian", [COLOR], {"window_size": 2}, "odd"),
    ],
)
def test_messages(name, inputs, arguments, words):
    with pytest.raises((ValueError, TypeError)) as told:
        getattr(fn, name)(*inputs, **arguments)
    assert words in str(told.value), str(told.value)
