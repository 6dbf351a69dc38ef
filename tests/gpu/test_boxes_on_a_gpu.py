# SPDX-License-Identifier: Apache-2.0
"""Operators on boxes give the same results for boxes on a GPU as on the CPU, also those that run on the CPU."""

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def

if penstock._core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({penstock._core.gpu_why_not()})", allow_module_level=True)

RANDOM = np.random.default_rng(2)
BOXES = [np.sort(RANDOM.random((n, 2, 2), np.float32), 1).reshape(-1, 4) for n in (3, 1, 5, 2)]
LABELS = [np.arange(1, 1 + len(b), dtype=np.int32) for b in BOXES]


@pipeline_def(batch_size=4, num_threads=2, seed=5, device_id=0)
def detection(gpu):
    there = (lambda x: x.gpu()) if gpu else lambda x: x
    boxes, labels = there(fn.external_source(lambda: BOXES)), there(fn.external_source(lambda: LABELS))
    flipped = fn.bb_flip(boxes, ltrb=True, horizontal=fn.random.coin_flip())
    moved = fn.coord_transform(flipped, MT=fn.random.uniform(range=[0.0, 1.0], shape=[2, 5]))
    pasted = fn.bbox_paste(flipped, ratio=fn.random.uniform(range=[1.0, 3.0]), ltrb=True)
    anchor, shape, kept, names = fn.random_bbox_crop(pasted, labels, scaling=[0.5, 1.0])
    encoded, classes = fn.box_encoder(kept, names, anchors=np.concatenate(BOXES).ravel().tolist())
    return moved, pasted, anchor, shape, kept, encoded, fn.one_hot(there(classes), num_classes=7)


def test_a_detection_pipeline():
    (cpu, gpu) = (detection(g).run() for g in (False, True))
    assert [b.device for b in gpu][:2] == ["gpu:0"] * 2 and gpu[-1].device == "gpu:0"
    for a, b in zip(cpu, gpu):
        for x, y in zip(a, b.cpu()):
            assert x.numpy().shape == y.numpy().shape and x.numpy().tobytes() == y.numpy().tobytes()


def test_boxes_far_outside_of_their_image_become_nan():
    """The host does not read values on a GPU: the result is NaN, not an error and not a number that looks right."""
    far = np.float32([[0.1, 0.2, 0.5, 0.6], [10, 20, 60, 80]])
    for call in (
        lambda x: fn.bb_flip(x, ltrb=True),
        lambda x: fn.bbox_paste(x, ratio=2.0, bbox_layout="cxcywh"),
        lambda x: fn.bb_flip(x, bbox_layout="ltrb", bbox_normalized=False, input_shape=[5, 9]),
    ):
        got = call(penstock.tensor(far).gpu()).cpu().numpy()
        assert np.isfinite(got[0]).all() and np.isnan(got[1]).all()
        np.testing.assert_array_equal(got[:1], call(far[:1]))
    points = fn.coord_flip(penstock.tensor(far[:, :2].copy()).gpu()).cpu().numpy()
    assert np.isfinite(points[0]).all() and np.isnan(points[1, 0])
