# SPDX-License-Identifier: Apache-2.0
"""Drawing over pictures: OpenCV's pixels where its geometry is of integers, and near them where it is not."""

import cv2
import numpy as np
import pytest
from operators import drawing as ref

import penstock
from penstock import fn, pipeline_def

F = np.float32


def blank(height=60, width=80, channels=3):
    return np.zeros((height, width, channels), np.uint8)


def ends(rng, n, span):
    return rng.integers(-span, 2 * span, (n, 4))


@pytest.mark.parametrize("span", [60, 500, 200_000])
def test_thin_lines_are_opencvs(span):
    rng = np.random.default_rng(span)
    for size in ((60, 80), (1, 9), (7, 1), (33, 64)):
        given, want = ends(rng, 60, span), np.zeros(size, np.uint8)
        for line in given.tolist():
            cv2.line(want, line[:2], line[2:], 255)
        np.testing.assert_array_equal(fn.draw_lines(np.zeros(size, np.uint8), lines=given.ravel()), want)


@pytest.mark.parametrize("thickness", [1, 2, 3, 4, 7, 30])
def test_boxes_are_opencvs(thickness):
    rng = np.random.default_rng(thickness)
    for size in ((60, 80), (1, 9), (33, 64)):
        boxes = np.sort(ends(rng, 12, 60).reshape(-1, 2, 2), 1).reshape(-1, 4)
        want, colors = blank(*size), rng.integers(0, 256, (12, 3))
        for (a, b, c, d), color in zip(boxes.tolist(), colors.tolist()):
            cv2.rectangle(want, (a, b), (c, d), color, thickness)
        got = fn.draw_boxes(blank(*size), boxes.astype(F), thickness=thickness, color=colors.ravel().astype(float))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("radius", [0, 1, 2, 3, 5, 12, 40])
def test_discs_and_thin_circles_are_opencvs(radius):
    for thickness in (0, 1):
        for center in ((30, 30), (2, 70), (79, 59), (-3, -2)):
            want = blank(60, 80, 1)[..., 0].copy()
            cv2.circle(want, center, radius, 255, thickness or -1)
            got = fn.draw_circles(np.zeros_like(want), centers=list(center), radius=radius, thickness=thickness)
            np.testing.assert_array_equal(got, want)


def within_a_pixel(got, want):
    block = np.ones((3, 3), np.uint8)
    got, want = np.array(got).reshape(want.shape), np.array(want)
    return (got <= cv2.dilate(want, block)).all() and (want <= cv2.dilate(got, block)).all()


@pytest.mark.parametrize("thickness", [2, 3, 5, 9])
def test_thick_lines_and_circles_are_near_opencvs(thickness):
    rng = np.random.default_rng(thickness)
    for line in rng.integers(80, 160, (20, 4)).tolist():
        want = np.zeros((240, 240), np.uint8)
        cv2.line(want, line[:2], line[2:], 255, thickness)
        assert within_a_pixel(fn.draw_lines(np.zeros_like(want), lines=line, thickness=thickness), want)
    for x, y, r in (rng.integers(5, 60, (20, 3)) + [90, 90, 0]).tolist():
        want = np.zeros((240, 240), np.uint8)  # no border is near
        cv2.circle(want, (x, y), r, 255, thickness)
        assert within_a_pixel(fn.draw_circles(np.zeros_like(want), centers=[x, y], radius=r, thickness=thickness), want)


def test_positions_are_rounded_half_up():
    dot = lambda x: np.argwhere(np.array(fn.draw_circles(blank(9, 9, 1), centers=[x, 4], radius=0)))[:, 1].tolist()  # noqa: E731
    assert [dot(x) for x in (1.49, 1.5, 2.5, -0.5)] == [[1], [2], [3], [0]]


@pytest.mark.parametrize("opacity", [0.0, 0.2, 0.5, 1.0])
def test_a_box_covers_each_pixel_once(opacity):
    image = np.random.default_rng(0).integers(0, 256, (40, 50, 4), np.uint8)
    box = F([[5, 5, 30, 20]])
    a = round(opacity * 255)
    got = fn.draw_boxes(image, box, color=[10, 200, 30, 255], thickness=5, opacity=opacity)
    outline = ref.box_masks((40, 50), box[0], 5)[1]
    want = image.astype(int)
    want[outline] = (want[outline] * (255 - a) + np.array([10, 200, 30, 255]) * a + 127) // 255
    np.testing.assert_array_equal(got, want)


def test_names_are_above_their_boxes():
    boxes, labels = F([[10, 30, 60, 50], [0, 2, 79, 58]]), np.int64([1, 7])
    got = np.array(fn.draw_boxes(blank(), boxes, labels, names=["cat", "dog"], color=[250, 250, 250, 90, 0, 0]))
    cell, letters = ref.text_mask((60, 80), (10, 30 - 13), "dog", 1)
    assert (got[letters & cell] == [255, 255, 255]).all() and (got[cell & ~letters] == [90, 0, 0]).all()
    cell, letters = ref.text_mask((60, 80), (0, 3), "7", 1)  # no room above: inside
    assert (got[letters & cell] == [255, 255, 255]).all() and (got[cell & ~letters] == [90, 0, 0]).all()
    light = np.array(fn.draw_boxes(blank(), boxes[:1], labels[:1] - 1, names=["cat"], color=[250, 250, 250]))
    cell, letters = ref.text_mask((60, 80), (10, 30 - 13), "cat", 1)
    assert (light[letters & cell] == 0).all() and (light[cell & ~letters] == 250).all()


def test_formats_of_boxes():
    ltrb = F([[8, 10, 40, 30]])
    want = fn.draw_boxes(blank(), ltrb)
    for given, more in (
        (F([[8, 10, 32, 20]]), {"bbox_layout": "xywh"}),
        (F([[24, 20, 32, 20]]), {"bbox_layout": "cxcywh"}),
        (ltrb / F([80, 60, 80, 60]), {"bbox_normalized": True}),
    ):
        np.testing.assert_array_equal(fn.draw_boxes(blank(), given, **more), want)


def test_text_in_other_alphabets():
    with_marks = fn.draw_text(blank(), text=["a\u00e4\u4e2d"], positions=[0, 0])
    np.testing.assert_array_equal(with_marks, fn.draw_text(blank(), text=["a??"], positions=[0, 0]))


def test_the_input_stays_and_ragged_batches():
    images = [blank(20, 30), blank(50, 10)]
    lines = penstock.batch([F([0, 0, 9, 9]), F([])])
    got = fn.draw_lines(images, lines=lines)
    assert not images[0].any() and np.array(got[0]).any() and not np.array(got[1]).any()


def test_a_pipeline_draws_what_it_detects():
    @pipeline_def(batch_size=2, num_threads=2)
    def pipe():
        image = fn.external_source(lambda: [blank(), blank(30, 40)], layout="HWC")
        boxes = fn.external_source(lambda: [F([[5, 5, 20, 20], [6, 5, 20, 20]])] * 2)
        kept = boxes[fn.nms(boxes, fn.external_source(lambda: [F([0.9, 0.3])] * 2, ndim=1))]
        drawn = fn.draw_boxes(fn.draw_boxes(image, boxes, color=[0, 0, 255]), kept, color=[255, 0, 0])
        return image, drawn

    images, drawn = pipe().run()
    assert not np.array(images.at(0)).any()
    for k in (0, 1):
        want = blank(60, 80) if k == 0 else blank(30, 40)
        for a, color in ((5, (0, 0, 255)), (6, (0, 0, 255)), (5, (255, 0, 0))):
            cv2.rectangle(want, (a, 5), (20, 20), color)
        np.testing.assert_array_equal(drawn.at(k), want)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: fn.draw_lines(blank().astype(F), lines=[0, 0, 1, 1]), "expected uint8, got float32"),
        (lambda: fn.draw_lines(blank(9, 9, 5), lines=[0, 0, 1, 1]), "images must have 1 to 4 channels"),
        (lambda: fn.draw_lines(blank(), lines=[0, 0, 1]), "lines must have 4 numbers for each line, got 3"),
        (lambda: fn.draw_lines(blank(), lines=[0, 0, 1, 1e9]), "lines must be at most 1048576 pixels"),
        (lambda: fn.draw_lines(blank(), lines=[0, 0, 1, 1], color=[1, 2]), "color has 2 numbers; expected 1, 3"),
        (lambda: fn.draw_lines(blank(), lines=[0, 0, 1, 1], color=[300]), "color must be from 0 to 255, got 300"),
        (lambda: fn.draw_lines(blank(), lines=[0, 0, 1, 1], thickness=0), "thickness must be from 1 to 255, got 0"),
        (lambda: fn.draw_lines(blank(), lines=[0, 0, 1, 1], opacity=1.5), "opacity must be from 0 to 1, got 1.5"),
        (lambda: fn.draw_circles(blank(), centers=[1, 2, 3], radius=1), "centers must have 2 numbers"),
        (lambda: fn.draw_circles(blank(), centers=[1, 2], radius=[1, 2]), "radius has 2 numbers; expected 1, or 1"),
        (lambda: fn.draw_circles(blank(), centers=[1, 2], radius=-1), "radius must be from 0 to 32768, got -1"),
        (lambda: fn.draw_text(blank(), text=["a"], positions=[1]), "positions has 1 numbers; expected 2 for each of 1"),
        (lambda: fn.draw_text(blank(), text=["a"], positions=[1, 2], indices=[1]), "index 1 is not one of 1 texts"),
        (lambda: fn.draw_text(blank(), text=["a"], positions=[1, 2], scale=65), "scale must be from 1 to 64, got 65"),
        (lambda: fn.draw_boxes(blank(), F([[5, 5, 2, 9]])), "box 0 of sample 0 ends before it starts"),
        (lambda: fn.draw_boxes(blank(), F([[5, 5, np.nan, 9]])), "box 0 is not finite"),
        (lambda: fn.draw_boxes(blank(), np.zeros((1, 4))), "boxes must be float32, got float64"),
        (lambda: fn.draw_boxes(blank(), F([[5, 5, 9, 9]]), names=["a"]), "names need labels, the third input"),
        (lambda: fn.draw_boxes(blank(), F([[5, 5, 9, 9]]), np.int32([1, 2])), "1 boxes do not match labels of shape"),
        (lambda: fn.draw_boxes(blank(), F([[5, 5, 9, 9]]), F([1])), "labels must be integers, got float32"),
    ],
)
def test_what_does_not_fit(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
