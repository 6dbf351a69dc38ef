# SPDX-License-Identifier: Apache-2.0
"""readers.coco: boxes, labels, outlines and masks against DALI, and annotations that are wrong."""

import copy
import json
import os

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
    both_ways = {"annotations_file": str(folder / "all.json"), "preprocessed_annotations": str(folder)}
    saving = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": str(folder)}
    for more in (both_ways, {**saving, "meta_files_path": str(folder)}):
        with pytest.raises(ValueError, match="mutually exclusive"):
            run(fn.readers.coco, 1, **more)
    with pytest.raises(ValueError, match="'annotations_file' is required"):
        run(fn.readers.coco, 1, file_root=str(folder))
    with pytest.raises(ValueError, match="needs save_preprocessed_annotations_dir"):
        run(fn.readers.coco, 1, annotations_file=str(folder / "all.json"), dump_meta_files=True)
    with pytest.raises(penstock.DataError, match="no image 'y.jpg'"):
        run(fn.readers.coco, 1, file_root=str(folder), annotations_file=str(folder / "all.json"), images=["y.jpg"])


KINDS = [
    {},
    {"ltrb": True, "ratio": True, "image_ids": True},
    {"size_threshold": 4.5, "skip_empty": True, "avoid_class_remapping": True},
    {"polygon_masks": True, "ratio": True},
    {"masks": True, "include_iscrowd": False},
    {"pixelwise_masks": True, "image_ids": True},
]


@pytest.mark.parametrize("writer, reader", [("ours", "ours"), ("ours", "dali"), ("dali", "ours")])
@pytest.mark.parametrize("more", KINDS, ids=lambda more: " ".join(more))
def test_saved_annotations_are_those_of_the_json_file(folder, oracle, more, writer, reader):
    """The files are DALI's, in both directions."""

    def read(who, **arguments):
        count = 4 if more.get("skip_empty") else 5
        if who == "ours":
            return run(fn.readers.coco, count, file_root=str(folder), **arguments)
        return oracle.call("readers.coco", [], batch_size=count, file_root=str(folder), **arguments)

    saved = folder / "saved"
    saved.mkdir()
    saving = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": str(saved)}
    want = read(writer, annotations_file=str(folder / "all.json"), **more, **saving)
    kept = {k: v for k, v in more.items() if k in ("image_ids", "polygon_masks", "masks", "pixelwise_masks")}
    same(read(reader, preprocessed_annotations=str(saved), **kept), want)


SAVED = {"save_preprocessed_annotations": True, "pixelwise_masks": True, "image_ids": True}


def int32s(path):
    return np.frombuffer(path.read_bytes(), np.int32).copy()


def changed(place, value):
    def apply(path):
        numbers = int32s(path)
        numbers[place] = value
        path.write_bytes(numbers.tobytes())

    return apply


@pytest.mark.parametrize(
    "name, damage, message",
    [
        ("offsets.dat", changed(2, 99), "objects of image 1 are entries 99 to"),
        ("offsets.dat", changed(2, -1), "objects of image 1 are entries -1 to"),
        ("counts.dat", changed(1, 2**30), "objects of image 0 are entries 0 to 1073741824"),
        ("boxes.dat", changed(0, 2**30), "1073741824 entries of 4 bytes do not make"),
        ("labels.dat", lambda path: path.write_bytes(b"ab"), "truncated"),
        ("labels.dat", lambda path: path.unlink(), "do not fit to 0 labels"),
        ("filenames.dat", lambda path: path.write_bytes(b"\n"), "there are no images"),
        ("filenames.dat", lambda path: path.write_bytes(b"x" * 9), "ids of 5 images of 1"),
        ("filenames.dat", lambda path: path.unlink(), "filenames.dat"),
        ("filenames.dat", lambda path: path.write_bytes(b"../a\n" * 5), "is outside file_root"),
        ("original_ids.dat", lambda path: path.unlink(), "save it with image_ids=True"),
        ("polygon_data.dat", changed(1, 70), "polygon of object 70"),
        ("polygon_data.dat", changed(3, 2**30), "from vertex 0 to 1073741824"),
        ("masks_rles.dat", changed(5, 2**30), "do not lie inside the file"),
        ("masks_rles.dat", changed(1, 2**30), "do not lie inside the file"),
        ("masks_rles_idx.dat", changed(1, -7), "run lengths of object -7"),
        ("heights.dat", changed(1, -7), "-7 pixels|x -7|-7 x"),
    ],
)
def test_damaged_saved_annotations(folder, name, damage, message):
    annotations_file = str(folder / "all.json")
    saved = folder / "saved"  # is made
    more = {"file_root": str(folder), "save_preprocessed_annotations_dir": str(saved)}
    run(fn.readers.coco, 5, annotations_file=annotations_file, **SAVED, **more)
    damage(saved / name)
    with pytest.raises((penstock.DataError, FileNotFoundError), match=rf"(?s)\[readers.coco\].*({message})"):
        run(
            fn.readers.coco,
            5,
            file_root=str(folder),
            preprocessed_annotations=str(saved),
            pixelwise_masks=True,
            image_ids=True,
        )


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


def random_segmentation(rng, h, w):
    """Polygons, or run lengths as numbers or as COCO's text."""
    kind = rng.integers(4)
    if kind < 2:
        return [
            np.round(rng.uniform(-3, max(h, w) + 3, 2 * int(rng.integers(3, 7))), 2).tolist()
            for _ in range(rng.integers(1, 4))
        ]
    mask = np.zeros((h, w), np.uint8, order="F")
    top, left = int(rng.integers(h)), int(rng.integers(w))
    mask[top : top + int(rng.integers(1, h + 1)), left : left + int(rng.integers(1, w + 1))] = 1
    flat = mask.ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    counts = ([0] if flat[0] else []) + np.diff([0, *ends, flat.size]).tolist()
    if kind == 3:
        outlines = pytest.importorskip("pycocotools.mask")
        counts = outlines.encode(mask)["counts"].decode()
    return {"size": [h, w], "counts": counts}


def random_annotations(rng):
    images, objects, categories = [], [OBJECT], [int(c) for c in rng.permutation(90)[: rng.integers(1, 5)]]
    for number in rng.permutation(50)[: rng.integers(2, 6)]:
        h, w = (int(n) for n in rng.integers(1, 40, 2))
        images.append({"id": int(number), "file_name": f"{number}.jpg", "width": w, "height": h})
        for _ in range(rng.integers(0, 5)):
            box = np.round([*(rng.uniform(0, 0.6, 2) * [w, h]), *(rng.uniform(0, 0.5, 2) * [w, h])], 2)
            item = {"image_id": int(number), "category_id": int(rng.choice(categories)), "bbox": box.tolist()}
            item |= {"iscrowd": int(rng.random() < 0.3), "area": float(box[2] * box[3]), "id": len(objects)}
            objects.append({**item, "segmentation": random_segmentation(rng, h, w)})
    objects[0] = {**OBJECT, "image_id": images[0]["id"], "category_id": categories[0]}
    return {"images": images, "annotations": objects, "categories": [{"id": c, "name": str(c)} for c in categories]}


def masks_of(root, more):
    """The masks as COCO's own program draws them, by id: labels in their order, the highest one above."""
    outlines = pytest.importorskip("pycocotools.mask")
    labels = {c["id"]: c["id"] if more["avoid_class_remapping"] else k + 1 for k, c in enumerate(root["categories"])}
    made = {i["id"]: np.zeros((i["height"], i["width"], 1), np.int32) for i in root["images"]}
    for item in sorted(root["annotations"], key=lambda a: labels[a["category_id"]]):
        if min(item["bbox"][2:]) < more["size_threshold"] or (item["iscrowd"] and not more["include_iscrowd"]):
            continue
        mask, outline = made[item["image_id"]], item["segmentation"]
        if isinstance(outline, list):
            outline = outlines.merge(
                outlines.frPyObjects([np.float32(p).astype(float).tolist() for p in outline], *mask.shape[:2])
            )
        elif isinstance(outline["counts"], list):
            outline = outlines.frPyObjects(outline, *mask.shape[:2])
        mask[outlines.decode(outline).astype(bool)] = labels[item["category_id"]]
    return made


OBJECT = {"id": 0, "area": 4.0, "iscrowd": 0, "bbox": [0.0, 0.0, 2.0, 2.0], "segmentation": [[0, 0, 2, 0, 2, 2]]}


@pytest.mark.parametrize("masks", ["polygon_masks", "pixelwise_masks", "masks", ""])
def test_random_files_and_arguments_are_dalis(tmp_path, oracle, masks):
    """All but pixelwise masks, which are those of COCO's own program: DALI's differ in some pixels."""
    for seed in range(int(os.environ.get("PENSTOCK_TEST_COUNT", 8))):
        rng = np.random.default_rng([seed, len(masks)])
        root = random_annotations(rng)
        for image in root["images"]:
            (tmp_path / image["file_name"]).write_bytes(b"%d" % image["id"])
        (tmp_path / "all.json").write_text(json.dumps(root))
        coin = lambda p=0.5: bool(rng.random() < p)  # noqa: E731
        more = {n: coin() for n in ("ltrb", "ratio", "include_iscrowd", "avoid_class_remapping", "skip_empty")}
        more |= {"size_threshold": float(rng.choice([0.0, 0.1, 2.0])), "image_ids": True}
        if not more["skip_empty"] and coin(0.3):
            more["images"] = [i["file_name"] for i in root["images"]][::-1]
        arguments = {"file_root": str(tmp_path), "annotations_file": str(tmp_path / "all.json"), **more}
        arguments |= {masks: True} if masks else {}
        got = run(fn.readers.coco, 4, **arguments)
        want = oracle.call("readers.coco", [], batch_size=4, **arguments)
        if masks == "pixelwise_masks":
            expected = masks_of(root, more)
            for mask, number in zip(got[3], got[4]):
                assert np.array_equal(mask, expected[int(number[0])]), (seed, more)
            del got[3], want[3]
        same(got, want)
