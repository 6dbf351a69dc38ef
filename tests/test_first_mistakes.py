# SPDX-License-Identifier: Apache-2.0
"""Mistakes of the first hour, and what the errors say to do."""

import annotation_files
import cv2
import numpy as np
import pytest

import penstock
from penstock import DataError, fn, pipeline_def
from penstock.torch import DataLoader


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    annotation_files.class_folders(folder / "photos", {"a": 2, "b": 2})
    annotation_files.images(folder / "flat", [(8, 9)] * 2)
    annotation_files.coco(folder / "coco")
    (folder / "masks").mkdir()
    for name in ("000", "001"):
        cv2.imwrite(str(folder / "masks" / f"{name}.jpg"), np.zeros((8, 9), np.uint8))
    return folder


def photos(folder, **options):
    return penstock.image_folder(folder / "photos", **{"size": 8, "batch_size": 2, "num_threads": 1, **options})


def built(function):
    pipeline_def(batch_size=1, num_threads=1)(function)().build()


LOADERS = [
    (lambda f: photos(f, size=224.0), ValueError, r"^size must be a whole number or two \(height, width\), got 224.0$"),
    (lambda f: photos(f, size=(8, "8")), ValueError, r"^size must be .*, got \(8, '8'\)$"),
    (lambda f: photos(f, size=()), ValueError, r"^size must be .*, got \(\)$"),
    (lambda f: photos(f, std=(58.4, 0, 57.4)), ValueError, r"^std must be above 0, got \[58.4, 0.0, 57.4\]$"),
    (lambda f: photos(f, std="imagenet"), ValueError, "^std must be three numbers, .*'imagenet'$"),
    (lambda f: photos(f, mean=(1, 2)), ValueError, r"^mean must be three numbers, .*\(1, 2\)$"),
    (
        lambda f: photos(f, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        ValueError,
        r"from 0 to 255, .*multiply .* by 255, as in mean=\[123.675, 116.28, 103.53\], std=\[58.395, 57.12, 57.375\]$",
    ),
    (lambda f: photos(f, batch_size="4"), ValueError, "^batch_size .*'4'"),
    (lambda f: photos(f, seed="x"), TypeError, "^seed .*'x'"),
    (lambda f: photos(f, num_threads=[]), (TypeError, ValueError), r"^num_threads .*\[\]"),
    (lambda f: photos(f, augment=lambda x: None), TypeError, "not None: does a function lack its return"),
    (lambda f: photos(f, augment=lambda x: x.convert("L")), AttributeError, "has no attribute 'convert': operators of"),
    (
        lambda f: penstock.image_folder([f]),
        TypeError,
        "takes a folder of classes or a list of files as a path, got list",
    ),
    (lambda f: penstock.speech(None), TypeError, "^speech takes the manifest as a path, got NoneType$"),
    (
        lambda f: penstock.segmentation(f, 3),
        TypeError,
        "^segmentation takes the folder of the masks as a path, got int$",
    ),
    (lambda f: penstock.image_folder(f / "flat"), DataError, "no subfolders; .*: its images have no classes; a list"),
    (lambda f: penstock.segmentation(f / "flat", f / "masks"), DataError, "the mask is JPEG, .*: write it as PNG"),
    (
        lambda f: penstock.detection(f / "coco" / "images", f / "coco" / "coco.json"),
        ValueError,
        r"takes the annotations first: detection\('\S+coco.json', '\S+images'\)$",
    ),
    (lambda f: DataLoader(penstock.image_folder), TypeError, r"penstock.image_folder\(...\) gives a loader by itself"),
]
PIPELINES = [
    (lambda f: None, ValueError, "its function returns what a batch has, as in `return images`"),
    (lambda f: fn.zeros(shape=[2]).astype("int32"), AttributeError, "has no attribute 'astype': did you mean fn.cast"),
    (lambda f: fn.zeros(shape=[2]).resize(3), AttributeError, r"has no attribute 'resize': did you mean fn.resize\?"),
    (lambda f: fn.zeros(shape=[2]).mean(), AttributeError, r"did you mean fn.reductions.mean\(x\)\?"),
]


@pytest.mark.parametrize("mistake", range(len(LOADERS)))
def test_loaders_say_what_to_write(folder, mistake):
    call, kind, wanted = LOADERS[mistake]
    with pytest.raises(kind, match=wanted):
        call(folder)


@pytest.mark.parametrize("mistake", range(len(PIPELINES)))
def test_pipelines_say_what_to_write(folder, mistake):
    call, kind, wanted = PIPELINES[mistake]
    with pytest.raises(kind, match=wanted):
        built(lambda: call(folder))


def test_numbers_of_numpy_are_numbers(folder):
    assert next(iter(photos(folder, size=np.int64(8), batch_size=np.int32(2))))["image"].shape == (2, 3, 8, 8)
    assert next(iter(photos(folder, size=[np.int64(8), 9])))["image"].shape == (2, 3, 8, 9)
    assert not hasattr(fn.zeros, "astype") and not hasattr(penstock.DataNode, "__array_interface__")
