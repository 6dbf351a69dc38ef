# SPDX-License-Identifier: Apache-2.0
"""The example of each reader's docstring runs, in a folder with the files that it names, and gives a batch."""

import json
import subprocess

import audio_files
import container_files
import docstrings
import fits_files
import mds_files
import numpy as np
import penstock
import pytest
from penstock import _core, fn, pipeline_def, types
from readers.containers import write_lmdb
from test_cheat_sheets import jpeg, write_files

READERS = [
    name
    for name in _core.operators()
    if ".readers." in f".{name}" or name in ("external_source", "experimental.inputs.video")
]


def photographs(folder, *names):
    for name in names:
        (folder / name / "a").mkdir(parents=True)
        for k in range(4):
            (folder / name / "a" / f"{k}.jpg").write_bytes(jpeg(k))


def arrays(folder):
    (folder / "arrays").mkdir()
    for k in range(3):
        np.save(folder / "arrays" / f"{k}.npy", np.float32([k, 1]))


def sky(folder):
    (folder / "sky").mkdir()
    (folder / "sky" / "m31.fits").write_bytes(
        fits_files.file(fits_files.hdu(first=True), fits_files.hdu(np.float32([[1, 2], [3, 4]])))
    )


def recordings(folder):
    (folder / "a.wav").write_bytes(audio_files.recorded(np.zeros((800, 1), np.float32), "WAV", "PCM_16"))
    line = {"audio_filepath": str(folder / "a.wav"), "duration": 0.05, "text": "a"}
    (folder / "speech.json").write_text(json.dumps(line) + "\n")


def film(folder):
    source = "testsrc=size=64x48:rate=25:duration=2"
    command = [
        "ffmpeg",
        "-loglevel",
        "error",
        "-f",
        "lavfi",
        "-i",
        source,
        "-pix_fmt",
        "yuv420p",
        str(folder / "film.mp4"),
    ]
    subprocess.run(command, check=True)


def tar(folder):
    members = [(f"{k}.{end}", data) for k in range(4) for end, data in (("jpg", jpeg(k)), ("cls", b"\1\0\0\0"))]
    container_files.write_tar(folder / "photos.tar", members)


def shards(folder):
    (folder / "train").mkdir()
    records = [{"image": jpeg(k), "label": k} for k in range(3)]
    mds_files.write(folder / "train", {"image": "jpeg", "label": "int"}, [records])


def sequence(folder):
    (folder / "photos" / "first").mkdir(parents=True)
    for k in range(9):
        (folder / "photos" / "first" / f"{k}.jpg").write_bytes(jpeg(k))


def in_database(record):
    return lambda folder: write_lmdb(folder / "data", [record(k) for k in range(3)])


FILES = {  # what a reader's example names
    "experimental.inputs.video": film,
    "experimental.readers.video": film,
    "external_source": lambda folder: None,
    "readers.arrow": lambda folder: None,
    "readers.caffe": in_database(lambda k: container_files.caffe_datum(jpeg(k), k)),
    "readers.caffe2": in_database(lambda k: container_files.caffe2_record(jpeg(k), np.int32([k]))),
    "readers.coco": write_files,
    "readers.file": lambda folder: photographs(folder, "photos"),
    "readers.fits": sky,
    "readers.indices": lambda folder: None,
    "readers.lmdb": in_database(jpeg),
    "readers.mds": shards,
    "readers.mix": lambda folder: photographs(folder, "day", "night"),
    "readers.mxnet": lambda folder: container_files.write_recordio(
        folder / "data", folder / "data.idx", [(k, jpeg(k)) for k in range(3)]
    ),
    "readers.nemo_asr": recordings,
    "readers.numpy": arrays,
    "readers.sequence": sequence,
    "readers.tfrecord": lambda folder: container_files.write_tfrecord(
        folder / "train.tfrecord", [container_files.example({"image/encoded": jpeg(k)}) for k in range(3)]
    ),
    "readers.video": film,
    "readers.webdataset": tar,
}


def test_every_reader_has_files():
    assert sorted(FILES) == sorted(READERS)


@pytest.mark.parametrize("name", FILES)
def test_the_example_of_a_reader_gives_a_batch(name, tmp_path, monkeypatch):
    FILES[name](tmp_path)
    monkeypatch.chdir(tmp_path)
    function = fn
    for part in name.split("."):
        function = getattr(function, part)
    lines = docstrings.parts(function.__doc__)[1]["Example"]
    if lines[0].startswith(">>>"):
        lines = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
    names = {"np": np, "penstock": penstock, "fn": fn, "types": types, "made": []}

    def noted(*arguments, **settings):
        """pipeline_def, and a note of the function that it makes."""

        def noting(function):
            names["made"].append((pipeline_def(*arguments, **settings)(function), function))
            return names["made"][-1][0]

        return noting

    exec("\n".join(lines), {**names, "pipeline_def": noted})
    (make, function), *_ = names["made"]
    if "feed_input" not in "\n".join(lines):  # else the example has run it
        batch = make(*["photos"] * function.__code__.co_argcount).run()[0]
        assert len(batch) > 0 and batch[0].nbytes > 0
