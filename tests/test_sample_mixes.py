# SPDX-License-Identifier: Apache-2.0
"""Mosaics, pasted objects and mixed pictures: boxes, labels, masks and points stay those of what is seen."""

import numpy as np
import pytest

import penstock
from penstock import augment, fn, pipeline_def
from penstock.sample import Boxes, Mask, Sample

COUNT = 4


def parts_of(k, ragged=True):
    """Two rectangles whose values are their labels; points at their upper left corners."""
    height, width = (48 + k, 64 - k) if ragged else (48, 64)
    boxes = np.float32([[4 + k, 5, 20, 17], [30, 20, 44, 40]])
    labels = np.int32([20 * k + 10, 20 * k + 20])
    image, masks = np.zeros((height, width, 3), np.uint8), np.zeros((2, height, width), np.uint8)
    for mask, label, (left, top, right, bottom) in zip(masks, labels, boxes.astype(int)):
        mask[top:bottom, left:right], image[top:bottom, left:right] = 1, label
    return {
        "image": image,
        "mask": image[..., :1].copy(),
        "boxes": boxes,
        "labels": labels,
        "instances": masks,
        "points": np.hstack([boxes[:, :2], labels[:, None]]).astype(np.float32),
    }


def run(function, data, in_pipeline, **settings):
    if not in_pipeline:
        parts = {
            name: penstock.batch([d[name] for d in data], layout="HWC" if name in ("image", "mask") else "")
            for name in data[0]
        }
        parts |= {"mask": Mask(parts["mask"], fill=255), "boxes": Boxes(parts["boxes"], **settings)}
        made = function(Sample(**parts))
    else:

        @pipeline_def(batch_size=len(data), num_threads=1, seed=11)
        def pipe():
            source = lambda name: lambda: [d[name] for d in data]  # noqa: E731
            layouts = {"image": "HWC", "mask": "HWC"}
            parts = {name: fn.external_source(source(name), layout=layouts.get(name, "")) for name in data[0]}
            parts |= {"mask": Mask(parts["mask"], fill=255), "boxes": Boxes(parts["boxes"], **settings)}
            return function(Sample(**parts))

        made = pipe().run()
    return [{name: np.asarray(made[name][k]) for name in made} for k in range(len(data))]


def around(mask):
    y, x = np.nonzero(mask)
    return [x.min(), y.min(), x.max() + 1, y.max() + 1]


@pytest.mark.parametrize("in_pipeline", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_mosaic_keeps_what_belongs_together(in_pipeline, seed):
    penstock.seed(seed)
    data = [parts_of(k) for k in range(COUNT)]
    for k, got in enumerate(run(lambda s: augment.mosaic(s, (96, 128), fill=7), data, in_pipeline)):
        assert got["image"].shape == (96, 128, 3) and got["mask"].shape == (96, 128, 1)
        assert len(got["boxes"]) == len(got["labels"]) == len(got["instances"]) and len(got["points"]) == 8
        for box, label, mask in zip(got["boxes"], got["labels"], got["instances"]):
            np.testing.assert_array_equal(box, around(mask))
            assert (got["image"][mask > 0] == label).all() and (got["mask"][mask > 0] == label).all()
        seen = set(np.unique(got["image"])) - {0, 7}
        assert seen == set(got["labels"].tolist())
        np.testing.assert_array_equal(got["mask"][got["image"][..., 0] == 7] % 255, 0)
        for x, y, label in got["points"]:
            if 0 <= x < 127 and 0 <= y < 95 and label in seen:
                near = got["image"][max(int(y), 0) : int(y) + 2, max(int(x), 0) : int(x) + 2, 0]
                whole = [b for b, found in zip(got["boxes"], got["labels"]) if found == label]
                assert label in near or all(abs(b[0] - x) > 1 or abs(b[1] - y) > 1 for b in whole)
        assert any(label in (20 * k + 10, 20 * k + 20) for label in got["points"][:, 2])


def test_boxes_of_a_mosaic_in_fractions():
    data = [parts_of(k) for k in range(COUNT)]
    for d in data:
        height, width = d["image"].shape[:2]
        d["boxes"] = d["boxes"] / np.float32([width, height, width, height])
    for got in run(lambda s: augment.mosaic(s, (96, 128)), data, True, normalized=True):
        for box, mask in zip(got["boxes"] * np.float32([128, 96, 128, 96]), got["instances"]):
            np.testing.assert_allclose(box, around(mask), atol=1e-3)


@pytest.mark.parametrize("in_pipeline", [True, False])
@pytest.mark.parametrize("p", [0.0, 0.6, 1.0])
def test_pasted_objects_cover_others(in_pipeline, p):
    data = [parts_of(k, ragged=False) for k in range(COUNT)]
    pasted = run(lambda s: augment.copy_paste(s, p=p), data, in_pipeline, min_visibility=0.25)
    for k, got in enumerate(pasted):
        own = {20 * k + 10, 20 * k + 20}
        assert len(got["boxes"]) == len(got["labels"]) == len(got["instances"])
        assert p > 0 or set(got["labels"].tolist()) == own
        assert p < 1 or len(set(got["labels"].tolist()) - own) == 2
        assert got["instances"].astype(int).sum(0).max() <= 1  # nothing is both above and below
        for box, label, mask in zip(got["boxes"], got["labels"], got["instances"]):
            np.testing.assert_array_equal(box, around(mask))
            assert (got["image"][mask > 0] == label).all() and (got["mask"][mask > 0] == label).all()
            before = data[label // 20 - (label % 20 == 0)]["instances"][0 if label % 20 else 1].sum()
            assert (mask > 0).sum() >= 0.25 * before


@pytest.mark.parametrize("in_pipeline", [True, False])
def test_mixed_pictures_have_the_boxes_of_both(in_pipeline):
    data = [parts_of(k, ragged=False) for k in range(COUNT)]
    for k, got in enumerate(run(augment.mixup_boxes, data, in_pipeline)):
        other = next(d for d in data if d["labels"][0] == got["labels"][2])
        assert got["labels"].tolist() == [*data[k]["labels"], *other["labels"]] and other is not data[k]
        for part in ("boxes", "instances", "points"):
            np.testing.assert_array_equal(got[part], np.concatenate([data[k][part], other[part]]))
        np.testing.assert_array_equal(got["mask"], data[k]["mask"])
        own, its = (d["image"].astype(float) for d in (data[k], other))
        apart = own != its
        share = np.median((got["image"][apart] - its[apart]) / (own[apart] - its[apart]))
        np.testing.assert_allclose(got["image"], own * share + its * (1 - share), atol=1.01)


def test_samples_without_objects_are_mixed():
    data = [parts_of(k, ragged=False) for k in range(COUNT)]
    for d in data[:3]:
        d |= {name: d[name][:0].copy() for name in ("boxes", "labels", "instances", "points")}
    for function in (
        lambda s: augment.mosaic(s, (64, 64)),
        lambda s: augment.copy_paste(s, p=1.0),
        augment.mixup_boxes,
    ):
        for in_pipeline in (True, False):
            for got in run(function, data, in_pipeline):
                assert len(got["boxes"]) == len(got["labels"]) == len(got["instances"])


def test_a_mix_says_what_is_wrong():
    image = np.zeros((8, 8, 3), np.uint8)
    with pytest.raises(TypeError, match="a Sample is needed"):
        augment.mosaic(image, (8, 8))
    with pytest.raises(TypeError, match="values of a pipeline or Batches"):
        augment.mosaic(Sample(image=image), (8, 8))
    batch = Sample(image=penstock.batch([image] * 2))
    with pytest.raises(ValueError, match="no Boxes"):
        augment.copy_paste(batch)
    with pytest.raises(ValueError, match="center must be"):
        augment.mosaic(batch, (8, 8), center=(0.5, 2.0))
    with pytest.raises(TypeError, match="made of several"):
        augment.mosaic(batch, (8, 8)).params
