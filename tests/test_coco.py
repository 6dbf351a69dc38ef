# SPDX-License-Identifier: Apache-2.0
"""readers.coco: boxes, labels, outlines and masks against DALI, and annotations that are wrong."""

import copy
import json

import numpy as np
import pytest
from test_recordio_tar import run, same

import penstock
from penstock import fn

SIZES = {40: (40, 20), 30: (10, 8), 10: (20, 10), 20: (33, 27), 50: (20, 10)}  # id: width, height


def annotations():
    rng = np.random.default_rng(3)
    objects = [
        {
            "image_id": 30,
            "category_id": 7,
            "bbox": [1, 2, 3.5, 4],
            "iscrowd": 0,
            "segmentation": [[1, 2, 4.5, 2, 4.5, 6, 1, 6], [0, 0, 1, 0, 1, 1]],
        },
        {
            "image_id": 40,
            "category_id": 3,
            "bbox": [1, 2, 30, 10],
            "iscrowd": 0,
            "segmentation": [[1, 2, 31, 2, 31, 12]],
        },
        {
            "image_id": 30,
            "category_id": 3,
            "bbox": [0, 0, 0.05, 5],
            "iscrowd": 0,
            "segmentation": [[0, 0, 0.05, 0, 0.05, 5]],
        },
        {
            "image_id": 40,
            "category_id": 90,
            "bbox": [0, 0, 4, 4],
            "iscrowd": 1,
            "segmentation": {"size": [20, 40], "counts": [5, 10, 700, 85]},
        },
        {
            "image_id": 10,
            "category_id": 3,
            "bbox": [2, 2, 5, 5],
            "iscrowd": 0,
            "segmentation": {"size": [10, 20], "counts": "R1j05K4"},
        },
    ]
    for k in range(8):  # any polygon, partly outside, crossing itself
        points = rng.uniform(-6, 36, 2 * int(rng.integers(3, 9))).round(2).tolist()
        objects.append(
            {
                "image_id": 20,
                "category_id": [3, 7, 90][k % 3],
                "bbox": rng.uniform(1, 9, 4).round(2).tolist(),
                "iscrowd": 0,
                "segmentation": [points],
            }
        )
    return {
        "info": {"year": 2020, "images": [{"id": 1}]},
        "images": [{"id": i, "file_name": f"{90 - i}.jpg", "width": w, "height": h} for i, (w, h) in SIZES.items()],
        "annotations": [{"id": k, "area": 1, **o} for k, o in enumerate(objects)],
        "categories": [{"id": 7, "name": "a"}, {"id": 3, "name": "b"}, {"id": 90, "name": "c"}],
    }


@pytest.fixture
def folder(tmp_path):
    for i in SIZES:
        (tmp_path / f"{90 - i}.jpg").write_bytes(b"image %d" % i)
    (tmp_path / "all.json").write_text(json.dumps(annotations()))
    return tmp_path


def both(folder, oracle, count=5, **more):
    arguments = {"file_root": str(folder), "annotations_file": str(folder / "all.json"), **more}
    got = run(fn.readers.coco, count, **arguments)
    same(got, oracle.call("readers.coco", [], batch_size=count, **arguments))
    return got


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"ltrb": True},
        {"ratio": True},
        {"ltrb": True, "ratio": True},
        {"size_threshold": 0.0},
        {"size_threshold": 5.0},
        {"include_iscrowd": False},
        {"image_ids": True, "avoid_class_remapping": True},
        {"polygon_masks": True},
        {"polygon_masks": True, "ratio": True},
        {"polygon_masks": True, "include_iscrowd": False, "image_ids": True},
        {"masks": True},
    ],
)
def test_boxes_labels_and_polygons_are_dalis(folder, oracle, more):
    both(folder, oracle, **more)


def test_images_without_objects_can_be_left_out(folder, oracle):
    got = both(folder, oracle, count=4, skip_empty=True, image_ids=True)
    assert [int(i[0]) for i in got[-1]] == [10, 20, 30, 40]


def test_images_can_be_chosen(folder, oracle):
    got = both(folder, oracle, count=2, images=["60.jpg", "50.jpg"], image_ids=True)
    assert [int(i[0]) for i in got[-1]] == [30, 40]


@pytest.mark.parametrize("more", [{}, {"ratio": True, "include_iscrowd": False, "image_ids": True}])
def test_pixelwise_masks_are_dalis(folder, oracle, more):
    masks = both(folder, oracle, pixelwise_masks=True, **more)[3]
    assert all(m.any() for m in masks[:4])


def test_random_polygons_fill_what_cocos_own_program_fills(tmp_path):
    outlines = pytest.importorskip("pycocotools.mask")
    rng = np.random.default_rng(11)
    images, objects, want = [], [], []
    for i in range(100):
        w, h = (int(v) for v in rng.integers(1, 60, 2))
        images.append({"id": i, "file_name": f"{i:02d}.jpg", "width": w, "height": h})
        (tmp_path / f"{i:02d}.jpg").write_bytes(b"x")
        want.append(np.zeros((h, w, 1), np.int32))
        for k in range(3):
            scale = rng.choice([w, h, float(rng.choice([1, 10, 100]))])
            points = (rng.uniform(-0.3, 1.3, 2 * int(rng.integers(3, 12))) * scale).round(int(rng.integers(0, 4)))
            points = np.float32(points).astype(float).tolist()
            objects.append(
                {"image_id": i, "category_id": k, "bbox": [0, 0, 5, 5], "iscrowd": 0, "segmentation": [points]}
            )
            want[-1][outlines.decode(outlines.frPyObjects([points], h, w)).astype(bool)] = k + 1
    (tmp_path / "all.json").write_text(
        json.dumps(
            {"images": images, "annotations": objects, "categories": [{"id": k, "name": str(k)} for k in range(3)]}
        )
    )
    got = run(
        fn.readers.coco, 100, file_root=str(tmp_path), annotations_file=str(tmp_path / "all.json"), pixelwise_masks=True
    )
    for g, w in zip(got[3], want, strict=True):
        assert np.array_equal(g, w)


def test_two_run_lengths_of_one_label_are_both_drawn(folder):
    """DALI 2.4 keeps the last one of a label."""
    a = annotations()
    run_lengths = {"size": [10, 20], "counts": [0, 10, 190]}
    a["annotations"].append(
        {"image_id": 10, "category_id": 3, "bbox": [2, 2, 5, 5], "iscrowd": 1, "segmentation": run_lengths}
    )
    (folder / "all.json").write_text(json.dumps(a))
    (first,) = run(
        fn.readers.coco, 1, file_root=str(folder), annotations_file=str(folder / "all.json"), pixelwise_masks=True
    )[3]
    assert first[:, 0].all() and first[:, 1:].any()


def change(path, value):
    def apply(a):
        at = a
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return apply


@pytest.mark.parametrize(
    "damage, message",
    [
        (change(["annotations", 0, "bbox"], [1, 2, 3]), "has no bbox of 4 numbers"),
        (change(["annotations", 0, "bbox"], [1, 2, 3, "x"]), "has no bbox of 4 numbers"),
        (change(["annotations", 0, "category_id"], 1234), "has the category 1234"),
        (change(["annotations", 0, "segmentation"], [[1, 2, 3]]), "is not a list of pairs"),
        (change(["annotations", 0, "segmentation"], [[1, None]]), "not a number"),
        (change(["annotations", 3, "segmentation", "counts"], [5, 2**31, 2**31]), "exceed the 800 pixels"),
        (change(["annotations", 3, "segmentation", "counts"], [-5]), "is not a length"),
        (change(["annotations", 3, "segmentation", "counts"], "\x7f"), "an invalid character"),
        (change(["annotations", 3, "segmentation", "counts"], "oo"), "is truncated"),
        (change(["annotations", 3, "segmentation", "counts"], "ooooooooooooo"), "is truncated"),
        (change(["annotations", 3, "segmentation", "size"], [2**40, 2**40]), "run lengths are for"),
        (change(["annotations", 3, "segmentation", "size"], [1]), "have no size"),
        (change(["images", 0, "width"], 2**40), "pixels"),
        (change(["images", 0, "id"], None), "has no id"),
        (change(["images", 0, "file_name"], 3), "has no id or no file_name"),
        (change(["categories", 0, "id"], -1), "has no id"),
        (lambda a: a.pop("images"), "no images"),
    ],
)
def test_wrong_annotations(folder, damage, message):
    a = copy.deepcopy(annotations())
    damage(a)
    (folder / "all.json").write_text(json.dumps(a))
    with pytest.raises(penstock.DataError, match=rf"(?s)\[readers.coco\].*{message}.*all.json"):
        run(fn.readers.coco, 5, file_root=str(folder), annotations_file=str(folder / "all.json"), pixelwise_masks=True)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"images": [1, 2]}', "[" * 100000, '{"images": [{"id": 1e999}]}', "\xff"]
)
def test_texts_that_are_not_annotations(folder, text):
    (folder / "all.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(penstock.DataError, match="all.json"):
        run(fn.readers.coco, 1, file_root=str(folder), annotations_file=str(folder / "all.json"))


def test_arguments_that_exclude_each_other(folder):
    with pytest.raises(ValueError, match="mutually exclusive"):
        run(
            fn.readers.coco,
            1,
            file_root=str(folder),
            annotations_file=str(folder / "all.json"),
            pixelwise_masks=True,
            polygon_masks=True,
        )
    with pytest.raises(ValueError, match="give annotations_file"):
        run(fn.readers.coco, 1, annotations_file=str(folder / "all.json"), preprocessed_annotations=str(folder))
    with pytest.raises(penstock.DataError, match="no image 'y.jpg'"):
        run(fn.readers.coco, 1, file_root=str(folder), annotations_file=str(folder / "all.json"), images=["y.jpg"])


@pytest.mark.parametrize("policy", ["skip", "replace"])
@pytest.mark.parametrize("device", ["cpu", "mixed"])
def test_pictures_are_decoded_and_a_bad_one_takes_its_boxes_along(folder, policy, device):
    import warnings
    from io import BytesIO

    from PIL import Image

    for i, (w, h) in SIZES.items():
        stream = BytesIO()
        Image.fromarray(np.full((h, w, 3), i, np.uint8)).save(stream, "JPEG")
        (folder / f"{90 - i}.jpg").write_bytes(stream.getvalue() if i != 20 else b"no picture")
    pipe = penstock.Pipeline(batch_size=5, num_threads=2, device_id=0, on_error=policy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", penstock.DeviceWarning)
        with pipe:
            encoded, boxes, labels, ids = fn.readers.coco(
                file_root=str(folder), annotations_file=str(folder / "all.json"), image_ids=True
            )
            pipe.set_outputs(fn.decoders.image(encoded, device=device), boxes, labels, ids)
        images, boxes, labels, ids = pipe.run()
    assert len(images) == len(boxes) == len(labels) == len(ids) == (4 if policy == "skip" else 5)
    counts = {10: 1, 30: 1, 40: 2, 50: 0}
    for k in range(len(ids)):
        i = int(ids[k].numpy()[0])
        assert images[k].shape() in (list(SIZES[i][::-1]) + [3], SIZES[i][::-1] + (3,))
        assert boxes[k].shape()[0] == counts[i] == labels[k].shape()[0]
