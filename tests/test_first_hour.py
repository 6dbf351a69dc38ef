# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/first_hour run as a new user would start them."""

import json
import subprocess
import sys
from pathlib import Path

import annotation_files

PROGRAMS = Path(__file__).parent / "first_hour"


def run(name, *arguments, through=()):
    done = subprocess.run(
        [sys.executable, *through, PROGRAMS / name, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first_hour_of_classification(tmp_path):
    said = run("classification.py", annotation_files.class_folders(tmp_path, {"cats": 5, "dogs": 3}))
    assert "{'cats': 0, 'dogs': 1}" in said and "@pipeline_def" in said and "of 6" in said


def test_first_hour_of_detection(tmp_path):
    annotation_files.coco(tmp_path)
    said = run("detection.py", tmp_path / "coco.json", tmp_path / "images")
    assert "augmented(sample)" in said and "'cat'" in said and "shape=[(" in said


def test_first_hour_of_speech(tmp_path):
    names = annotation_files.recordings(tmp_path, [0.3, 0.5, 0.2])
    rows = [
        {"audio_filepath": n, "text": "größe", "speaker": "eva", "lang": "de" if k else "en"}
        for k, n in enumerate(names)
    ]
    (tmp_path / "m.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    said = run("speech.py", tmp_path / "m.json")
    assert "['größe', 'größe'] ['eva', 'eva']" in said


def test_first_hour_of_a_dali_script(tmp_path):
    folder = annotation_files.class_folders(tmp_path, {"cats": 5, "dogs": 4})
    said = run("dali_script.py", folder, through=("-W", "ignore", "-m", "penstock.dali"))
    assert "batches 3 (4, 3, 28, 28) (4, 1)" in said and "served [[4, 5]]" in said


def test_first_hour_of_a_library():
    said = run("library.py")
    assert "Pipeline(batch_size=4, num_threads=1, 2 outputs) <svg  Batch(\n    [[[0 0 0]" in said
    for line in (
        "(4, 4, 3)",
        "runs 4",
        "'raise', 'skip' or 'replace', got 'ignore'",
        "number of a GPU or None, got 'cuda'",
        "seed is an integer or None, got 'a'",
        "penstock.pictures.show(images)",
        "penstock.augment.color_jitter(",
        "table.read(weights=...)",
        "penstock.annotations.coco(file, images, masks=True, keypoints=True)",
        'read_fields=["speaker"]',
    ):
        assert line in said, line
