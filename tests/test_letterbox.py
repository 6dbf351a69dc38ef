# SPDX-License-Identifier: Apache-2.0
"""letterbox beside OpenCV, the way back, and roi_align beside torchvision."""

from inspect import unwrap

import cv2
import numpy as np
import pytest
import torch
import torchvision_oracle  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st
from operators.letterboxes import placed

import penstock
from penstock import Pipeline, fn
from penstock.sample import Sample


@given(st.data())
def test_it_is_what_opencv_makes(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    height, width = (data.draw(st.integers(1, 200)) for _ in range(2))
    x = cv2.resize(rng.integers(0, 256, (8, 8, 3), np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    size = [data.draw(st.sampled_from([1, 32, 96, 111, 160])) for _ in range(2)]
    how = {"align": data.draw(st.sampled_from(["center", "corner"])), "scale_up": data.draw(st.booleans())}
    how["stride"] = data.draw(st.sampled_from([0, 32]))
    _, (high, wide), (above, below), (left, right) = placed(height, width, size, **how)
    wanted = x if (high, wide) == (height, width) else cv2.resize(x, (wide, high), interpolation=cv2.INTER_LINEAR)
    wanted = cv2.copyMakeBorder(wanted, above, below, left, right, cv2.BORDER_CONSTANT, value=(114, 115, 116))
    got = fn.letterbox(x, size=size, fill_values=[114, 115, 116], **how)
    assert got.shape == wanted.shape
    assert np.abs(got.astype(int) - wanted).max() <= 1


def test_boxes_come_back_from_a_pipeline():
    rng = np.random.default_rng(3)
    shapes = [(480, 640), (333, 500), (90, 70)]
    images = [np.zeros((h, w, 3), np.uint8) for h, w in shapes]
    boxes = []
    for h, w in shapes:
        low = rng.uniform(0, 0.5, (5, 2)) * (w, h)
        boxes.append(np.concatenate([low, low + rng.uniform(0.1, 0.5, (5, 2)) * (w, h)], 1).astype(np.float32))
    there = []
    for (h, w), b in zip(shapes, boxes):
        scale, _, down, across = placed(h, w, 640)
        there.append((b * scale + (across[0], down[0], across[0], down[0])).astype(np.float32))
    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        x = fn.external_source(lambda: images, batch=True, layout="HWC")
        found = fn.external_source(lambda: there, batch=True)
        boxed, extents = fn.letterbox(x, size=640, save_attrs=True)
        row = fn.letterbox_placement(extents, size=640)
        pipe.set_outputs(boxed, row, fn.unletterbox_boxes(found, row))
    boxed, rows, back = pipe.run()
    for i, (h, w) in enumerate(shapes):
        assert np.asarray(boxed[i]).shape == (640, 640, 3)
        scale, _, down, across = placed(h, w, 640)
        np.testing.assert_allclose(rows[i], [scale, across[0], down[0], w, h], rtol=1e-6)
        np.testing.assert_allclose(back[i], boxes[i], atol=1e-3)


def test_a_sample_moves_its_boxes_and_masks():
    mark = np.zeros((40, 60, 3), np.uint8)
    mark[10:20, 30:50] = 255
    given = Sample(image=mark, boxes=np.float32([[30, 10, 50, 20]]), mask=np.ones((40, 60, 1), np.uint8))
    moved = fn.letterbox(given, size=120)
    rows, columns = np.nonzero(moved["image"][20:100, ..., 0] > 127)
    box = (columns.min(), rows.min() + 20, columns.max() + 1, rows.max() + 21)
    assert box == (60, 40, 100, 60)
    np.testing.assert_allclose(moved["boxes"], [box], atol=1e-4)
    np.testing.assert_allclose(moved.boxes_back(np.float32([box])), given["boxes"], atol=1e-4)
    assert moved["image"][0, 0, 0] == 114
    mask = moved["mask"]
    assert (mask[:20] == 0).all() and (mask[20:100] == 1).all() and (mask[100:] == 0).all()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: fn.letterbox(x), "size"),
        (lambda x: fn.letterbox(x, size=[1, 2, 3]), "one number, or height and width, got 3"),
        (lambda x: fn.letterbox(x, size=0), "from 1 to"),
        (lambda x: fn.letterbox(x, size=9, align="left"), '"center" or "corner", got "left"'),
        (lambda x: fn.letterbox(x, size=9, fill_values=[1, 2]), "1 or 3 values, got 2"),
        (lambda x: fn.letterbox(x[:0], size=9), "0 x 6 pixels has no scale"),
        (lambda x: fn.letterbox_placement(np.int32([5]), size=9), "height and the width first, got the shape"),
        (lambda x: fn.unletterbox_boxes(np.zeros((2, 5), np.float32), np.zeros(5, np.float32)), r"shape \(N, 4\)"),
        (lambda x: fn.unletterbox_boxes(np.zeros((2, 4), np.float32), np.zeros(4, np.float32)), "5 numbers"),
        (lambda x: fn.roi_align(np.zeros((3, 8, 8), np.float32), np.zeros((2, 5), np.float32)), r"\(N, 4\)"),
    ],
)
def test_wrong_calls(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(np.zeros((5, 6, 3), np.uint8))


@given(st.data())
def test_roi_align_is_that_of_torchvision(data):
    from torchvision.ops.roi_align import _roi_align

    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = [data.draw(st.sampled_from([1, 2, 5])), *(data.draw(st.sampled_from([1, 7, 33])) for _ in range(2))]
    maps = rng.normal(size=shape).astype(np.float32)
    # Inside the map: torchvision's function in Python does not leave out the samples beyond it, as its others do.
    low, high = np.sort(rng.uniform(0, 1, (2, data.draw(st.integers(1, 4)), 2)), 0)
    boxes = np.concatenate([low * (np.array(shape[:0:-1]) - 1), high * shape[:0:-1]], 1)
    how = {"spatial_scale": data.draw(st.sampled_from([1.0, 0.5])), "aligned": data.draw(st.booleans())}
    boxes = (boxes / how["spatial_scale"]).astype(np.float32)
    how["sampling_ratio"] = data.draw(st.sampled_from([-1, 1, 2]))
    size = [data.draw(st.integers(1, 7)) for _ in range(2)]
    got = fn.roi_align(maps, boxes, output_size=size, **how)
    rois = torch.cat([torch.zeros(len(boxes), 1), torch.from_numpy(boxes)], 1)
    wanted = unwrap(_roi_align)(  # the function that torch.compile, which takes a minute, would compile
        torch.from_numpy(maps)[None], rois, how["spatial_scale"], *size, how["sampling_ratio"], how["aligned"]
    )
    np.testing.assert_allclose(got, wanted.numpy(), atol=1e-5)
    last = fn.roi_align(penstock.tensor(maps.transpose(1, 2, 0).copy(), layout="HWC"), boxes, output_size=size, **how)
    np.testing.assert_array_equal(np.asarray(last).transpose(0, 3, 1, 2), got)
