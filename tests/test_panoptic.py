# SPDX-License-Identifier: Apache-2.0
"""COCO's panoptic form against the arithmetic of its PNGs: a pixel is R + 256 G + 65536 B."""

import json

import annotation_files
import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import DataError, annotations, pipeline_def

LABELS = {3: 0, 7: 1, 20: 2}


def ids_of(file):
    pixels = np.asarray(Image.open(file).convert("RGB")).astype(np.int64)
    return pixels[..., 0] + 256 * pixels[..., 1] + 256**2 * pixels[..., 2]


@pytest.mark.parametrize("crowds", [False, True])
def test_segments_are_those_of_the_pixels(tmp_path, crowds):
    root, maps = annotation_files.panoptic(tmp_path)
    table = annotations.coco(str(tmp_path / "panoptic.json"), str(tmp_path / "images"), masks=True, crowds=crowds)
    assert table.classes == ["cat", "dog", "bus"] and len(table) == len(maps)

    @pipeline_def(batch_size=len(maps), num_threads=1)
    def batches():
        _, row = table.read()
        return row, *table.look_up(row, "masks", "mask")

    rows, masks, classes = batches().run()
    for i in range(len(maps)):
        k = int(rows[i].numpy()[0])
        ids = ids_of(tmp_path / "panoptic" / f"{k}.png")
        np.testing.assert_array_equal(ids, maps[k])
        wanted = [s for s in root["annotations"][k]["segments_info"] if crowds or not s["iscrowd"]]
        row = table.row(k)
        assert row["segment_id"].tolist() == [s["id"] for s in wanted]
        assert row["labels"].tolist() == [LABELS[s["category_id"]] for s in wanted]
        assert row["boxes"].tolist() == [[x, y, x + w, y + h] for x, y, w, h in (s["bbox"] for s in wanted)]
        drawn = np.zeros(ids.shape, np.int32)
        assert masks[i].shape() == [len(wanted), *ids.shape]
        for mask, segment in zip(masks[i].numpy(), wanted):
            np.testing.assert_array_equal(mask, ids == segment["id"])
            assert mask.sum() == segment["area"]
            drawn[ids == segment["id"]] = LABELS[segment["category_id"]] + 1
        np.testing.assert_array_equal(classes[i].numpy()[..., 0], drawn)


def test_the_loader_of_segmentation_reads_it(tmp_path):
    annotation_files.panoptic(tmp_path)
    loader = penstock.segmentation(
        tmp_path / "images", tmp_path / "panoptic.json", size=16, batch_size=2, training=False, device="cpu"
    )
    batch = next(iter(loader))
    assert tuple(batch["mask"].shape) == (2, 16, 16) and set(np.unique(np.asarray(batch["mask"]))) <= {0, 1, 2, 3}


def changed(tmp_path, change):
    root, _ = annotation_files.panoptic(tmp_path)
    change(root["annotations"])
    (tmp_path / "panoptic.json").write_text(json.dumps(root))
    table = annotations.coco(str(tmp_path / "panoptic.json"), str(tmp_path / "images"), masks=True)
    return table.row(0)["masks"].in_pixels()


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda a: a[0]["segments_info"].pop(), r"the segment \d+ is not in segments_info .*0.png"),
        (lambda a: a[0]["segments_info"].append({**a[0]["segments_info"][0], "id": 5}), "no pixel has the segment 5"),
        (lambda a: a[0].update(file_name="2.png"), r"has the shape \(40, 60, 3\), got \(64, 31, 3\).*2.png"),
        (lambda a: a[0].update(file_name="../images/000.png"), "leads out of its folder"),
        (lambda a: a[0]["segments_info"][0].update(id=0), r"annotations\[0\]"),
        (lambda a: a[0]["segments_info"][0].update(id=1 << 24), "from 1 to 16777215"),
        (lambda a: a[0]["segments_info"].append(a[0]["segments_info"][0]), "occurs twice"),
        (lambda a: a[0].update(segments_info=3), "segments_info must be a list"),
        (lambda a: a[1].update(image_id=10), "image_id 10"),
        (lambda a: a[0].update(image_id=99), "image_id 99"),
        (lambda a: a[0]["segments_info"][0].update(category_id=99), "category_id 99"),
    ],
)
def test_broken_files_name_the_cause(tmp_path, change, words):
    with pytest.raises(DataError, match=words):
        changed(tmp_path, change)


def test_an_image_without_an_annotation_has_no_segments(tmp_path):
    assert len(changed(tmp_path, lambda a: a.pop(0))) == 0
