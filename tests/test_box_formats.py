# SPDX-License-Identifier: Apache-2.0
"""One convention for boxes: bbox_layout names it, bbox_normalized says the unit, and a box that does not match is an error."""

import numpy as np
import pytest

import penstock
from penstock import fn

F = np.float32
SIZE = 90, 120  # height, width
LTRB = np.array([[0.1, 0.2, 0.4, 0.8], [0.5, 0.0, 1.0, 0.3], [0.0, 0.0, 1.0, 1.0]], F)
UNIT = np.array([SIZE[1], SIZE[0]] * 2, F)


def as_format(boxes, name):
    """ltrb as another format."""
    low, high = boxes[:, :2].astype(np.float64), boxes[:, 2:].astype(np.float64)
    first = {"ltrb": low, "xywh": low, "cxcywh": (low + high) / 2}[name]
    return np.concatenate([first, high if name == "ltrb" else high - low], 1).astype(F)


def close(got, want):
    np.testing.assert_allclose(np.array(got), want, rtol=0, atol=2e-6 * max(1, np.abs(want).max()))


def flipped(b, x, y):
    b = b.copy()
    if x:
        b[:, [0, 2]] = 1 - b[:, [2, 0]]
    if y:
        b[:, [1, 3]] = 1 - b[:, [3, 1]]
    return b


@pytest.mark.parametrize("name", ["ltrb", "xywh", "cxcywh"])
@pytest.mark.parametrize("pixels", [False, True])
def test_each_format_and_unit_says_the_same(name, pixels):
    unit = UNIT if pixels else F(1)
    more = {"bbox_layout": name, **({"bbox_normalized": False, "input_shape": SIZE} if pixels else {})}
    given = as_format(LTRB * unit, name)
    for x, y in ((1, 0), (0, 1), (1, 1), (0, 0)):
        close(fn.bb_flip(given, horizontal=x, vertical=y, **more), as_format(flipped(LTRB, x, y) * unit, name))
    ratio, px, py = 2.0, 0.25, 0.75
    moved = LTRB / ratio + np.array([px, py] * 2, F) * (ratio - 1) / ratio
    canvas = UNIT * F(ratio) if pixels else F(1)
    close(fn.bbox_paste(given, ratio=ratio, paste_x=px, paste_y=py, **more), as_format(moved * canvas, name))
    turned = {"angle": 30.0, "input_shape": SIZE, "remove_threshold": 0.0}
    want = np.array(fn.bbox_rotate(LTRB, **turned))
    canvas = fn.rotate(np.zeros((*SIZE, 1), np.uint8), angle=30.0).shape
    got = fn.bbox_rotate(given, bbox_layout=name, bbox_normalized=not pixels, **turned)
    close(got, as_format(want * (np.array([canvas[1], canvas[0]] * 2, F) if pixels else F(1)), name))
    if not pixels:
        want = fn.random_bbox_crop(LTRB, scaling=[0.5, 0.9], seed=3)
        got = fn.random_bbox_crop(given, scaling=[0.5, 0.9], seed=3, bbox_layout=name)
        close(got[0], np.array(want[0]))
        close(got[2], as_format(np.array(want[2]), name))


PIXELS = np.array([[10, 20, 60, 80]], F)
OUTSIDE = (
    "box 0 of sample 0 extends from 10 to {} along x: read as '{}', "
    "in fractions of the image, boxes must be within 0 and 1"
)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda b: fn.bb_flip(b), OUTSIDE.format(70, "xywh")),
        (lambda b: fn.bb_flip(b, ltrb=True), OUTSIDE.format(60, "ltrb")),
        (lambda b: fn.bbox_paste(b, ratio=2.0), OUTSIDE.format(70, "xywh")),
        (lambda b: fn.bbox_rotate(b, angle=10.0, input_shape=[90, 120]), OUTSIDE.format(60, "xyXY")),
        (lambda b: fn.random_bbox_crop(b), OUTSIDE.format(60, "xyXY")),
        (lambda b: fn.ssd_random_crop(np.zeros((9, 9, 3), np.uint8), b, np.int32([1])), OUTSIDE.format(60, "ltrb")),
        (
            lambda b: fn.bb_flip(b, bbox_normalized=False, input_shape=[90, 30]),
            "in pixels, boxes must be within 0 and 30",
        ),
        (lambda b: fn.bb_flip(b, bbox_layout="cxcywh"), "extends from -20 to 40"),
        (lambda b: fn.bb_flip(b * np.nan), "box 0 of sample 0"),
        (lambda b: fn.bb_flip([LTRB, b, LTRB], bbox_layout="ltrb"), "box 0 of sample 1"),
        (lambda b: fn.bb_flip(np.concatenate([LTRB, b]), bbox_layout="ltrb"), "box 3 of sample 0"),
        (lambda b: fn.bb_flip(np.array([[0.6, 0.2, 0.3, 0.4]], F), ltrb=True), "ends before it starts"),
        (
            lambda b: fn.bbox_rotate(np.array([[0.6, 0.2, 0.3, 0.4]], F), angle=1.0, input_shape=[9, 9]),
            "ends before it starts",
        ),
        (
            lambda b: fn.box_encoder(np.array([[0.6, 0.2, 0.3, 0.4]], F), np.int32([1]), anchors=[0, 0, 1, 1]),
            "box 0 of sample 0 .* ends before",
        ),
        (lambda b: fn.coord_flip(b[:, :2]), "point 0 of sample 0 has x = 10: without center_x"),
        (lambda b: fn.bb_flip(b, bbox_layout="xYXy"), "must be ltrb, xywh or cxcywh"),
        (lambda b: fn.bb_flip(b, ltrb=True, bbox_layout="xywh"), "contradict"),
        (lambda b: fn.bb_flip(b, bbox_normalized=False), "need input_shape"),
    ],
)
def test_what_does_not_fit_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call(PIXELS)


def test_boxes_of_partly_visible_objects_may_extend_outside_the_image():
    b = np.array([[0.5, -0.5, 1.25, 0.8]], F)
    close(fn.bb_flip(b, ltrb=True), flipped(b, 1, 0))
    close(fn.bb_flip(as_format(b, "cxcywh"), bbox_layout="cxcywh"), as_format(flipped(b, 1, 0), "cxcywh"))
    assert np.array(fn.bbox_rotate(b, angle=10.0, input_shape=[50, 60])).shape == (1, 4)
    with pytest.raises(ValueError, match="box 0 of sample 0"):
        fn.random_bbox_crop(b)
    close(fn.coord_flip(np.array([[-0.2, 0.5]], F)), np.array([[1.2, 0.5]], F))
    close(fn.coord_flip(np.array([[30, 5]], F), center_x=60.0), np.array([[90, 5]], F))


def test_the_names_in_a_pipeline_and_its_errors():
    @penstock.pipeline_def(batch_size=2, num_threads=1)
    def pipe(boxes):
        return fn.bb_flip(fn.external_source(lambda: boxes, batch=True), bbox_layout="ltrb")

    close(pipe([LTRB, LTRB]).run()[0].at(1), flipped(LTRB, 1, 0))
    with pytest.raises(ValueError, match="box 0 of sample 1 extends from 10 to 60"):
        pipe([LTRB, PIXELS]).run()


@pytest.mark.parametrize(
    "operator",
    [
        lambda x: fn.resize(x, size=100),
        lambda x: fn.flip(x),
        lambda x: fn.rotate(x, angle=3.0),
        lambda x: fn.gaussian_blur(fn.crop(x, crop=(1, 1)), sigma=1.0),
        lambda x: fn.dilate(x),
    ],
)
def test_boxes_are_not_pictures(operator):
    message = r"works on images, but the input has the shape \(3, 4\) of boxes"
    with pytest.raises(ValueError, match=message):
        operator(LTRB)
    operator(penstock.tensor(LTRB, "HW"))  # a picture with a width of 4
    operator(LTRB.astype(np.uint8))
    operator(np.zeros((3, 5), F))

    @penstock.pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        image = fn.external_source(lambda: [np.zeros((9, 9, 3), np.uint8)] * 2, layout="HWC", batch=True)
        boxes = fn.external_source(lambda: [LTRB] * 2, batch=True)
        return operator(image), operator(boxes)

    with pytest.raises(ValueError, match=message):
        pipe().run()


def test_one_hot_asks_for_its_classes():
    with pytest.raises(ValueError, match=r"\[one_hot\].*'num_classes' is required"):
        fn.one_hot(np.int32([1, 2]))
    with pytest.raises(ValueError, match="num_classes must be at least 1"):
        fn.one_hot(np.int32([1, 2]), num_classes=0)
