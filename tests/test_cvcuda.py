# SPDX-License-Identifier: Apache-2.0
"""Operators under CV-CUDA's names: values against OpenCV and NumPy, shapes, types, layouts, results in the program's memory."""

import cv2
import numpy as np
import penstock.cvcuda as cvcuda
import pytest
from scipy import ndimage

RNG = np.random.default_rng(11)
EDGES = [(1, 1), (1, 7), (13, 17), (70, 129)]
Interp, Border, Type = cvcuda.Interp, cvcuda.Border, cvcuda.Type


def pictures(height=13, width=17, channels=3, count=2, dtype=np.uint8):
    values = RNG.integers(0, 256, (count, height, width, channels))
    return values.astype(dtype) if np.dtype(dtype).kind != "f" else (values / 255).astype(dtype)


def tensor(array, layout="NHWC"):
    return cvcuda.as_tensor(np.ascontiguousarray(array), layout)


def numbers(values, dtype=np.float32, layout="N"):
    return tensor(np.array(values, dtype), layout)


def planes(array):
    return np.ascontiguousarray(np.moveaxis(array, -1, -3))


def images(*arrays, format=None):
    return cvcuda.as_images([np.ascontiguousarray(a) for a in arrays], format)


BORDERS = {
    Border.CONSTANT: cv2.BORDER_CONSTANT,
    Border.REPLICATE: cv2.BORDER_REPLICATE,
    Border.REFLECT: cv2.BORDER_REFLECT,
    Border.REFLECT101: cv2.BORDER_REFLECT_101,
}
# name: (call of a tensor, the same by OpenCV or NumPy for one image, largest difference)
CALLS = {
    "resize": (
        lambda x: cvcuda.resize(x, resized(x, 9, 23)),
        lambda a: cv2.resize(a, (23, 9), interpolation=cv2.INTER_LINEAR),
        1,
    ),
    "flip": (lambda x: cvcuda.flip(x, -1), lambda a: a[::-1, ::-1], 0),
    "flip about x": (lambda x: cvcuda.flip(x, 0), lambda a: a[::-1], 0),
    "invert": (cvcuda.invert, lambda a: 255 - a, 0),
    "convertto": (
        lambda x: cvcuda.convertto(x, np.float32, 1 / 255, -0.5),
        lambda a: (a.astype(np.float64) / 255 - 0.5).astype(np.float32),
        1e-6,
    ),
    "convertto integers": (
        lambda x: cvcuda.convertto(x, Type.S16, 2.5, 1, round=cvcuda.Round.TRUNCATE),
        lambda a: np.trunc(a * 2.5 + 1).astype(np.int16),
        0,
    ),
    "convertto negative": (
        lambda x: cvcuda.convertto(x, Type.S16, -0.3, 1, round=cvcuda.Round.TRUNCATE),
        lambda a: np.trunc(a.astype(np.float32) * np.float32(-0.3) + 1).astype(np.int16),
        0,
    ),
    "normalize": (
        lambda x: cvcuda.normalize(
            x, [1.0, 2.0, 3.0], [2.0, 4.0, 8.0], cvcuda.NormalizeFlags.SCALE_IS_STDDEV, globalshift=5.0
        ),
        lambda a: np.clip(np.rint((a - [1.0, 2.0, 3.0]) / [2.0, 4.0, 8.0] + 5), 0, 255).astype(np.uint8),
        1,
    ),
    "averageblur": (
        lambda x: cvcuda.averageblur(x, (5, 3), border=Border.REPLICATE),
        lambda a: cv2.blur(a, (5, 3), borderType=cv2.BORDER_REPLICATE),
        1,
    ),
    "laplacian": (
        lambda x: cvcuda.laplacian(x, 3, 0.5, border=Border.REFLECT101),
        lambda a: cv2.Laplacian(a, cv2.CV_8U, ksize=3, scale=0.5, borderType=cv2.BORDER_REFLECT_101),
        1,
    ),
    "median_blur": (
        lambda x: cvcuda.median_blur(x, (3, 5)),
        lambda a: ndimage.median_filter(a, (5, 3, 1), mode="nearest"),
        0,
    ),
    "open": (
        lambda x: cvcuda.morphology(x, cvcuda.MorphologyType.OPEN, (3, 5), (-1, -1)),
        lambda a: cv2.morphologyEx(a, cv2.MORPH_OPEN, np.ones((5, 3), np.uint8)),
        0,
    ),
    "dilate": (
        lambda x: cvcuda.morphology(
            x, cvcuda.MorphologyType.DILATE, (3, 3), (0, 1), iteration=2, border=Border.REPLICATE
        ),
        lambda a: cv2.dilate(
            a, np.ones((3, 3), np.uint8), anchor=(0, 1), iterations=2, borderType=cv2.BORDER_REPLICATE
        ),
        0,
    ),
    "cvtcolor": (lambda x: cvcuda.cvtcolor(x, cvcuda.ColorConversion.RGB2BGR), lambda a: a[..., ::-1], 0),
    "gray": (
        lambda x: cvcuda.cvtcolor(x, cvcuda.ColorConversion.BGR2GRAY),
        lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2GRAY)[..., None],
        1,
    ),
    "channelreorder": (lambda x: cvcuda.channelreorder(x, [2, 0, 1]), lambda a: a[..., [2, 0, 1]], 0),
    "color_twist": (
        lambda x: cvcuda.color_twist(x, tensor(np.float32([[1, 0, 0, 3], [0.5, 0.5, 0, 0], [0, 0, 1, -2]]), "HW")),
        lambda a: np.clip(np.rint(a @ np.float64([[1, 0.5, 0], [0, 0.5, 0], [0, 0, 1]]) + [3, 0, -2]), 0, 255).astype(
            np.uint8
        ),
        1,
    ),
    "warp_affine": (
        lambda x: cvcuda.warp_affine(x, np.float32([[0.9, 0.1, 1], [-0.1, 0.9, 2]]), Interp.LINEAR, border_value=[7.0]),
        lambda a: cv2.warpAffine(a, np.float32([[0.9, 0.1, 1], [-0.1, 0.9, 2]]), a.shape[1::-1], borderValue=(7, 7, 7)),
        6,  # OpenCV's positions are multiples of 1/32
    ),
    "posterize": (lambda x: cvcuda.posterize(x, 3), lambda a: a & 0xE0, 0),
    "solarize": (lambda x: cvcuda.solarize(x, 128), lambda a: np.where(a >= 128, 255 - a, a), 0),
    "histogrameq": (
        lambda x: cvcuda.histogrameq(x, Type.U8),
        lambda a: np.stack([cv2.equalizeHist(np.ascontiguousarray(a[..., c])) for c in range(3)], axis=-1),
        0,
    ),
    "brightness_contrast": (
        lambda x: cvcuda.brightness_contrast(x, 1.5, 0.5, 3.0, 100.0),
        lambda a: np.clip(np.rint(3 + 1.5 * (100 + 0.5 * (a - 100.0))), 0, 255).astype(np.uint8),
        1,
    ),
}


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32])
def test_rounding_limits_or_wraps(dtype):
    array = (RNG.random((2, 5, 6, 3)).astype(np.float32) - 0.5) * 1000
    for mode, whole in (
        (cvcuda.Round.NEAREST_WRAP, np.rint(array * 2)),
        (cvcuda.Round.TRUNCATE_WRAP, np.trunc(array * 2)),
    ):
        whole = whole.astype(np.int64)
        expected = (np.maximum(whole, 0) if np.dtype(dtype).kind == "u" else whole).astype(dtype)
        np.testing.assert_array_equal(cvcuda.convertto(tensor(array), dtype, 2.0, round=mode).cpu(), expected)
        plain = cvcuda.convertto(tensor(np.int16(whole)), dtype, round=mode)
        np.testing.assert_array_equal(plain.cpu(), expected)


def resized(x, height, width):
    return tuple({"H": height, "W": width}.get(letter, n) for letter, n in zip(x.layout, x.shape))


def close(result, expected, most):
    assert result.shape == expected.shape and result.dtype == expected.dtype
    difference = np.abs(result.astype(np.float64) - expected.astype(np.float64))
    assert difference.max(initial=0) <= most, difference.max()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("extents", EDGES, ids=str)
def test_values_are_those_of_the_reference_in_both_layouts(name, extents):
    call, reference, most = CALLS[name]
    array = pictures(*extents)
    expected = np.stack([np.asarray(reference(a)).reshape(*np.shape(reference(a))[:2], -1) for a in array])
    interleaved, planar = call(tensor(array)), call(tensor(planes(array), "NCHW"))
    close(interleaved.cpu(), expected, most)
    assert interleaved.layout == "NHWC" and planar.layout == "NCHW"
    np.testing.assert_array_equal(planar.cpu(), planes(interleaved.cpu()))
    one = call(tensor(array[0], "HWC"))
    assert one.layout == "HWC"
    np.testing.assert_array_equal(one.cpu(), interleaved.cpu()[0])


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_gaussian_has_opencvs_borders(border, dtype):
    array = pictures(21, 30, dtype=dtype)
    result = cvcuda.gaussian(tensor(array), (5, 3), (1.5, 0.8), border)
    for got, a in zip(result.cpu(), array):
        close(
            got,
            cv2.GaussianBlur(a, (5, 3), 1.5, sigmaY=0.8, borderType=BORDERS[border]),
            1 if dtype == np.uint8 else 1e-5,
        )


@pytest.mark.parametrize("border", BORDERS)
def test_copymakeborder_has_opencvs_borders(border):
    array = pictures(6, 9)
    result = cvcuda.copymakeborder(tensor(array), border, [1.0, 2.0, 3.0], top=2, bottom=1, left=4, right=3)
    for got, a in zip(result.cpu(), array):
        close(got, cv2.copyMakeBorder(a, 2, 1, 4, 3, BORDERS[border], value=(1, 2, 3)), 0)


@pytest.mark.parametrize(
    "kind", [k for k in cvcuda.ThresholdType if k < cvcuda.ThresholdType.OTSU], ids=lambda k: k.name
)
def test_threshold_has_opencvs_kinds_and_a_level_for_each_image(kind):
    array = pictures()
    result = cvcuda.threshold(
        tensor(array), numbers([100.0, 30.0], np.float64), numbers([250.0, 99.0], np.float64), kind
    )
    place = [1, 2, 4, 8, 16].index(kind)
    for got, a, level, most in zip(result.cpu(), array, (100, 30), (250, 99)):
        close(got, cv2.threshold(a, level, most, place)[1], 0)


def test_a_batch_of_images_has_arguments_for_each():
    a, b = pictures(9, 14)[0], pictures(20, 5)[0]
    batch = images(a, b)
    flipped = cvcuda.flip(batch, numbers([0, 1], np.int32))
    np.testing.assert_array_equal(flipped[0].cpu(), a[::-1])
    np.testing.assert_array_equal(flipped[1].cpu(), b[:, ::-1])
    sizes = [(3, 4), (21, 2)]
    small = cvcuda.resize(batch, sizes)
    assert [i.size for i in small] == sizes and small.uniqueformat is cvcuda.Format.RGB8
    kernels = images(np.ones((3, 3), np.float32) / 9, np.ones((1, 5), np.float32) / 5)
    blurred = cvcuda.conv2d(batch, kernels, numbers([[-1, -1], [-1, -1]], np.int32, "NC"), Border.REFLECT101)
    for got, x, size in zip(blurred, (a, b), ((3, 3), (5, 1))):
        close(got.cpu(), cv2.blur(x, size), 1)
    twice = cvcuda.gaussian(
        batch, (5, 5), numbers([[3, 3], [5, 5]], np.int32, "NC"), numbers([[1, 1], [2, 2]], np.float64, "NC")
    )
    for got, x, k, sigma in zip(twice, (a, b), (3, 5), (1, 2)):
        close(got.cpu(), cv2.GaussianBlur(x, (k, k), sigma, borderType=cv2.BORDER_CONSTANT), 1)
    padded = cvcuda.padandstack(batch, numbers([1, 0], np.int32), numbers([0, 2], np.int32))
    assert (
        padded.shape == (2, 20, 14, 3) and (padded.cpu()[0, 1:10] == a).all() and (padded.cpu()[1, :, 2:7] == b).all()
    )


def test_nothing_lost_between_stack_split_and_merge():
    array = pictures()
    stacked = cvcuda.stack([tensor(a, "HWC") for a in array])
    np.testing.assert_array_equal(stacked.cpu(), array)
    parts = cvcuda.split(stacked)
    assert [p.shape for p in parts] == [(2, 13, 17, 1)] * 3
    np.testing.assert_array_equal(cvcuda.merge(parts).cpu(), array)
    batch = cvcuda.merge(cvcuda.split(images(*array)), format=cvcuda.Format.BGR8)
    assert batch.uniqueformat is cvcuda.Format.BGR8
    np.testing.assert_array_equal(batch[1].cpu(), array[1])
    assert cvcuda.stack(images(*array)).shape == array.shape


def test_for_a_network_in_one_call():
    array = pictures(12, 20)
    r = cvcuda.RectI(2, 1, 6, 5)
    reverse = cvcuda.ChannelManip.REVERSE
    given = {"layout": "NCHW", "data_type": Type.F32, "manip": reverse, "scale": 1 / 255, "offset": 0.5}
    result = cvcuda.resize_crop_convert_reformat(tensor(array), (10, 8), Interp.LINEAR, r, **given)
    for got, a in zip(result.cpu(), array):
        small = cv2.resize(a, (10, 8))[1:6, 2:8, ::-1]
        close(got, planes(small / 255 + 0.5).astype(np.float32), 1.5 / 255)
    batch = images(*array)
    rect = numbers([[0, 0, 8, 6], [3, 2, 8, 6]], np.int32, "NC")
    base, scale = tensor(np.float32([[[[1, 2, 3]]]])), tensor(np.float32([[[[0.5, 1, 2]]]]))
    codes = numbers([1, 7 - 8], np.int32)
    made = cvcuda.crop_flip_normalize_reformat(batch, (2, 3, 6, 8), np.float32, "NCHW", rect, codes, base, scale)
    first = (array[0, :6, :8][:, ::-1] - np.float32([1, 2, 3])) * np.float32([0.5, 1, 2])
    second = (array[1, 2:8, 3:11][::-1, ::-1] - np.float32([1, 2, 3])) * np.float32([0.5, 1, 2])
    close(made.cpu(), planes(np.stack([first, second])), 1e-4)


def test_maps_of_remap_are_places_parts_of_the_image_or_shifts():
    array = pictures(8, 10, count=1)
    y, x = np.mgrid[0:8, 0:10].astype(np.float32)
    mirrored = tensor(np.stack([9 - x, y], axis=-1)[None])
    np.testing.assert_array_equal(cvcuda.remap(tensor(array), mirrored).cpu(), array[:, :, ::-1])
    parts = np.stack([(9 - x) / 9 * 2 - 1, y / 7 * 2 - 1], axis=-1)[None]
    kind = cvcuda.Remap.ABSOLUTE_NORMALIZED
    result = cvcuda.remap(tensor(array), tensor(parts), Interp.LINEAR, map_type=kind, align_corners=True)
    close(result.cpu(), array[:, :, ::-1], 1)
    kept = cvcuda.remap(
        tensor(array), tensor(np.zeros((1, 2, 2, 2), np.float32)), map_type=cvcuda.Remap.RELATIVE_NORMALIZED
    )
    np.testing.assert_array_equal(kept.cpu(), array)


def test_a_rotation_turns_about_the_corner_and_shifts():
    array = pictures(9, 9, count=1)
    result = cvcuda.rotate(tensor(array), 90.0, (0.0, 8.0), Interp.NEAREST)
    np.testing.assert_array_equal(result.cpu()[0], np.rot90(array[0]))


def test_places_of_the_least_and_greatest_values():
    array = np.full((2, 5, 6, 1), 9, np.uint8)
    array[0, 1, 2], array[0, 4, 5], array[1, 0, 3] = 3, 3, 200
    low, where, count, high, top, tops = cvcuda.min_max_loc(tensor(array), 4)
    assert low.cpu().tolist() == [[3], [9]] and low.dtype == np.uint32 and high.cpu().tolist() == [[9], [200]]
    assert where.shape == (2, 4, 2) and where.cpu()[0, :2].tolist() == [[2, 1], [5, 4]] and count.cpu()[0, 0] == 2
    assert top.cpu()[1, 0].tolist() == [3, 0] and tops.cpu().tolist() == [[28], [1]]
    targets = [
        cvcuda.Tensor((2, 1), np.uint32, "NC"),
        cvcuda.Tensor((2, 1, 2), np.int32, "NMC"),
        cvcuda.Tensor((2, 1), np.int32, "NC"),
    ]
    assert cvcuda.min_loc_into(*targets, tensor(array))[1] is targets[1] and targets[1].cpu()[0, 0].tolist() == [2, 1]


def test_boxes_with_lower_scores_that_overlap_are_dropped():
    boxes = np.int16([[[0, 0, 10, 10], [1, 1, 10, 10], [30, 30, 5, 5], [0, 0, 1, 1]]])
    scores = np.float32([[0.5, 0.6, 0.7, 0.05]])
    mask = cvcuda.nms(tensor(boxes, "NWC"), tensor(scores, "NW"), 0.1, 0.5)
    assert mask.cpu().tolist() == [[0, 1, 1, 0]] and mask.dtype == np.uint8


def test_areas_of_images_are_erased_channel_by_channel():
    array = pictures()
    anchors, sizes = numbers([[1, 2], [3, 4]], np.int32, "NC"), numbers([[5, 6, 7], [3, 4, 1]], np.int32, "NC")
    result = cvcuda.erase(tensor(array), anchors, sizes, numbers(range(8)), numbers([0, 1], np.int32)).cpu()
    expected = array.copy()
    expected[0, 2:8, 1:6], expected[1, 4:8, 3:6, 0] = [0, 1, 2], 4
    np.testing.assert_array_equal(result, expected)
    for kind in (np.uint8, np.float32):
        source = pictures(dtype=kind)
        drawn = [
            cvcuda.erase(
                tensor(source), anchors, sizes, numbers(range(8)), numbers([0, 1], np.int32), random=True, seed=s
            )
            for s in (1, 1, 2)
        ]
        drawn = [d.cpu() for d in drawn]
        assert (drawn[0] == drawn[1]).all() and (drawn[0] != drawn[2]).any() and drawn[0].dtype == kind
        outside = np.ones(source.shape, bool)
        outside[0, 2:8, 1:6], outside[1, 4:8, 3:6, 0] = False, False
        np.testing.assert_array_equal(drawn[0][outside], source[outside])
        assert (drawn[0][~outside] != source[~outside]).mean() > 0.9
    one = cvcuda.erase(tensor(array), 1, 2, 3, 4, numbers([7.0], layout="C")).cpu()
    expected = array.copy()
    expected[:, 1:4, 2:6] = 7
    np.testing.assert_array_equal(one, expected)


def test_random_calls_repeat_with_their_seed():
    x = tensor(pictures(30, 40))
    for call in (
        lambda seed: cvcuda.gaussiannoise(x, 3.0, 5.0, True, seed=seed),
        lambda seed: cvcuda.random_resized_crop(x, (2, 9, 9, 3), seed=seed),
    ):
        np.testing.assert_array_equal(call(4).cpu(), call(4).cpu())
        assert (call(4).cpu() != call(5).cpu()).any()


def test_normalize_takes_values_of_rows_columns_channels_and_samples():
    array = pictures(6, 9, channels=4).astype(np.float32)
    for shape, layout in (
        ((6, 1), "HW"),
        ((6, 9), "HW"),
        ((1, 1, 1, 5), "NHWC"),
        ((2, 1, 1, 4), "NHWC"),
        ((2, 6, 9, 1), "NHWC"),
    ):
        base, scale = (RNG.random(shape).astype(np.float32) + 1 for _ in range(2))
        wide = (v[..., None] if layout == "HW" else v[..., :4] for v in (base, scale))
        b, s = (np.float64(v) for v in wide)
        expected = ((array - b) * s * 3 + 1).astype(np.float32)
        given = {"globalscale": 3.0, "globalshift": 1.0}
        result = cvcuda.normalize(tensor(array), tensor(base, layout), tensor(scale, layout), **given)
        close(result.cpu(), expected, 1e-3)
        planar = cvcuda.normalize(tensor(planes(array), "NCHW"), tensor(base, layout), tensor(scale, layout), **given)
        close(planar.cpu(), planes(expected), 1e-3)


def test_a_histogram_counts_what_the_mask_allows():
    array, mask = pictures(9, 11, channels=1), pictures(9, 11, channels=1) // 128
    for given, kept in ((None, np.ones_like(array)), (tensor(mask), mask)):
        counts = cvcuda.histogram(tensor(array), given)
        assert counts.shape == (2, 256, 1) and counts.layout == "HWC" and counts.dtype == np.int32
        for k in range(2):
            expected = np.bincount(array[k][kept[k] != 0].ravel(), minlength=256)
            np.testing.assert_array_equal(counts.cpu()[k, :, 0], expected)


def test_planes_in_memory_of_their_own_are_read_and_written():
    array = pictures(5, 6, channels=3, count=1)[0]
    image = cvcuda.as_image([np.ascontiguousarray(array[..., c]) for c in range(3)], cvcuda.Format.RGB8p)
    batch = cvcuda.ImageBatchVarShape(1)
    batch.pushback(image)
    result = cvcuda.invert(batch)
    assert result.uniqueformat is cvcuda.Format.RGB8p
    np.testing.assert_array_equal(result[0].cpu(), 255 - planes(array))
    cvcuda.flip_into(batch, result, numbers([1], np.int32))
    for c, plane in enumerate(image.cuda()):
        np.testing.assert_array_equal(plane[..., 0], (255 - array)[:, ::-1, c])


@pytest.mark.parametrize(
    "layout, shape, size",
    [("HW", (20, 30), (8, 10)), ("DHWC", (5, 6, 7, 2), (3, 9, 4)), ("NDHW", (2, 5, 6, 7), (3, 3, 9))],
)
def test_hq_resize_takes_images_and_volumes(layout, shape, size):
    array = RNG.random(shape).astype(np.float32)
    result = cvcuda.hq_resize(
        tensor(array, layout), size, min_interpolation=Interp.NEAREST, mag_interpolation=Interp.NEAREST
    )
    axes = ["DHW"[3 - len(size) :].index(a) if a in "DHW"[3 - len(size) :] else None for a in layout]
    expected = array
    for d, k in enumerate(axes):
        if k is not None:
            places = ((np.arange(size[k]) + 0.5) * shape[d] / size[k]).astype(int)
            expected = np.take(expected, places, axis=d)
    np.testing.assert_array_equal(result.cpu(), expected)


FRACTIONS = {
    "averageblur": lambda x: cvcuda.averageblur(x, (3.5, 3)),
    "composite": lambda x: cvcuda.composite(x, x, x, 3.5),
    "copymakeborder": lambda x: cvcuda.copymakeborder(x, top=1, bottom=0.5, left=1, right=1),
    "flip": lambda x: cvcuda.flip(x, 0.5),
    "hq_resize": lambda x: cvcuda.hq_resize(x, (5.5, 4)),
    "morphology": lambda x: cvcuda.morphology(x, cvcuda.MorphologyType.ERODE, (3, 3), (-1, -1), iteration=1.5),
    "posterize": lambda x: cvcuda.posterize(x, np.float32(2.5)),
    "resize": lambda x: cvcuda.resize(x, np.array([2, 5, 4.5, 3])),
    "tvresize": lambda x: cvcuda.tvresize(x, 3.5),
    "RectI": lambda x: cvcuda.RectI(x=1, y=0.5, width=2, height=2),
    "Tensor": lambda x: cvcuda.Tensor((2, 2.5), Type.U8),
    "Image": lambda x: cvcuda.Image((5, 4.5), cvcuda.Format.RGB8),
    "reshape": lambda x: x.reshape((2, 1.5)),
    "tv.crop": lambda x: cvcuda.tv.crop(x, 0, 0.5, 2, 2),
    "tv.pad": lambda x: cvcuda.tv.pad(x, [1.5]),
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_integers_have_no_fraction(name):
    """CV-CUDA refuses all floats here; one that is an integer is taken."""
    with pytest.raises(TypeError, match="expected (an integer|integers), got .*5"):
        FRACTIONS[name](tensor(pictures()))


def test_floats_that_are_integers_are_taken():
    x = tensor(pictures())
    np.testing.assert_array_equal(cvcuda.posterize(x, 2.0).cpu(), cvcuda.posterize(x, 2).cpu())
    np.testing.assert_array_equal(cvcuda.tv.crop(x, 1.0, 2, 3, 4).cpu(), cvcuda.tv.crop(x, 1, 2, 3, 4).cpu())


def test_images_of_bfloat16_are_refused_where_there_are_none():
    import torch

    image = cvcuda.as_tensor(torch.zeros((1, 8, 8, 3), dtype=torch.bfloat16), "NHWC")
    with pytest.raises(TypeError, match="bfloat16: cast to float32 or float16 first"):
        cvcuda.averageblur(image, (3, 3))
