# SPDX-License-Identifier: Apache-2.0
"""Regions, marks, points, thresholds and colors under CV-CUDA's names, against OpenCV. Where penstock.fn has no operator for a
function, the call says so."""

import cv2
import numpy as np
import penstock.cvcuda as cvcuda
import pytest
from penstock.cvcuda import signatures
from penstock.cvcuda.colors import spaces_of

RNG = np.random.default_rng(8)
Code, Threshold = cvcuda.ColorConversion, cvcuda.ThresholdType


def tensor(array, layout="NHWC"):
    return cvcuda.as_tensor(np.ascontiguousarray(array), layout)


def called(call, *operators):
    """The result of a call, or None after it said which operator is not there."""
    absent = [name for name in operators if not signatures.exists(name)]
    if not absent:
        return call()
    with pytest.raises(NotImplementedError, match=f"no fn.{absent[0]}"):
        call()
    return None


def picture(height=30, width=41, channels=1, count=2):
    return RNG.integers(0, 256, (count, height, width, channels), dtype=np.uint8)


@pytest.mark.parametrize("connectivity, neighbors", [("CONNECTIVITY_4_2D", 4), ("CONNECTIVITY_8_2D", 8)])
def test_label_finds_opencvs_regions(connectivity, neighbors):
    array, ground = (picture() < 100).astype(np.uint8), tensor(np.zeros(2, np.uint8), "N")
    kind = getattr(cvcuda, connectivity)
    given = {"count": True, "stats": True, "bg_label": ground, "max_labels": 600}
    made = called(lambda: cvcuda.label(tensor(array), kind, **given), "label")
    if made is None:
        return
    labels, counts, rows = (m.cpu() for m in made)
    for k, plane in enumerate(array):
        count, expected, statistics, _ = cv2.connectedComponentsWithStats(plane, connectivity=neighbors)
        assert counts[k] == count - 1
        assert len(set(zip(labels[k].ravel(), expected.ravel()))) == count
        assert sorted(map(tuple, rows[k, : count - 1, 1:6])) == sorted(map(tuple, statistics[1:]))
        assert not rows[k, count - 1 :].any()


def test_label_removes_small_regions_outside_a_mask():
    array = np.zeros((6, 8), np.uint8)
    array[0, 0], array[2, 2], array[4, 1:6] = 1, 1, 1
    mask = np.zeros_like(array)
    mask[2, 2] = 1
    numbers = {"bg_label": tensor(np.zeros(1, np.uint8), "N"), "min_size": tensor(np.int32([3]), "N")}
    made = called(lambda: cvcuda.label(tensor(array, "HW"), count=True, mask=tensor(mask, "HW"), **numbers), "label")
    if made is not None:
        expected = array * np.uint8([0, 0, 1, 0, 2, 0])[:, None]
        np.testing.assert_array_equal(made[0].cpu(), expected)
        assert made[1].cpu().tolist() == [2] and made[2] is None


def test_a_box_has_the_pixels_of_opencvs_rectangle():
    array = picture(40, 60, 3)
    box = cvcuda.BndBoxI(box=(10, 8, 30, 20), thickness=3, borderColor=(255, 9, 0), fillColor=(0, 0, 0, 0))
    made = called(lambda: cvcuda.bndbox(tensor(array), cvcuda.BndBoxesI(boxes=[[box], []])), "draw_boxes")
    if made is not None:
        expected = cv2.rectangle(array[0].copy(), (10, 8, 30, 20), (255, 9, 0), 3)
        np.testing.assert_array_equal(made.cpu(), np.stack([expected, array[1]]))


def test_marks_of_every_kind_are_drawn():
    c, color, fill = cvcuda, (255, 255, 0), (0, 128, 255, 128)
    marks = [
        c.BndBoxI(box=(5, 5, 20, 10), thickness=2, borderColor=color, fillColor=fill),
        c.Label(utf8Text="cat", fontSize=13, tlPos=(40, 5), fontColor=color, bgColor=fill),
        c.Segment((5, 30, 20, 20), 1, np.eye(5, dtype=np.float32), 0.5, color, fill),
        c.Point(centerPos=(40, 40), radius=3, color=color),
        c.Line(pos0=(50, 30), pos1=(70, 50), thickness=1, color=color),
        c.PolyLine(np.int32([[5, 60], [30, 60], [20, 80]]), 1, True, color, fill),
        c.RotatedBox(centerPos=(50, 70), width=20, height=10, yaw=0.3, thickness=1, borderColor=color, bgColor=fill),
        c.Circle(centerPos=(80, 70), radius=8, thickness=2, borderColor=color, bgColor=fill),
        c.Arrow(pos0=(5, 90), pos1=(40, 95), arrowSize=5, thickness=1, color=color),
        c.Clock(c.ClockFormat.HHMMSS, 3661, 13, tlPos=(50, 85), fontColor=color, bgColor=fill),
    ]
    operators = ("draw_boxes", "draw_lines", "draw_circles", "draw_text")
    gray = np.full((1, 100, 120, 3), 90, np.uint8)
    for mark in marks:
        made = called(lambda mark=mark: c.osd(tensor(gray), c.Elements(elements=[[mark]])), *operators[:1])
        if made is not None:
            assert (made.cpu() != gray).any() and (made.cpu() == gray).any()
    for planar in (np.ascontiguousarray(gray.transpose(0, 3, 1, 2)),):
        made = called(lambda: c.osd(tensor(planar, "NCHW"), c.Elements(elements=[marks])), *operators[:1])
        if made is not None:
            both = c.osd(tensor(gray), c.Elements(elements=[marks])).cpu()
            np.testing.assert_array_equal(made.cpu().transpose(0, 2, 3, 1), both)


def test_boxes_are_blurred():
    array = picture(40, 60, 3)
    boxes = cvcuda.BlurBoxesI(boxes=[[cvcuda.BlurBoxI(box=(10, 8, 30, 20), kernelSize=5)], []])
    made = called(lambda: cvcuda.boxblur(tensor(array), boxes), "box_blur_regions")
    if made is not None:
        expected = array.copy()
        expected[0, 8:28, 10:40] = cv2.blur(array[0], (5, 5))[8:28, 10:40]
        assert np.abs(made.cpu().astype(int) - expected).max() <= 1


def test_points_have_opencvs_rectangle_and_perspective():
    points = RNG.integers(0, 100, (3, 12, 2)).astype(np.int16)
    counts = tensor(np.int32([[11, 12, 5]]), "NW")
    made = called(lambda: cvcuda.minarearect(tensor(points, "NWC"), counts, 3), "min_area_rect")
    if made is not None:
        for corners, p, n in zip(made.cpu(), points, (11, 12, 5)):
            expected = cv2.boxPoints(cv2.minAreaRect(p[:n].astype(np.float32)))
            distance = np.abs(corners.reshape(4, 1, 2) - expected[None]).sum(axis=-1).min(axis=1)
            assert distance.max() < 0.01
    matrix = np.float32([[1.1, 0.1, 3], [0.05, 0.9, 2], [0.0005, 0.0002, 1]])
    source = RNG.random((2, 30, 2)).astype(np.float32) * 100
    target = cv2.perspectiveTransform(source.reshape(1, -1, 2), matrix).reshape(2, 30, 2)
    found = called(lambda: cvcuda.findhomography(tensor(source, "NWC"), tensor(target, "NWC")), "find_homography")
    if found is not None:
        np.testing.assert_allclose(found.cpu(), np.stack([matrix] * 2), atol=1e-4)
        none = cvcuda.findhomography(
            cvcuda.Tensor((1, 8, 2), np.float32, "NWC"), cvcuda.Tensor((1, 8, 2), np.float32, "NWC")
        )
        assert np.isnan(none.cpu()).all()


def blobs(height=90, width=110, seed=1):
    noise = np.random.default_rng(seed).normal(size=(height, width)).astype(np.float32)
    image = cv2.GaussianBlur(noise, (0, 0), 2) / 0.15 + cv2.GaussianBlur(noise, (0, 0), 6) / 0.05
    return np.uint8(np.clip(image * 40 + 128, 0, 255))


def test_features_are_opencvs():
    array = np.stack([blobs(seed=1), blobs(seed=2)])[..., None]
    made = called(lambda: cvcuda.sift(tensor(array), 40, contrast_threshold=0.04), "sift")
    if made is None:
        return
    coordinates, metadata, descriptors, counts = (m.cpu() for m in made)
    assert (coordinates.shape, metadata.shape, descriptors.shape, counts.shape) == (
        (2, 40, 4),
        (2, 40, 3),
        (2, 40, 128),
        (2, 1),
    )
    for k, image in enumerate(array):
        points = cv2.SIFT_create(40).detect(image)
        n = counts[k, 0]
        assert abs(n - len(points)) <= 1 and not coordinates[k, n:].any() and not descriptors[k, n:].any()
        apart = np.abs(coordinates[k, None, :n, :2] - np.float32([p.pt for p in points])[:, None]).max(2)
        assert (apart.min(1) < 0.5).mean() > 0.9
    into = [cvcuda.Tensor(m.shape, m.dtype, m.layout) for m in made]
    assert cvcuda.sift_into(*into, tensor(array), contrast_threshold=0.04) is not None
    for a, b in zip(into, made):
        np.testing.assert_array_equal(a.cpu(), b.cpu())


@pytest.mark.parametrize("dtype, norm", [(np.uint8, None), (np.uint32, "L1"), (np.float32, "L2"), (np.uint8, "L2")])
def test_matches_are_opencvs(dtype, norm):
    sets = [RNG.integers(0, 90, (2, n, 16)).astype(dtype) for n in (12, 9)]
    given = {} if norm is None else {"norm_type": cvcuda.Norm[norm]}
    counts = tensor(np.int32([12, 5]), "N")
    call = lambda **more: cvcuda.match(*(tensor(s, "NMD") for s in sets), counts, **given, **more)  # noqa: E731
    made = called(lambda: call(num_matches=True, distances=True, matches_per_point=2), "match")
    if made is None:
        return
    matches, numbers, distances = (m.cpu() for m in made)
    assert matches.shape == (2, 24, 2) and numbers.tolist() == [24, 10] and distances.shape == (2, 24)
    kind = cv2.NORM_HAMMING if norm is None else getattr(cv2, f"NORM_{norm}")
    for k, n in enumerate((12, 5)):
        a, b = (s[k].astype(np.float32 if dtype == np.uint32 else dtype) for s in sets)
        want = [m for row in cv2.BFMatcher(kind).knnMatch(a[:n], b, 2) for m in row]
        np.testing.assert_allclose(distances[k, : 2 * n], [m.distance for m in want], rtol=1e-5)
        assert not matches[k, 2 * n :].any()
    alone, no_numbers, no_distances = call()
    assert alone.shape == (2, 12, 2) and no_numbers is None and no_distances is None
    crossed, numbers, _ = call(cross_check=True)
    assert (numbers.cpu() <= [9, 5]).all() and (numbers.cpu() > 0).all()
    into = cvcuda.Tensor((2, 12, 2), np.int32, "NMC")
    cvcuda.match_into(into, None, None, *(tensor(s, "NMD") for s in sets), counts, cross_check=True, **given)
    np.testing.assert_array_equal(into.cpu(), crossed.cpu())


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32])
def test_holes_are_filled(dtype):
    array, mask = np.full((2, 20, 30, 1), 77, dtype), np.zeros((2, 20, 30, 1), np.uint8)
    mask[:, 5:9, 4:20] = 255
    damaged = np.where(mask > 0, 0, array).astype(dtype)
    made = called(lambda: cvcuda.inpaint(tensor(damaged), tensor(mask), 3.0), "inpaint")
    if made is not None:
        np.testing.assert_allclose(made.cpu(), array, rtol=1e-5)
        into = tensor(np.zeros_like(array))
        cvcuda.inpaint_into(into, tensor(damaged), tensor(mask), 3.0)
        np.testing.assert_array_equal(into.cpu(), made.cpu())


@pytest.mark.parametrize("flag, place", [(Threshold.OTSU, cv2.THRESH_OTSU), (Threshold.TRIANGLE, cv2.THRESH_TRIANGLE)])
def test_levels_are_found_as_opencv_finds_them(flag, place):
    array, zero, most = picture(), tensor(np.zeros(2), "N"), tensor(np.full(2, 200.0), "N")
    made = called(lambda: cvcuda.threshold(tensor(array), zero, most, flag | Threshold.BINARY), "find_threshold")
    if made is not None:
        expected = [cv2.threshold(a, 0, 200, place | cv2.THRESH_BINARY)[1] for a in array]
        np.testing.assert_array_equal(made.cpu()[..., 0], np.stack(expected))


def test_an_adaptive_threshold_is_opencvs():
    array = picture()
    method, kind = cvcuda.AdaptiveThresholdType.MEAN_C, Threshold.BINARY_INV
    made = called(lambda: cvcuda.adaptivethreshold(tensor(array), 99.0, method, kind, 5, 2.0), "adaptive_threshold")
    if made is not None:
        place = (cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 5, 2.0)
        expected = [cv2.adaptiveThreshold(a, 99.0, *place) for a in array]
        np.testing.assert_array_equal(made.cpu()[..., 0], np.stack(expected))


@pytest.mark.parametrize("channels", [3, 4])
def test_a_foreground_is_laid_over_a_background(channels):
    front, back, mask = picture(channels=3), picture(channels=3), picture()
    made = called(lambda: cvcuda.composite(tensor(front), tensor(back), tensor(mask), channels), "composite")
    if made is not None:
        expected = back + (front.astype(np.float64) - back) * (mask / 255)
        assert made.shape[-1] == channels and np.abs(made.cpu()[..., :3] - expected).max() <= 0.51
        assert channels == 3 or (made.cpu()[..., 3] == 255).all()


def test_a_bilateral_filter_is_opencvs():
    array = picture(channels=3)
    made = called(
        lambda: cvcuda.bilateral_filter(tensor(array), 5, 40.0, 2.0, cvcuda.Border.REPLICATE), "bilateral_filter"
    )
    if made is not None:
        expected = [cv2.bilateralFilter(a, 5, 40.0, 2.0, borderType=cv2.BORDER_REPLICATE) for a in array]
        assert np.abs(made.cpu().astype(int) - np.stack(expected)).max() <= 1
    guided = called(
        lambda: cvcuda.joint_bilateral_filter(tensor(array), tensor(array), 5, 40.0, 2.0, cvcuda.Border.REPLICATE),
        "joint_bilateral_filter",
    )
    if guided is not None:
        np.testing.assert_array_equal(guided.cpu(), made.cpu())


def _with_pair():
    """The codes of two color spaces that both are known, with their number of channels."""
    narrow = {"GRAY": 1, "RGBA": 4, "BGRA": 4, "BGR565": 2, "BGR555": 2}
    frames = {"NV12", "NV21", "I420", "YV12", "YUYV", "UYVY", "YVYU"}
    for name, code in Code.__members__.items():
        pair = spaces_of(code) if code < 140 else None
        if pair is not None and name == Code(code).name:
            source, target = pair
            shape = (
                (40, 36)
                if source not in frames
                else (60, 36)
                if "Y" != source[1:2] and source[0] in "NIY"
                else (40, 36)
            )
            shape = (40, 36) if source in ("YUYV", "UYVY", "YVYU") else shape
            channels = 2 if source in ("YUYV", "UYVY", "YVYU") else 1 if source in frames else narrow.get(source, 3)
            yield name, code, (2, *shape, channels), target


CODES = list(_with_pair())


def test_codes_name_two_color_spaces():
    assert len(CODES) > 100
    assert spaces_of(Code.YUV2RGB_NV12) == ("NV12", "RGB") and spaces_of(Code.RGB2YUV_NV21) == ("RGB", "NV21")
    assert spaces_of(Code.RGB2HSV_FULL) == ("RGB", "HSV_FULL") and spaces_of(Code.YUV420p2BGR) == ("YV12", "BGR")
    assert spaces_of(Code.BGR5652BGRA) == ("BGR565", "BGRA") and spaces_of(Code.YUV2GRAY_420) == ("NV21", "GRAY")
    assert (
        spaces_of(Code.RGBA2mRGBA) is None and spaces_of(Code.LRGB2Lab) is None and spaces_of(Code.BayerBG2RGB) is None
    )


def test_colors_are_opencvs():
    """All codes of two color spaces; those that penstock.fn does not know are refused with a sentence."""
    refused = []
    for name, code, shape, _ in CODES:
        array = RNG.integers(0, 256, shape, dtype=np.uint8)
        source = spaces_of(code)[0]
        if source not in ("RGB", "BGR") and hasattr(cv2, f"COLOR_RGB2{source}"):  # colors that there are
            rgb = RNG.integers(0, 256, (*shape[:3], 3), dtype=np.uint8)
            array = np.stack([cv2.cvtColor(a, getattr(cv2, f"COLOR_RGB2{source}")).reshape(shape[1:]) for a in rgb])
        try:
            made = cvcuda.cvtcolor(tensor(array), code).cpu()
        except RuntimeError as error:
            refused.append((name, str(error)))
            continue
        expected = np.stack([cv2.cvtColor(a, int(code)).reshape(made.shape[1:]) for a in array])
        difference = np.abs(made.astype(int) - expected)
        turns = (
            np.minimum(difference[..., 0], 180 - difference[..., 0]) if "HSV" in name or "HLS" in name else difference
        )
        assert turns.max() <= 2 or (difference > 2).mean() < 0.01, name
    if signatures.takes("color_space_conversion", "color_spec"):
        assert refused == []
    else:
        assert len(refused) < len(CODES) and all("must be one of" in text or "channels" in text for _, text in refused)
