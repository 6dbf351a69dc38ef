# SPDX-License-Identifier: Apache-2.0
"""Operators on pictures, beyond random calls: randomness, errors, frames."""

import cv2
import numpy as np
import pytest
from operators.pictures import lab_of

import penstock
from penstock import fn, types


def hwc(*xs, layout="HWC"):
    return penstock.batch(list(xs), layout=layout)


def array(batch, i=0):
    return np.array(batch[i].numpy())


def test_jitter_moves_pixels_evenly():
    y, x = np.mgrid[:300, :400]
    got = array(fn.jitter(hwc(np.dstack([y, x, y]).astype(np.int32)), nDegree=5, seed=3))
    assert (got[..., 0] == got[..., 2]).all()
    for k, at in ((0, y), (1, x)):
        moved = (got[..., k] - at)[5:-5, 5:-5]
        share = np.bincount(moved.ravel() + 2, minlength=5) / moved.size
        assert abs(moved).max() == 2 and np.abs(share - 0.2).max() < 0.006
    assert got[..., 0].min() == 0 and got[..., 0].max() == 299 and got[..., 1].max() == 399


def test_ssd_random_crop_keeps_the_boxes_in_the_window():
    y, x = np.mgrid[:60, :80]
    image = np.dstack([y, x, y]).astype(np.uint8)
    boxes, labels = np.float32([[0.1, 0.1, 0.5, 0.5], [0.4, 0.4, 0.9, 0.95]]), np.int32([5, 7])
    n, seen = 40, set()
    images, kept, marks = fn.ssd_random_crop(
        hwc(*[image] * n), penstock.batch([boxes] * n), penstock.batch([labels] * n), seed=2, num_attempts=5
    )
    for i in range(n):
        part, rows, names = array(images, i), array(kept, i), array(marks, i)
        top, left = int(part[0, 0, 0]), int(part[0, 0, 1])
        h, w = part.shape[:2]
        np.testing.assert_array_equal(part, image[top : top + h, left : left + w])
        assert 0.46 <= w / 80 / (h / 60) <= 2.15 and h >= 17 and w >= 23 and len(rows) == len(names) >= 1
        for row, name in zip(rows, names):
            box = boxes[list(labels).index(name)] * [80, 60, 80, 60]
            inside = np.clip(box - [left, top, left, top], 0, [w, h, w, h]) / [w, h, w, h]
            np.testing.assert_allclose(row, inside, atol=1.5 / min(w, h))
        seen.add((h, w))
    assert len(seen) > n / 2


def test_arguments_for_each_frame():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 255, (3, 12, 14, 3)).astype(np.uint8)
    frames = lambda *v: penstock.batch([np.asarray(v)], layout="F*")
    for name, argument, values in [
        ("dilate", "mask_size", np.int32([[3, 1], [1, 1], [2, 5]])),
        ("laplacian", "window_size", np.int32([[3, 5], [3, 3], [7, 3]])),
        ("warp_perspective", "matrix", np.float32([np.eye(3).ravel() * s + 0.01 for s in (1, 2, 3)])),
    ]:
        got = array(getattr(fn, name)(hwc(x, layout="FHWC"), **{argument: frames(*values)}))
        for f, v in enumerate(values):
            np.testing.assert_array_equal(got[f], array(getattr(fn, name)(hwc(x[f]), **{argument: v.tolist()})))
    filters = rng.normal(0, 0.3, (3, 2, 3)).astype(np.float32)
    got = array(fn.correlate(hwc(x, layout="FHWC"), penstock.batch([filters], layout="FHW")))
    for f in range(3):
        np.testing.assert_array_equal(got[f], array(fn.correlate(hwc(x[f]), penstock.batch([filters[f]]))))


def test_lightness_is_opencvs():
    r, g, b = np.meshgrid(*[np.arange(0, 256, 5, dtype=np.uint8)] * 3, indexing="ij")
    colors = np.stack([r, g, b], -1).reshape(52, -1, 3)
    ours, theirs = lab_of(colors), cv2.cvtColor(colors, cv2.COLOR_RGB2LAB)
    np.testing.assert_array_equal(ours[..., 0], theirs[..., 0])
    assert np.abs(ours.astype(int) - theirs).max() <= 1 and (ours != theirs).mean() < 1e-4


PICTURE = np.zeros((8, 8, 3), np.uint8)


@pytest.mark.parametrize(
    "name, inputs, arguments, words",
    [
        ("equalize", [PICTURE.astype(np.float32)], {}, "uint8"),
        ("clahe", [PICTURE[..., :2]], {"tiles_x": 2, "tiles_y": 2, "clip_limit": 2.0}, "1 or 3 channels"),
        ("clahe", [PICTURE], {"tiles_x": 2, "tiles_y": 2, "clip_limit": 2.0, "bins": 100}, "power of two"),
        ("clahe", [PICTURE], {"tiles_x": 0, "tiles_y": 2, "clip_limit": 2.0}, "tiles_x"),
        ("jpeg_compression_distortion", [PICTURE[..., :1]], {}, "3 channels"),
        ("laplacian", [PICTURE], {"window_size": 4}, "odd"),
        ("laplacian", [PICTURE], {"window_size": 33}, "31"),
        ("laplacian", [PICTURE], {"scale": [1.0, 2.0, 3.0]}, "1 or 2 values"),
        ("laplacian", [PICTURE], {"scale": 2.0, "normalized_kernel": True}, "exclusive"),
        ("median_blur", [PICTURE], {"window_size": [3, 2]}, "odd"),
        ("box_blur", [PICTURE], {"window_size": [3, 2048]}, "2048"),
        ("box_blur", [PICTURE], {"window_size": [3, 3, 3]}, "1 or 2 values"),
        ("box_blur", [PICTURE.astype(np.int32)], {}, "int32"),
        ("dilate", [PICTURE], {"anchor": [3, 0]}, "anchor 3"),
        ("erode", [PICTURE], {"mask_size": [0, 3]}, "mask_size"),
        ("erode", [PICTURE], {"border_mode": "none"}, "border_mode"),
        ("correlate", [PICTURE, np.ones((3, 3, 3), np.float32)], {}, "3 dimensions does not fit 2 axes"),
        ("correlate", [PICTURE, np.ones((9, 3), np.float32)], {"mode": "valid"}, "larger than the sample"),
        ("correlate", [PICTURE, np.ones(9, np.float32)], {"mode": "valid"}, "1 dimensions does not fit 2 axes"),
        ("correlate", [PICTURE, np.ones((3, 3), np.float64)], {}, "float32"),
        ("correlate", [PICTURE, np.ones((3, 3), np.float32)], {"anchor": 3}, "anchor 3"),
        ("warp_perspective", [PICTURE], {"matrix": [0.0] * 9, "inverse_map": False}, "singular"),
        ("warp_perspective", [PICTURE], {"matrix": [1.0] * 6}, "9 values"),
        ("warp_perspective", [PICTURE], {}, "matrix"),
        ("warp_perspective", [PICTURE], {"matrix": [np.inf] * 9}, "finite"),
        ("remap", [PICTURE, np.zeros((3, 3), np.float32), np.zeros((3, 4), np.float32)], {}, "shapes"),
        ("paste", [PICTURE], {"ratio": 0.5, "fill_value": [1.0]}, "ratio"),
        ("paste", [PICTURE], {"ratio": 1.5, "fill_value": [1.0, 2.0]}, "3 values"),
        ("multi_paste", [PICTURE], {"in_ids": [1]}, "1 samples"),
        ("multi_paste", [PICTURE], {"in_anchors": [9, 0]}, "axis of 8"),
        ("multi_paste", [PICTURE], {"out_anchors": [1, 0]}, "becomes"),
        ("debayer", [PICTURE[:7, :, :1]], {"blue_position": [0, 0]}, "even"),
        ("debayer", [PICTURE[..., :1]], {"blue_position": [0, 2]}, "0 or 1"),
        ("debayer", [PICTURE[..., :1]], {"blue_position": [0, 0], "algorithm": "vng_ocv"}, "algorithm"),
        ("sphere", [PICTURE], {"interp_type": 2}, "interp_type"),
        ("noise.salt_and_pepper", [PICTURE], {"prob": 1.5}, "prob"),
    ],
)
def test_errors_name_the_operator_and_the_cause(name, inputs, arguments, words):
    function = fn
    for part in name.split("."):
        function = getattr(function, part)
    with pytest.raises((ValueError, TypeError)) as refused:
        function(*[penstock.batch([x], layout="HWC" if k == 0 else "") for k, x in enumerate(inputs)], **arguments)
    assert f"[{name}]" in str(refused.value) and words in str(refused.value)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("equalize", {}),
        ("laplacian", {}),
        ("jpeg_compression_distortion", {}),
        ("dilate", {}),
        ("median_blur", {}),
        ("box_blur", {}),
        ("sphere", {}),
        ("clahe", {"tiles_x": 2, "tiles_y": 2, "clip_limit": 2.0}),
        ("noise.gaussian", {}),
        ("jitter", {}),
        ("warp_perspective", {"matrix": [1.0, 0, 0, 0, 1, 0, 0, 0, 1]}),
        ("paste", {"ratio": 1.5, "fill_value": [1.0]}),
    ],
)
def test_empty_images(name, arguments):
    function = fn
    for part in name.split("."):
        function = getattr(function, part)
    for shape in ((0, 5, 3), (5, 0, 3)):
        assert array(function(hwc(np.zeros(shape, np.uint8)), **arguments)).shape[2] == 3


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_regions_of_multi_paste_cover_one_another_in_their_order(count):
    """Few regions are cut into what is seen of them; of 30 there are too many pieces."""
    rng = np.random.default_rng(count)
    for size in ([1, 1], [40, 50], [130, 97]):
        images = [
            rng.integers(1, 255, (int(rng.integers(1, 30)), int(rng.integers(1, 30)), 2), np.uint8) for _ in range(4)
        ]
        images.append(np.zeros((0, 4, 2), np.uint8))
        ids = rng.integers(0, len(images), count)
        shapes = [np.minimum(images[i].shape[:2], size) for i in ids]
        anchors = [rng.integers(0, np.array(size) - s + 1) for s in shapes]
        want = np.zeros((*size, 2))
        for i, (h, w), (y, x) in zip(ids, shapes, anchors):
            want[y : y + h, x : x + w] = images[i][:h, :w]
        for dtype in (types.UINT8, types.FLOAT):
            got = fn.multi_paste(
                penstock.batch(images, layout="HWC"),
                in_ids=ids.tolist(),
                output_size=size,
                shapes=np.array(shapes).ravel().tolist(),
                out_anchors=np.array(anchors).ravel().tolist(),
                dtype=dtype,
            )
            np.testing.assert_array_equal(got[0].numpy(), want)
