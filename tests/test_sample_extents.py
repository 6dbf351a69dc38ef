# SPDX-License-Identifier: Apache-2.0
"""Parts of unlike size are refused before an operator moves them, with the names and the sizes of both."""

import itertools
import json
import re

import annotation_files
import cv2
import numpy as np
import pytest
import torch

import penstock
from penstock import DataError, _core, augment, fn, pipeline_def
from penstock.sample import Image, Sample, Volume

IMAGE = np.zeros((30, 40, 3), np.uint8)
MESH = {"columns": [0, 40], "rows": [0, 30], "moves": [0.0] * 8}
# Arguments of each operator that moves the parts of a sample.
MOVES = {
    "copy": {},
    "crop": {"crop": [9, 8]},
    "crop_mirror_normalize": {"crop": [9, 8]},
    "elastic_transform": {"alpha": 2.0, "sigma": 3.0},
    "flip": {},
    "grid_distortion": {"steps_x": [0.5, 1.5], "steps_y": [1.5, 0.5]},
    "letterbox": {"size": [50, 60]},
    "optical_distortion": {"k": 0.1},
    "pad": {"shape": [50, 60], "axis_names": "HW"},
    "paste": {"ratio": 1.5, "fill_value": 0},
    "random_resized_crop": {"size": [9, 8]},
    "resize": {"size": [9, 8]},
    "resize_crop_mirror": {"size": [20, 20], "crop": [9, 8]},
    "rotate": {"angle": 10.0},
    "shuffle_tiles": {"columns": [0, 20, 40], "rows": [0, 15, 30], "order": [1, 0, 2, 3]},
    "slice": {"rel_start": [0.1, 0.1], "rel_shape": [0.5, 0.5], "axis_names": "HW"},
    "tensor_resize": {"sizes": [9, 8], "axes": [0, 1]},
    "warp_affine": {"matrix": [1.0, 0, 1, 0, 1, 1]},
    "warp_by_mesh": MESH,
    "warp_by_points": {"points": [0, 0, 1, 0, 0, 1], "targets": [0, 0, 1, 0, 0, 1], "normalized": True},
    "warp_perspective": {"matrix": [1.0, 0, 0, 0, 1, 0, 0, 0, 1]},
}
OTHERS = {
    "mask": np.zeros((20, 40), np.uint8),
    "masks": np.zeros((30, 41, 1), np.uint8),
    "instances": np.zeros((2, 15, 20), np.uint8),
    "images": np.zeros((60, 80, 3), np.uint8),
}


def parts(name):
    boxes = {"boxes": np.float32([[1, 2, 9, 9], [3, 3, 8, 8]])} if name == "instances" else {}
    return {"image": IMAGE, name: OTHERS[name], **boxes}


def said(name):
    height, width = OTHERS[name].shape[1:] if name == "instances" else OTHERS[name].shape[:2]
    return rf"'image' is 30 x 40, '{name}' is {height} x {width}: .* one height and width; resize one"


def values(given):
    """The parts as values of the pipeline that is being defined."""
    layouts = {2: "HW", 3: "HWC"}
    return {
        name: fn.external_source(
            itertools.repeat([x]),
            batch=True,
            dtype=str(x.dtype),
            ndim=x.ndim,
            layout="" if name in ("boxes", "instances") else layouts[x.ndim],
        )
        for name, x in given.items()
    }


def test_the_table_has_every_operator_that_moves_parts():
    there = {n for n in _core.operators() if _core.operator_schema(n)["moves_points"]}
    assert there == set(MOVES)


@pytest.mark.parametrize("op", MOVES)
def test_parts_of_unlike_size_are_refused(op):
    for name in OTHERS:
        if op == "tensor_resize" and name == "instances":
            continue  # its axes are numbers: those of a stack are others
        with pytest.raises(DataError, match=rf"^\[{op}\] {said(name)}"):
            getattr(fn, op)(Sample(**parts(name)), **MOVES[op])


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("op", ["flip", "paste", "random_resized_crop", "elastic_transform"])
def test_parts_of_unlike_size_are_refused_in_a_pipeline(op, debug):
    for name in OTHERS:

        @pipeline_def(batch_size=1, num_threads=1, debug=debug)
        def pipe(name=name):
            moved = getattr(fn, op)(Sample(**values(parts(name))), **MOVES[op])
            return dict(fn.flip(moved))

        with pytest.raises(DataError, match=said(name)) as error:
            pipe().run()
        assert re.search(rf"^\[{op}\] .*\n  at .*test_sample_extents.py:\d+", str(error.value), re.S)


def test_masks_of_equal_size_move():
    for op in MOVES:
        made = getattr(fn, op)(Sample(image=IMAGE, mask=np.ones((30, 40), np.uint8)), **MOVES[op])
        height, width = made["image"].shape[-2:] if op == "crop_mirror_normalize" else made["image"].shape[:2]
        assert made["mask"].shape == (height, width), op


def test_volumes_and_tensors():
    scan = Volume(np.zeros((4, 5, 6), np.int16))
    with pytest.raises(DataError, match=r"'scan' is 4 x 5 x 6, 'mask' is 4 x 5 x 7:"):
        fn.flip(Sample(scan=scan, mask=np.zeros((4, 5, 7), np.uint8)))
    image = torch.zeros((3, 30, 40), dtype=torch.uint8)
    with pytest.raises(DataError, match="'image' is 30 x 40, 'mask' is 20 x 40"):
        fn.flip(Sample(image=image, mask=torch.zeros((20, 40), dtype=torch.uint8)))
    assert fn.flip(Sample(image=image, mask=torch.zeros((30, 40), dtype=torch.uint8)))["mask"].shape == (30, 40)


def test_a_replaced_part_is_compared_again():
    moved = fn.flip(Sample(image=IMAGE, mask=np.zeros((30, 40), np.uint8)))
    with pytest.raises(DataError, match="'mask' is 9 x 9"):
        fn.flip(moved.replaced({"mask": np.zeros((9, 9), np.uint8)}))
    assert fn.brightness(Sample(image=IMAGE, depth=Image(np.zeros((3, 4), np.uint8))), brightness=1.5)


def test_functions_of_augment_refuse_them_too():
    for function in (augment.random_perspective, augment.random_horizontal_flip, augment.rand_augment):
        seen = 0
        for seed in range(9):
            penstock.seed(seed)
            try:
                function(Sample(**parts("mask")))
            except DataError as error:
                assert "'mask' is 20 x 40" in str(error)
                seen += 1
        assert seen


@pytest.fixture
def pairs(tmp_path):
    """Folders of four images and masks; the third mask has another size."""
    annotation_files.images(tmp_path / "images", [(30, 40)] * 4)
    (tmp_path / "masks").mkdir()
    for k, path in enumerate(sorted((tmp_path / "images").iterdir())):
        cv2.imwrite(str(tmp_path / "masks" / f"{path.stem}.png"), np.zeros((30, 40) if k != 2 else (15, 20), np.uint8))
    return tmp_path


def loader(pairs, **options):
    options = {"size": 16, "batch_size": 2, "shuffle": False, "num_threads": 1, **options}
    return penstock.segmentation(pairs / "images", pairs / "masks", **options)


@pytest.mark.parametrize("training", [True, False])
def test_segmentation_names_both_files(pairs, training):
    with pytest.raises(DataError) as error:
        for _ in loader(pairs, training=training):
            pass
    third = sorted((pairs / "images").iterdir())[2]
    text = str(error.value)
    assert f"'image' is 30 x 40 ({third}), 'mask' is 15 x 20 ({pairs / 'masks' / third.stem}.png)" in text


def test_segmentation_goes_on_after_it(pairs):
    batches = list(loader(pairs, training=False, on_error="skip"))
    assert sum(len(b["mask"]) for b in batches) == 3


def test_a_damaged_mask_is_named_by_its_own_file(pairs):
    damaged = sorted((pairs / "masks").iterdir())[0]
    damaged.write_bytes(damaged.read_bytes()[:40])
    with pytest.raises(DataError, match=re.escape(f"(file: {damaged})")):
        next(iter(loader(pairs)))


def test_detection_compares_the_masks_of_objects(tmp_path):
    """The JSON file says another size than the image has."""
    annotation_files.coco(tmp_path)
    file = tmp_path / "coco.json"
    said = json.loads(file.read_text())
    for image in said["images"]:
        image["height"] += 7
    file.write_text(json.dumps(said))
    with pytest.raises(DataError, match=r"'image' is \d+ x \d+ \(.*\), 'masks' is \d+ x \d+"):
        for _ in penstock.detection(file, tmp_path / "images", masks=True, size=32, batch_size=2):
            pass


def test_parts_that_nobody_reads_are_not_made(pairs):
    """The check does not make a pipeline decode masks that it does not return."""

    @pipeline_def(batch_size=4, num_threads=1)
    def pipe():
        data, _ = fn.readers.file(file_root=str(pairs), file_list=str(pairs / "list.txt"))
        mask = fn.decoders.image(data[:9], output_type="gray")  # no image
        return fn.flip(Sample(image=fn.decoders.image(data), mask=mask))["image"]

    (pairs / "list.txt").write_text("".join(f"images/{p.name} 0\n" for p in (pairs / "images").iterdir()))
    assert len(pipe().run()[0]) == 4
