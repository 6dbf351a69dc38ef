# SPDX-License-Identifier: Apache-2.0
"""Warnings name the line of the program, however many modules of the package are in between."""

import re
import warnings
from pathlib import Path

import annotation_files
import numpy as np
import pytest
import torch

import penstock
from penstock import augment, fn, pipeline_def
from penstock._graph import scope
from penstock._pipeline import defining
from penstock.sample import Sample

ROOT = Path(__file__).resolve().parent.parent
IMAGE = np.zeros((8, 9, 3), np.uint8)
AS_HWC = torch.zeros((5, 7, 3), dtype=torch.uint8)


def pipeline(function):
    return pipeline_def(batch_size=2, num_threads=1)(function)


def copied():
    return fn.copy(fn.random.uniform(range=[0.0, 1.0]), device="gpu")


def with_a_draw_of_numpy():
    return fn.random.uniform(range=[0.0, np.random.rand() + 1])


DEVICE = {
    "a call": lambda photos: fn.resize(IMAGE, size=[3, 3], device="gpu"),
    "a Sample": lambda photos: fn.flip(Sample(image=IMAGE, mask=IMAGE[..., 0]), device="gpu"),
    "a function of augment": lambda photos: augment.maybe(IMAGE, lambda x: fn.invert(x, device="gpu"), p=1.0),
    "a pipeline": lambda photos: pipeline(copied)(),
    "a loader": lambda photos: penstock.image_folder(photos, size=8, batch_size=2, device="gpu"),
}
OTHERS = {
    "a tensor's layout": (lambda: fn.flip(AS_HWC), "is read as HWC"),
    "the layout in augment": (lambda: augment.random_horizontal_flip(AS_HWC), "is read as HWC"),
    "a draw": (lambda: pipeline(with_a_draw_of_numpy)().run(), "drew numbers of numpy.random"),
    "a policy of DALI": (lambda: __import__("penstock.dali.auto_aug.rand_augment").dali.auto_aug.rand_augment
                         .apply_rand_augment([], IMAGE, n=0, m=0), "applies nothing"),
}  # fmt: skip


def told(call, text):
    """The file and the line of the one warning with this text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = [w for w in caught if text in str(w.message)]
    assert len(found) == 1, [str(w.message) for w in caught]
    return found[0].filename, found[0].lineno


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return annotation_files.class_folders(tmp_path_factory.mktemp("photos"), {"a": 2, "b": 2})


@pytest.mark.parametrize("name", DEVICE)
def test_a_missing_gpu_is_told_at_the_users_line(name, photos, monkeypatch):
    monkeypatch.setattr(scope, "_warned", set())
    assert penstock._core.gpu_why_not(), "this test is for machines without a GPU"
    file, line = told(lambda: DEVICE[name](photos), "runs on the CPU")
    assert file == __file__ and "gpu" in Path(file).read_text().splitlines()[line - 1]


@pytest.mark.parametrize("name", OTHERS)
def test_warnings_name_the_users_file(name, monkeypatch):
    monkeypatch.setattr(defining, "_drawn", set())
    assert told(*OTHERS[name])[0] == __file__


def test_notices_of_batches_name_the_users_file(photos, monkeypatch):
    loader = penstock.image_folder(photos, size=8, batch_size=4, num_threads=1)
    monkeypatch.setattr(penstock._core, "take_notices", lambda: ["a file lacks something"])
    assert told(lambda: list(loader), "lacks something")[0] == __file__
    assert told(lambda: pipeline(with_a_draw_of_numpy)().run(), "lacks something")[0] == __file__


def test_there_is_one_way_to_warn():
    """Levels that are counted by hand are wrong as soon as a call goes another way."""
    found = []
    for path in [*(ROOT / "python").rglob("*.py"), *(ROOT / "python" / "src").glob("*.cpp")]:
        if path.name not in ("log.py", "frames.py", "warning.cpp") and "_development" not in path.parts:
            text = path.read_text()
            found += [f"{path}: {w}" for w in re.findall(r"warnings\.warn\b|PyErr_Warn\w+|stacklevel", text)]
    assert not found
