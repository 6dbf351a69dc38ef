# SPDX-License-Identifier: Apache-2.0
"""Annotation files become tables; broken ones are errors that name the file, the record and the cause."""

import json
import os
import sys

import annotation_files
import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from pycocotools import mask as oracle

from penstock import DataError, annotations, pipeline_def
from penstock.annotations.outlines import outline, polygon_mask


@pytest.mark.parametrize("seed", range(40))
def test_polygons_cover_what_pycocotools_says(seed):
    rng = np.random.default_rng(seed)
    h, w = (int(v) for v in rng.integers(1, 70, 2))
    polygon = annotation_files.polygon(rng, h, w, int(rng.integers(3, 12)))
    expected = oracle.decode(oracle.merge(oracle.frPyObjects([polygon], h, w)))
    np.testing.assert_array_equal(polygon_mask(polygon, h, w), expected)


@pytest.mark.parametrize("seed", range(30))
def test_run_lengths_are_those_of_pycocotools(seed):
    rng = np.random.default_rng(seed)
    h, w = (int(v) for v in rng.integers(1, 80, 2))
    mask = np.asfortranarray(rng.random((h, w)) < rng.random(), dtype=np.uint8)
    packed = oracle.encode(mask)
    text = {"size": [h, w], "counts": packed["counts"].decode()}
    np.testing.assert_array_equal(outline(text, h, w, "f", "r").mask(), mask)
    flat = mask.ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    runs = np.diff([0, *ends, flat.size]).tolist()
    plain = {"size": [h, w], "counts": ([0] if flat[0] else []) + runs}
    np.testing.assert_array_equal(outline(plain, h, w, "f", "r").mask(), mask)


def test_coco_has_boxes_masks_keypoints(tmp_path):
    root = annotation_files.coco(tmp_path)
    table = annotations.coco(str(tmp_path / "coco.json"), str(tmp_path / "images"), masks=True, keypoints=True)
    assert table.classes == ["cat", "dog", "bus"] and len(table) == len(annotation_files.SIZES)
    for k in range(len(table)):
        row, items = table.row(k), [a for a in root["annotations"] if a["image_id"] == 10 + k]
        assert row["image_id"] == 10 + k and len(row["boxes"]) == len(items) == len(row["masks"])
        for j, item in enumerate(items):
            x, y, w, h = item["bbox"]
            np.testing.assert_allclose(row["boxes"][j], [x, y, x + w, y + h], rtol=1e-6)
            assert row["labels"][j] == {3: 0, 7: 1, 20: 2}[item["category_id"]]
            np.testing.assert_allclose(row["points"][j].ravel(), item["keypoints"], rtol=1e-6)


def test_masks_are_looked_up_by_batch(tmp_path):
    annotation_files.coco(tmp_path)
    table = annotations.coco(str(tmp_path / "coco.json"), str(tmp_path / "images"), masks=True)

    @pipeline_def(batch_size=4, num_threads=1, seed=1)
    def batches():
        _, row = table.read(random_shuffle=True)
        return row, *table.look_up(row, "masks", "mask", "file")

    row, masks, maps, files = batches().run()
    for k in range(4):
        r = int(row[k].numpy()[0])
        outlines, (h, w) = table.columns["masks"][r], annotation_files.SIZES[r]
        made, drawn = masks[k].numpy(), np.zeros((h, w), np.int32)
        assert made.shape == (len(outlines), h, w)
        for o, one, label in zip(outlines.items, made, table.row(r)["labels"]):
            np.testing.assert_array_equal(one, o.mask())
            drawn[one != 0] = label + 1
        np.testing.assert_array_equal(maps[k].numpy()[..., 0], drawn)
        assert bytes(files[k].numpy()).decode() == table.files[r]


VOC = """<annotation><filename>{name}</filename><object><name>dog</name><difficult>1</difficult>
<bndbox><xmin>{box[0]}</xmin><ymin>{box[1]}</ymin><xmax>{box[2]}</xmax><ymax>{box[3]}</ymax></bndbox></object></annotation>"""


def test_voc(tmp_path):
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "a.xml").write_text(VOC.format(name="a.jpg", box=[1, 2, 30, 40]))
    (tmp_path / "Annotations" / "b.xml").write_text("<annotation><filename>b.jpg</filename></annotation>")
    table = annotations.voc(str(tmp_path / "Annotations"))
    assert table.files == [str(tmp_path / "JPEGImages" / n) for n in ("a.jpg", "b.jpg")] and table.classes == ["dog"]
    np.testing.assert_array_equal(table.row(0)["boxes"], [[0, 1, 30, 40]])
    assert table.row(0)["difficult"].tolist() == [True] and table.row(1)["boxes"].shape == (0, 4)


def test_yolo(tmp_path):
    annotation_files.images(tmp_path / "images")
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "000.txt").write_text("1 0.5 0.5 0.25 0.5\n0 0.1 0.2 0.3 0.1 0.2 0.6\n")
    table = annotations.yolo(str(tmp_path / "images"), classes=["cat", "dog"])
    np.testing.assert_allclose(table.row(0)["boxes"], [[0.375, 0.25, 0.625, 0.75], [0.1, 0.1, 0.3, 0.6]], rtol=1e-6)
    assert table.row(0)["labels"].tolist() == [1, 0] and table.row(1)["labels"].size == 0


def test_yolo_without_any_text_file(tmp_path):
    annotation_files.images(tmp_path)
    with pytest.raises(DataError, match="no image has a text file.*000.txt"):
        annotations.yolo(str(tmp_path))


def labelme_file(folder, **shape):
    shape = {"label": "a", "shape_type": "rectangle", "points": [[8, 9], [2, 3]], **shape}
    root = {"imagePath": "a.png", "imageHeight": 20, "imageWidth": 30, "shapes": [shape]}
    (folder / "a.json").write_text(json.dumps(root))
    return root


def test_labelme(tmp_path):
    labelme_file(tmp_path)
    row = annotations.labelme(str(tmp_path)).row(0)
    assert row["boxes"].tolist() == [[2, 3, 8, 9]] and row["masks"].items[0].mask()[3:9, 2:8].all()
    assert row["masks"].items[0].mask().sum() == 36


def test_manifests_keep_any_column(tmp_path):
    rows = [
        {"audio_filepath": f"{k}.wav", "duration": k / 2, "text": f"größe, {k}", "speaker": k, "tags": [1, k]}
        for k in range(4)
    ]
    (tmp_path / "m.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    table = annotations.manifest(str(tmp_path / "m.json"))
    assert table.row(3) | {"tags": 0} == {
        "file": str(tmp_path / "3.wav"),
        **{k: v for k, v in rows[3].items() if k != "audio_filepath"},
        "tags": 0,
    }
    assert table.row(3)["tags"].tolist() == [1, 3]
    assert len(table.where(lambda r: r["speaker"] > 1)) == 2 and len(table.where({"text": ["größe, 1"]})) == 1


def test_where_of_several_labels_takes_rows_with_one_of_them(tmp_path):
    annotation_files.coco(tmp_path)
    table = annotations.coco(str(tmp_path / "coco.json"))
    for wanted in ("dog", ["dog", "bus"]):
        numbers = [table.class_to_idx[n] for n in ([wanted] if isinstance(wanted, str) else wanted)]
        expected = [table.files[k] for k in range(len(table)) if set(table.row(k)["labels"]) & set(numbers)]
        assert table.where({"labels": wanted}).files == expected


def test_csv_and_parquet_agree(tmp_path):
    (tmp_path / "m.csv").write_text('path,label,zip,size\na.png,dog,007,1.5\n"b,c.png",cat,123,\n')
    table = annotations.manifest(str(tmp_path / "m.csv"))
    assert table.classes == ["cat", "dog"] and table.row(0) == {
        "file": str(tmp_path / "a.png"),
        "label": 1,
        "zip": "007",
        "size": 1.5,
    }
    assert np.isnan(table.row(1)["size"]) and table.files[1].endswith("b,c.png")
    (tmp_path / "m.tsv").write_text('path\tsentence\na.mp3\tsay "no\n')
    assert annotations.manifest(str(tmp_path / "m.tsv")).row(0)["sentence"] == 'say "no'
    columns = {"path": ["a.png", "b,c.png"], "label": ["dog", "cat"], "zip": ["007", "123"], "size": [1.5, None]}
    parquet.write_table(pyarrow.table(columns), str(tmp_path / "m.parquet"))
    other = annotations.manifest(str(tmp_path / "m.parquet"))
    assert other.files == table.files and other.classes == table.classes and other.row(0) == table.row(0)


def test_parquet_without_pyarrow_names_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        annotations.manifest(str(tmp_path / "m.parquet"))


def changed(root, path, value):
    *way, last = path
    for step in way:
        root = root[step]
    root[last] = value


@pytest.mark.parametrize(
    "path, value, cause",
    [
        (["annotations", 0, "bbox"], [1, 2, 3], r"bbox must be x, y.*annotations\[0\]"),
        (["annotations", 0, "bbox"], [1, 2, "3", 4], r"bbox must be a list of numbers.*annotations\[0\]"),
        (["annotations", 0, "bbox"], [1, 2, 1e400, 4], "finite"),
        (["annotations", 0, "bbox"], None, "got None"),
        (["annotations", 0, "image_id"], 99, "image_id 99 is not listed"),
        (["annotations", 0, "category_id"], [3], "category_id"),
        (["annotations", 0, "segmentation"], {"size": [1, 1], "counts": [1]}, "run lengths are of size"),
        (["annotations", 0, "segmentation"], [[1, 2]], "3 points"),
        (["annotations", 0, "segmentation"], [[1, 2, 1e8, 4, 5, 6]], "far out"),
        (["annotations", 0, "keypoints"], [1, 2], "keypoints must be"),
        (["images", 1, "height"], 10**12, "height must be a whole number.*image 11"),
        (["images", 1, "height"], True, "height must be"),
        (["images", 1, "file_name"], "../../secret", "leads out of its folder.*allow_outside"),
        (["images", 1, "file_name"], "/secret", "leads out of its folder"),
        (["images", 1, "id"], 10, "occurs twice"),
        (["images"], {}, "images must be a list"),
        (["categories", 0, "name"], 4, "name must be a text"),
    ],
)
def test_broken_coco(tmp_path, path, value, cause):
    root = annotation_files.coco(tmp_path)
    changed(root, path, value)
    (tmp_path / "coco.json").write_text(json.dumps(root))
    with pytest.raises(DataError, match=rf"(?s){cause}") as caught:
        annotations.coco(str(tmp_path / "coco.json"), masks=True, keypoints=True)
    assert "coco.json" in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100000, '{"images": []}', "\udcff", "1" * 5000])
def test_broken_json(tmp_path, text):
    (tmp_path / "coco.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=r"coco.json"):
        annotations.coco(str(tmp_path / "coco.json"))


@pytest.mark.parametrize(
    "text, cause",
    [
        ("<a", "not XML"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "entities"),
        (VOC.format(name="../../a.jpg", box=[1, 2, 3, 4]), "leads out"),
        (VOC.format(name="a.jpg", box=[1, 2, "x", 4]), "four numbers.*object 0"),
        (VOC.format(name="a.jpg", box=[5, 2, 3, 4]), "ends before"),
        (VOC.format(name="a.jpg", box=[5, 2, "", 4]), "xmax> is missing"),
    ],
)
def test_broken_voc(tmp_path, text, cause):
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(DataError, match=cause) as caught:
        annotations.voc(str(tmp_path))
    assert "a.xml" in str(caught.value)


@pytest.mark.parametrize(
    "line, cause",
    [
        ("a 1 2 3 4", "class and numbers"),
        ("9 .1 .1 .1 .1", "no class 9"),
        ("0 .1 .2", "expected 4"),
        ("0 nan 0 0 0", "finite"),
        ("0 320 240 64 48", "far out .* fractions"),
        ("0 .5 .5 -.1 .1", "the width -0.1"),
    ],
)
def test_broken_yolo(tmp_path, line, cause):
    annotation_files.images(tmp_path)
    (tmp_path / "000.txt").write_text(f"0 .5 .5 .1 .1\n{line}\n")
    with pytest.raises(DataError, match=f"{cause}.*000.txt, line 2"):
        annotations.yolo(str(tmp_path), classes=["a", "b"])


@pytest.mark.parametrize(
    "shape, cause",
    [
        ({"points": [[1]]}, "pairs"),
        ({"points": [[1, 2]]}, "2 points"),
        ({"label": 3}, "label"),
        ({"shape_type": "x"}, "'x'"),
        ({"points": [[0, 1e8], [1, 1]]}, "far out"),
    ],
)
def test_broken_labelme(tmp_path, shape, cause):
    labelme_file(tmp_path, **shape)
    with pytest.raises(DataError, match=f"{cause}.*a.json, shape 0"):
        annotations.labelme(str(tmp_path))


def test_whole_labels_of_a_column_of_floats_keep_their_numbers(tmp_path):
    """As pandas writes a column of whole numbers that had empty rows: texts would be sorted as 0.0, 1.0, 10.0, 2.0."""
    (tmp_path / "a.csv").write_text("path,label\n" + "".join(f"{k}.png,{k}.0\n" for k in (10, 2, 0, 1)))
    table = annotations.manifest(str(tmp_path / "a.csv"))
    assert [table.row(k)["label"] for k in range(4)] == [10, 2, 0, 1] and table.classes[10] == "10"


@pytest.mark.parametrize("written", [r"images\a.png", "images/a.png", r".\images\a.png"])
def test_names_with_the_separators_of_windows(tmp_path, written):
    (tmp_path / "a.jsonl").write_text(json.dumps({"path": written, "label": "x"}))
    assert os.path.normpath(annotations.manifest(str(tmp_path / "a.jsonl")).files[0]) == f"{tmp_path}/images/a.png"


def test_a_file_whose_name_has_a_backslash_stays(tmp_path):
    (tmp_path / r"a\b.png").write_bytes(b"")
    (tmp_path / "a.jsonl").write_text(json.dumps({"path": r"a\b.png", "label": "x"}))
    assert annotations.manifest(str(tmp_path / "a.jsonl")).files == [str(tmp_path / r"a\b.png")]


def test_names_of_windows_do_not_leave_the_folder(tmp_path):
    labelme_file(tmp_path)
    changed = json.loads((tmp_path / "a.json").read_text()) | {"imagePath": r"..\..\secret.png"}
    (tmp_path / "a.json").write_text(json.dumps(changed))
    with pytest.raises(DataError, match="leads out of its folder"):
        annotations.labelme(str(tmp_path))


def test_a_rectangle_of_four_corners_is_that_of_two(tmp_path):
    boxes = []
    for points in ([[1, 2], [5, 9]], [[1, 2], [5, 2], [5, 9], [1, 9]]):
        labelme_file(tmp_path, shape_type="rectangle", points=points)
        boxes.append(annotations.labelme(str(tmp_path)).row(0)["boxes"].tolist())
    assert boxes[0] == boxes[1] == [[1, 2, 5, 9]]


@pytest.mark.parametrize("text", ["names: [cat, dog]", "path: ..\nnames:\n  0: cat\n  1: dog\nnc: 2\n"])
def test_classes_of_a_yaml_file_of_yolo(tmp_path, text):
    annotation_files.images(tmp_path / "images")
    (tmp_path / "images" / "000.txt").write_text("1 .5 .5 .1 .1\n")
    (tmp_path / "data.yaml").write_text(text)
    table = annotations.yolo(str(tmp_path / "images"), classes=str(tmp_path / "data.yaml"))
    assert table.classes == ["cat", "dog"] and table.row(0)["labels"].tolist() == [1]


BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]" for k in range(1, 40)), "names: *a39"])


@pytest.mark.parametrize(
    "text, cause",
    [
        ("names: [cat", "not YAML"),
        ("train: images", "a list of the classes, got NoneType"),
        ("names:\n  0: cat\n  5: dog", "numbered from 0 to 1"),
        ("names: !!python/object/apply:os.getcwd []", "not YAML: could not determine a constructor"),
        ("names: [[cat]]", "a list of the classes"),
        (BOMB, "a list of the classes"),
    ],
)
def test_broken_yaml_files_of_yolo(tmp_path, text, cause):
    annotation_files.images(tmp_path)
    (tmp_path / "data.yml").write_text(text)
    with pytest.raises(DataError, match=f"{cause}.*data.yml"):
        annotations.yolo(str(tmp_path), classes=str(tmp_path / "data.yml"))


def test_yaml_without_pyyaml_names_the_remedy(tmp_path, monkeypatch):
    annotation_files.images(tmp_path)
    (tmp_path / "data.yaml").write_text("names: [cat]")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError, match="pip install pyyaml"):
        annotations.yolo(str(tmp_path), classes=str(tmp_path / "data.yaml"))


@pytest.mark.parametrize(
    "name, text, cause",
    [
        ("a.csv", "path,label\na.png\n", "line 2"),
        ("a.csv", "x,y\n1,2\n", "say path=; the columns are x, y"),
        ("a.csv", 'path\n"a', "line 2"),
        ("a.csv", "path,path\na,b\n", "occurs twice"),
        ("a.csv", "", "no row"),
        ("a.jsonl", '{"path": "a"}\n[]\n', "line 2"),
        ("a.jsonl", '{"path": "a"}\n\n{\n', "line 3"),
        ("a.jsonl", '{"path": 3}\n', "name of the image must be a text.*line 1"),
        ("a.jsonl", '{"path": "a", "v": [1, "b"]}\n', "column 'v'.*line 1"),
        ("a.jsonl", '{"path": "a", "label": -3}\n', "from 0 on"),
        ("a.jsonl", '{"path": "a", "label": "x"}\n{"path": "b"}\n', "no label.*line 2"),
        ("a.csv", "path,label\na.png,1\nb.png,\nc.png,10\n", "no label.*line 3"),
    ],
)
def test_broken_manifests(tmp_path, name, text, cause):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=f"(?s){cause}") as caught:
        annotations.manifest(str(tmp_path / name))
    assert name in str(caught.value)


@pytest.mark.parametrize(
    "counts, cause",
    [
        ("", "add up to 0"),
        ("\x7f", "not a part"),
        ("o", "middle of a number"),
        ("o" * 30, "not a part"),
        ([5, -1], "not negative, got -1"),
        ([True], "list of numbers"),
    ],
)
def test_broken_run_lengths(counts, cause):
    with pytest.raises(DataError, match=cause):
        outline({"size": [2, 2], "counts": counts}, 2, 2, "file", "record")


def test_truncated_files_are_typed_errors(tmp_path):
    text = json.dumps(annotation_files.coco(tmp_path)).encode()
    for cut in np.random.default_rng(1).integers(0, len(text), 40):
        (tmp_path / "coco.json").write_bytes(text[:cut])
        with pytest.raises(DataError):
            annotations.coco(str(tmp_path / "coco.json"), masks=True)
