# SPDX-License-Identifier: Apache-2.0
"""Masks and keypoints of penstock.detection follow their boxes, from every format that has them."""

import json

import annotation_files
import numpy as np
import pytest
import torch
from pycocotools import mask as oracle
from test_loaders import check_program

import penstock
from penstock import DataError, annotations

NAMES = ["nose", "left_eye", "right_eye"]


@pytest.fixture(scope="module")
def coco(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coco")
    root = annotation_files.coco(folder)
    for category in root["categories"]:
        category["keypoints"] = NAMES
    (folder / "coco.json").write_text(json.dumps(root))
    return folder, root


def detection(folder, **more):
    return penstock.detection(folder / "coco.json", folder / "images", size=64, batch_size=6, num_threads=1, **more)


def placed(height, width):
    """The scale of x and y, and the left upper corner, of a picture in the frame; the crop begins at a whole pixel."""
    large = np.round(np.array([width, height]) * 64 / max(height, width))
    return large / [width, height], (64 - large + 1) // 2


def expected_mask(item, height, width):
    full = oracle.decode(oracle.merge(oracle.frPyObjects(item["segmentation"], height, width)))
    scale, corner = placed(height, width)
    made = np.zeros((64, 64), np.uint8)
    at = (np.mgrid[:64, :64][::-1].reshape(2, -1).T + 0.5 - corner) / scale
    inside = (at >= 0).all(1) & (at < [width, height]).all(1)
    x, y = np.floor(at[inside]).astype(int).T
    made.reshape(-1)[inside] = full[y, x]
    return made


def test_masks_and_keypoints_of_coco(coco):
    folder, root = coco
    loader = detection(folder, training=False, masks=True, keypoints=True, min_visibility=0)
    (batch, _) = check_program(loader)
    assert loader.table.keypoints == NAMES
    for k, (h, w) in enumerate(annotation_files.SIZES):
        scale, corner = placed(h, w)
        items = [a for a in root["annotations"] if a["image_id"] == 10 + k]
        masks, keypoints = batch["masks"][k].numpy(), batch["keypoints"][k].numpy()
        assert masks.shape == (len(items), 64, 64) and masks.dtype == np.uint8
        assert keypoints.shape == (len(items), 3, 3) and batch["keypoints"][k].dtype == torch.float32
        for item, mask, points in zip(items, masks, keypoints):
            given = np.reshape(item["keypoints"], (3, 3))
            np.testing.assert_allclose(
                points[:, :2], given[:, :2] * scale + corner, atol=0.2
            )  # the resize keeps the ratio to parts of a pixel
            np.testing.assert_array_equal(points[:, 2], given[:, 2])
            if min(h, w) > 1:
                assert (mask != expected_mask(item, h, w)).mean() < 0.02


def test_training_mirrors_left_and_right(coco):
    """An epoch of mirrored and of plain samples: each is one of the two that are possible."""
    folder, _ = coco
    plain = next(iter(detection(folder, training=False, masks=True, keypoints=True)))
    mirrored = 0
    for batch in check_program(detection(folder, shuffle=False, masks=True, keypoints=True)):
        for k in range(6):
            for keypoints, mask in zip(batch["keypoints"][k].numpy(), batch["masks"][k].numpy()):
                same = [
                    j for j, m in enumerate(plain["masks"][k].numpy()) if np.abs(m.astype(int) - mask).mean() < 0.02
                ]
                if not same:
                    expected = plain["keypoints"][k].numpy()[:, [0, 2, 1]]
                    away = np.abs(expected[..., 0] + keypoints[:, 0] - 64).max(-1) + np.abs(
                        expected[..., 1] - keypoints[:, 1]
                    ).max(-1)
                    assert away.min(initial=9) < 2.5
                    mirrored += 1
    assert mirrored > 2


@pytest.mark.parametrize(
    "more, expected",
    [
        ({}, (0, 2, 1)),
        ({"flip_pairs": []}, (0, 1, 2)),
        ({"flip_pairs": [(0, 2)]}, (2, 1, 0)),
        ({"flip_indices": [1, 2, 0]}, (1, 2, 0)),
    ],
)
def test_who_changes_places(coco, more, expected):
    folder, _ = coco
    table = annotations.coco(str(folder / "coco.json"), str(folder / "images"), keypoints=True)
    given = {name.removeprefix("flip_"): value for name, value in more.items()}
    assert table.flip_indices(**given) == expected and table.rows([0]).flip_indices(**given) == expected
    assert "table.flip_indices(" in detection(folder, keypoints=True, **more).program


def test_polygons_of_yolo(tmp_path):
    annotation_files.images(tmp_path / "images", [(40, 80), (20, 20)])
    (tmp_path / "images" / "000.txt").write_text("1 0.25 0.25 0.75 0.25 0.75 0.75 0.25 0.75\n0 0.5 0.5 0.25 0.5\n")
    loader = penstock.detection(tmp_path / "images", size=80, training=False, batch_size=2, masks=True)
    batch = check_program(loader)[0]
    for (left, top, right, bottom), mask in zip(batch["boxes"][0].tolist(), batch["masks"][0].numpy()):
        drawn = np.zeros((80, 80), np.uint8)
        drawn[round(top) : round(bottom), round(left) : round(right)] = 1
        np.testing.assert_array_equal(mask, drawn)
    np.testing.assert_allclose(batch["boxes"][0], [[20, 30, 60, 50], [30, 30, 50, 50]], atol=1e-3)
    assert batch["masks"][1].shape == (0, 80, 80)


@pytest.mark.parametrize("numbers", [2, 3])
def test_keypoints_of_yolo(tmp_path, numbers):
    annotation_files.images(tmp_path / "images", [(40, 80), (20, 20)])
    points = [[0.25, 0.5, 1], [0.5, 0.25, 2], [0, 0, 0]]
    said = " ".join(str(n) for point in points for n in point[:numbers])
    (tmp_path / "images" / "000.txt").write_text(f"0 0.5 0.5 0.5 0.5 {said}\n")
    arguments = {"size": 80, "training": False, "keypoints": (3, numbers)}
    batch = check_program(penstock.detection(tmp_path / "images", flip_indices=[0, 2, 1], **arguments))[0]
    expected = [[20, 40, 1 if numbers == 3 else 2], [40, 30, 2], [0, 20, 0]]
    np.testing.assert_allclose(batch["keypoints"][0], [expected], atol=1e-3)
    assert batch["keypoints"][1].shape == (0, 3, 3)


def test_masks_and_keypoints_of_labelme(tmp_path):
    annotation_files.images(tmp_path, [(40, 80)])
    shapes = [
        {"label": "dog", "shape_type": "rectangle", "points": [[10, 15], [30, 25]], "group_id": 1},
        {"label": "left_eye", "shape_type": "point", "points": [[50, 20]], "group_id": 2},
        {"label": "dog", "shape_type": "polygon", "points": [[40, 10], [60, 10], [60, 30], [40, 30]], "group_id": 2},
        {"label": "nose", "shape_type": "point", "points": [[12, 18]]},
    ]
    root = {"imagePath": "000.png", "imageHeight": 40, "imageWidth": 80, "shapes": shapes}
    (tmp_path / "000.json").write_text(json.dumps(root))
    loader = penstock.detection(tmp_path, size=80, training=False, masks=True, keypoints=NAMES, batch_size=1)
    batch = check_program(loader)[0]
    expected = [[[12, 38, 2], [0, 20, 0], [0, 20, 0]], [[0, 20, 0], [50, 40, 2], [0, 20, 0]]]
    np.testing.assert_allclose(batch["keypoints"][0], expected, atol=1e-3)
    assert batch["masks"][0].sum((1, 2)).tolist() == [200, 400] and loader.table.flip_indices() == (0, 2, 1)
    for change, said in (
        ({"label": "tail"}, "'tail' is none of keypoints: nose"),
        ({"points": [[70, 2]]}, "not clear whose 'nose' this is: give the point and its object one group_id"),
        ({"points": [[1, 2], [3, 4]]}, "a point has one position, got 2"),
    ):
        (tmp_path / "000.json").write_text(json.dumps({**root, "shapes": [*shapes[:3], {**shapes[3], **change}]}))
        with pytest.raises(DataError, match=f"{said}.*shape 3"):
            annotations.labelme(str(tmp_path), keypoints=NAMES)
    with pytest.raises(DataError, match="a point is not an object: keypoints="):
        annotations.labelme(str(tmp_path))


@pytest.mark.parametrize(
    "more, said",
    [
        ({"flip_pairs": [(1, 2)]}, "say keypoints="),
        ({"keypoints": (3, 3)}, "of the format 'coco' must be True"),
        ({"keypoints": True, "flip_pairs": [(1, 7)]}, r"from 0 to 2, got \(1, 7\)"),
        ({"keypoints": True, "flip_indices": [0, 0, 1]}, "each number from 0 to 2 once"),
        ({"keypoints": True, "flip_indices": [0, 2, 1], "flip_pairs": []}, "give one of them"),
        ({"format": "voc", "masks": True}, "boxes alone"),
        ({"format": "yolo", "keypoints": 17}, r"\(k, 2\) or \(k, 3\)"),
        ({"format": "yolo", "keypoints": (17, 3), "masks": True}, "give masks or keypoints"),
        ({"format": "labelme", "images": None, "keypoints": True}, "the labels of the points"),
    ],
)
def test_wrong_arguments(coco, more, said):
    folder, _ = coco
    with pytest.raises(ValueError, match=said):
        penstock.detection(folder / "coco.json", **{"images": folder / "images", **more})


def test_a_wrong_name_of_an_argument():
    with pytest.raises(TypeError, match="no argument 'mask', did you mean 'masks'"):
        penstock.detection("a.json", mask=True)


@pytest.mark.parametrize(
    "text, arguments, said",
    [
        ("0 0.5 0.5 0.5 0.5 1 1", {"keypoints": (3, 3)}, "4 numbers of a box and 3 x 3 of keypoints, got 6"),
        ("0 50 50 60 60 70 20", {"masks": True}, "fractions of it"),
    ],
)
def test_wrong_lines_of_yolo(tmp_path, text, arguments, said):
    annotation_files.images(tmp_path, [(8, 8)])
    (tmp_path / "000.txt").write_text(text)
    with pytest.raises(DataError, match=f"{said}.*000.txt, line 1"):
        annotations.yolo(str(tmp_path), **arguments)


def test_keypoints_of_categories_that_differ(coco, tmp_path):
    _, root = coco
    other = [{**c, "keypoints": NAMES[:2] if k else NAMES} for k, c in enumerate(root["categories"])]
    (tmp_path / "c.json").write_text(json.dumps({**root, "categories": other}))
    assert annotations.coco(str(tmp_path / "c.json"), keypoints=True).flip_indices() == ()
    (tmp_path / "c.json").write_text(json.dumps({**root, "categories": [{**other[0], "keypoints": 3}, *other[1:]]}))
    with pytest.raises(DataError, match="keypoints must be a list of names"):
        annotations.coco(str(tmp_path / "c.json"), keypoints=True)
