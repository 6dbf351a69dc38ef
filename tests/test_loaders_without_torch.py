# SPDX-License-Identifier: Apache-2.0
"""One-line loaders with framework="numpy": the numbers of torch's batches, and no import of torch."""

import json
import subprocess
import sys
from pathlib import Path

import annotation_files
import numpy as np
import pytest
import torch

import penstock
from penstock.torch.arrays import FRAMEWORKS
from penstock.torch.forms import extents

WITHOUT = """
import sys
sys.path.insert(0, sys.argv[1])
import penstock
loader = penstock.image_folder(sys.argv[2], size=8, batch_size=4, framework="numpy", augment="trivial_augment_wide")
print([(b["image"].shape, b["label"].dtype.name) for b in loader], "torch" in sys.modules)
try:
    penstock.image_folder(sys.argv[2])
except ImportError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    annotation_files.class_folders(folder / "photos", {"cats": 5, "dogs": 2})
    annotation_files.coco(folder)
    names = annotation_files.recordings(folder, [0.3, 0.5, 0.2])
    rows = [{"audio_filepath": n, "text": "ä" * k, "age": 20 + k} for k, n in enumerate(names)]
    (folder / "m.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return folder


def test_torch_is_not_imported(data, tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('imported')")
    run = lambda first: subprocess.run(  # noqa: E731
        [sys.executable, "-c", WITHOUT, first, data / "photos"], capture_output=True, text=True, timeout=240
    )
    said = run(tmp_path)
    assert "((4, 3, 8, 8), 'int64'), ((3, 3, 8, 8), 'int64')] False" in said.stdout, said.stderr
    hidden = "import importlib.util as u\nfind = u.find_spec\nu.find_spec = lambda n, *a: None if n == 'torch' else find(n, *a)\n"
    (tmp_path / "sitecustomize.py").write_text(hidden)
    said = subprocess.run(
        [sys.executable, "-c", f"{hidden}{WITHOUT}", tmp_path, data / "photos"], capture_output=True, text=True
    )
    assert "torch is not installed: framework='numpy' gives" in said.stdout, said.stderr


CALLS = {
    "image_folder": (["photos"], {"size": 8, "augment": "rand_augment"}),
    "detection": (["coco.json", "images"], {"size": 32, "masks": True, "keypoints": True}),
    "padded": (["coco.json", "images"], {"size": 32, "pad": -1}),
    "segmentation": (["images", "coco.json"], {"size": 32}),
    "speech": (["m.json"], {"columns": ["text", "age"]}),
}


def same(ours, torchs):
    if isinstance(torchs, list):
        assert len(ours) == len(torchs)
        for a, b in zip(ours, torchs):
            same(a, b)
    elif isinstance(torchs, torch.Tensor):
        assert type(ours) is np.ndarray and ours.dtype == torchs.numpy().dtype
        np.testing.assert_array_equal(ours, torchs.numpy())
    else:
        assert ours == torchs


@pytest.mark.parametrize("name", CALLS)
def test_batches_are_those_of_torch(data, name):
    paths, arguments = CALLS[name]
    make = getattr(penstock, "detection" if name == "padded" else name)
    call = lambda **more: make(*(Path(data) / p for p in paths), batch_size=4, num_threads=1, **arguments, **more)  # noqa: E731
    ours, torchs = call(framework="numpy"), call()
    assert "framework='numpy'" in ours.program and "framework" not in torchs.program
    batches = list(ours)
    for a, b in zip(batches, torchs, strict=True):
        assert list(a) == list(b)
        for output in a:
            same(a[output], b[output])
    first = ours.state_dict()
    ours.load_state_dict(first)
    assert len(list(ours)) == len(batches)


def test_extents_of_no_samples():
    for framework, like in (("numpy", np.zeros(1)), ("torch", torch.zeros(1))):
        for sample, expected in (([1.0], (0,)), ([[1.0]], (0, 2))):
            batch = penstock.batch([np.float32(sample)])
            made = extents(batch, 0, like, FRAMEWORKS[framework])
            assert tuple(made.shape) == expected and made.dtype in (np.int64, torch.int64)


def test_there_is_no_such_framework(data):
    with pytest.raises(ValueError, match="framework must be 'torch' or 'numpy', got 'jax'"):
        penstock.image_folder(data / "photos", framework="jax")
