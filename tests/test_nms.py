# SPDX-License-Identifier: Apache-2.0
"""Non-maximum suppression: OpenCV keeps the same boxes, masks and rows say the same, and ties go by index."""

import cv2
import numpy as np
import pytest
from operators import suppression as ref

import penstock
from penstock import fn, pipeline_def

F = np.float32
SEEDS = range(6)


def drawn(seed, n, whole=True):
    rng = np.random.default_rng(seed)
    boxes = ref.random_boxes(rng, n, False)
    if whole:  # OpenCV's boxes are integers, and have an area
        boxes = np.round(boxes * 16)
        boxes[:, 2:] += 1
    return boxes, rng.random(n).astype(F)


def as_rows(boxes):
    return [(int(b[0]), int(b[1]), int(b[2] - b[0]), int(b[3] - b[1])) for b in boxes]


@pytest.mark.parametrize("seed", SEEDS)
def test_opencv_keeps_the_same(seed):
    boxes, scores = drawn(seed, 300)
    want = np.ravel(cv2.dnn.NMSBoxes(as_rows(boxes), scores, 0.1, 0.4))
    np.testing.assert_array_equal(fn.nms(boxes, scores, iou_threshold=0.4, score_threshold=0.1), want)


@pytest.mark.parametrize("method", ["linear", "gaussian"])
@pytest.mark.parametrize("seed", SEEDS)
def test_soft_scores_are_opencvs(seed, method):
    boxes, scores = drawn(seed, 150)
    values, rows = cv2.dnn.softNMSBoxes(
        as_rows(boxes), scores, 0.05, 0.3, sigma=0.4, method=1 if method == "linear" else 2
    )
    given = {"iou_threshold": 0.3, "score_threshold": 0.05, "soft": method, "sigma": 0.4}
    got, left = fn.nms(boxes, scores, **given)
    np.testing.assert_array_equal(got, np.ravel(rows))
    np.testing.assert_allclose(left, np.ravel(values), rtol=1e-5)
    mask, values = fn.nms(boxes, scores, output_mask=True, **given)
    assert np.flatnonzero(mask).tolist() == sorted(np.array(got).tolist())
    np.testing.assert_array_equal(np.array(values)[np.array(got)], left)
    assert not np.array(values)[np.array(mask) == 0].any()


@pytest.mark.parametrize("soft", ["linear", "gaussian"])
@pytest.mark.parametrize("form", ["labels", "classes"])
def test_soft_scores_of_classes(soft, form):
    rng = np.random.default_rng(3)
    boxes = ref.random_boxes(rng, 80, False)
    scores = rng.random((80, 3) if form == "classes" else 80).astype(F)
    labels = [] if form == "classes" else [rng.integers(-2, 2, 80)]
    got, left = fn.nms(boxes, scores, *labels, soft=soft, score_threshold=0.2, max_detections=50)
    taken, values = ref.kept_boxes(boxes, scores, *labels, soft=soft, score_threshold=0.2, max_detections=50)
    want = np.stack([taken // 3, taken % 3], 1) if form == "classes" else taken
    np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(left, values, rtol=1e-5)


def test_each_label_is_kept_by_itself():
    boxes, scores = drawn(1, 400, False)
    labels = np.random.default_rng(1).integers(0, 5, 400)
    got = np.array(fn.nms(boxes, scores, labels))
    alone = [np.flatnonzero(labels == k)[np.array(fn.nms(boxes[labels == k], scores[labels == k]))] for k in range(5)]
    want = np.concatenate(alone)
    assert got.tolist() == want[np.argsort(-scores[want], kind="stable")].tolist()


def test_masks_and_rows_say_the_same():
    rng = np.random.default_rng(4)
    xs = [ref.random_boxes(rng, n, False) for n in (0, 1, 70)]
    scores = [rng.random((len(x), 2)).astype(F) for x in xs]
    for s in (scores, [v[:, 0].copy() for v in scores]):
        rows, masks = fn.nms(xs, s), fn.nms(xs, s, output_mask=True)
        for i, given in enumerate(s):
            mask = np.array(masks[i])
            assert mask.shape == given.shape and mask.dtype == np.uint8
            want = np.zeros_like(mask)
            want[tuple(np.array(rows[i]).reshape(-1, given.ndim).T)] = 1
            np.testing.assert_array_equal(mask, want)


def test_equal_scores_go_by_index():
    boxes = np.repeat(F([[0, 0, 10, 10], [20, 0, 30, 10]]), 3, 0)
    assert fn.nms(boxes, np.ones(6, F)).tolist() == [0, 3]
    assert fn.nms(boxes, F([0, -0.0, 0, -0.0, 0, 0])).tolist() == [0, 3]
    assert fn.nms(boxes, np.ones(6, F), max_detections=1).tolist() == [0]


def test_scores_and_boxes_that_are_no_numbers():
    boxes, scores = F([[0, 0, 10, 10]] * 3), F([np.nan, 0.2, np.inf])
    assert fn.nms(boxes, scores).tolist() == [2]
    assert fn.nms(boxes, scores[:2].repeat(2)[:3], soft="linear")[0].tolist() == [2]
    boxes[1, 2] = np.nan
    assert fn.nms(boxes, scores).tolist() == [2, 1]
    assert fn.nms(F([[5, 5, 5, 5]] * 2), F([1, 1])).tolist() == [0, 1]  # without area: they overlap none


def test_a_threshold_is_not_rounded():
    boxes = F([[0, 0, 10, 1], [0, 0, 3, 1]])  # 3/10, which is more than 0.3 in float32
    assert fn.nms(boxes, F([1, 0.5]), iou_threshold=0.3).tolist() == [0]
    assert fn.nms(boxes, F([1, 0.5]), iou_threshold=float(F(0.3))).tolist() == [0, 1]


def test_many_boxes_and_strided_inputs():
    boxes, scores = drawn(7, 10_000, False)
    boxes *= 20
    got = fn.nms(boxes, scores, score_threshold=0.8, iou_threshold=0.1)
    assert got.tolist() == ref.nms(boxes, scores, score_threshold=0.8, iou_threshold=0.1).tolist()
    wide = np.repeat(boxes, 2, 1)[:, ::2]
    assert not wide.flags.c_contiguous
    assert (
        fn.nms(wide, scores[::-1], max_detections=9).tolist() == ref.nms(boxes, scores[::-1], max_detections=9).tolist()
    )


def test_a_detection_program():
    """Boxes of a ragged batch, selected by the result."""
    xs, scores = zip(*(drawn(k, n) for k, n in enumerate((5, 0, 40))))

    @pipeline_def(batch_size=3, num_threads=1)
    def pipe():
        boxes, values = fn.external_source(lambda: list(xs)), fn.external_source(lambda: list(scores), ndim=1)
        return boxes[fn.nms(boxes, values, iou_threshold=0.4)]

    for got, x, s in zip(pipe().run()[0], xs, scores):
        np.testing.assert_array_equal(got.numpy(), x[ref.nms(x, s, iou_threshold=0.4)])


@pytest.mark.parametrize(
    "arguments, inputs, message",
    [
        ({"iou_type": "ciou"}, 2, "iou_type must be iou, giou or diou, got 'ciou'"),
        ({"soft": "hard"}, 2, "soft must be linear or gaussian, got 'hard'"),
        ({"bbox_layout": "xyzXYZ"}, 2, "bbox_layout must be ltrb, xywh or cxcywh"),
        ({"iou_threshold": 2.0}, 2, "iou_threshold must be"),
        ({"max_detections": 0}, 2, "max_detections must be at least 1"),
        ({"sigma": 0.0}, 2, "sigma must be"),
        ({}, 1, "takes 2 inputs to 3, got 1"),
    ],
)
def test_arguments_that_cannot_be(arguments, inputs, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fn.nms(*drawn(0, 3)[:inputs], **arguments)


@pytest.mark.parametrize(
    "boxes, scores, labels, message",
    [
        (np.zeros((3, 4)), np.zeros(3, F), None, "boxes must be float32, got float64"),
        (np.zeros((3, 5), F), np.zeros(3, F), None, "boxes must have 4 numbers each"),
        (np.zeros((3, 4), F), np.zeros(2, F), None, "3 boxes do not match scores of shape"),
        (np.zeros((3, 4), F), np.zeros(3, np.int32), None, "scores must be float32, got int32"),
        (np.zeros((3, 4), F), np.zeros((3, 1, 1), F), None, r"scores must have the shape \(N\) or \(N, C\)"),
        (np.zeros((3, 4), F), np.zeros(3, F), np.zeros(4, np.int32), "3 boxes do not match labels of shape"),
        (np.zeros((3, 4), F), np.zeros(3, F), np.zeros(3, F), "labels must be integers, got float32"),
        (np.zeros((3, 4), F), np.zeros((3, 2), F), np.zeros(3, np.int32), "go without labels"),
    ],
)
def test_inputs_that_do_not_fit(boxes, scores, labels, message):
    given = [boxes, scores] + ([] if labels is None else [labels])
    with pytest.raises((ValueError, TypeError), match=message):
        fn.nms(*given)
    with pytest.raises((ValueError, TypeError), match=message):
        fn.nms(*[penstock.batch([x, x]) for x in given])
