# SPDX-License-Identifier: Apache-2.0
"""Every reader on files as disks, networks and people leave them: a typed error that names the file, or samples; and files
that shrink, vanish or become something else while they are read."""

import os
import shutil
import subprocess
import sys

import numpy as np
import penstock as ps
import pytest
from penstock import fn, tfrecord
from test_remote import READERS, data, made  # noqa: F401 (a fixture)

TYPED = (ps.DataError, FileNotFoundError, ValueError)

# What each reader opens, below the folder "set"; the first is the one that is damaged.
FILES = {
    "file": ["files/a/3 é.jpg"],
    "file_list": ["files/list.txt", "files/a/1 é.jpg"],
    "tfrecord": ["0.tfrecord", "1.tfrecord"],
    "tfrecord_index": ["0.idx", "0.tfrecord"],
    "mxnet": ["r.rec", "r.idx"],
    "mxnet_index": ["r.idx", "r.rec"],
    "webdataset": ["w.tar"],
    "lmdb": ["lmdb/data.mdb"],
    "numpy": ["npy/a.npy"],
    "numpy_region": ["npy/a.npy"],
    "fits": ["fits/1.fits"],
    "coco": ["coco.json"],
    "coco_pictures": ["files/a/3 é.jpg"],
    "nemo_asr": ["speech.json"],
    "nemo_asr_recordings": ["1.wav"],
    "video": ["v.mp4"],
    "mix": ["0.tfrecord", "w.tar", "files/a/3 é.jpg"],
}


def mix(at, **more):
    features = {"data": tfrecord.FixedLenFeature((), tfrecord.string, "")}
    return fn.readers.mix(
        [
            fn.readers.tfrecord(path=f"{at}/0.tfrecord", features=features)["data"],
            fn.readers.webdataset(paths=f"{at}/w.tar", ext=["jpg"]),
            fn.readers.file(file_root=f"{at}/files")[0],
        ],
        source_ids=True,
    )


def reader_of(name):
    same = {"mxnet_index": "mxnet", "coco_pictures": "coco", "nemo_asr_recordings": "nemo_asr", "mix": None}
    return mix if name == "mix" else READERS[same.get(name, name)]


@pytest.fixture(scope="module")
def copies(data, tmp_path_factory):  # noqa: F811
    """A folder of the reader's own, made once."""
    made_folders = {}

    def folder(name):
        if name not in made_folders:
            made_folders[name] = tmp_path_factory.mktemp(name)
            shutil.copytree(data / "set", made_folders[name] / "set")
        return made_folders[name] / "set"

    return folder


def damages(content, seed):
    """(what was done, the bytes) of one file, many times."""
    random = np.random.default_rng(seed)
    size = len(content)
    for end in sorted({0, 1, 7, size // 3, size // 2, size - 1}):
        yield f"cut at {end}", content[:end]
    for k in range(12):  # a few bits, half of the times near the start, where lengths and types are
        bad = bytearray(content)
        for _ in range(1 + k % 4):
            bad[random.integers(0, min(size, 64 if k % 2 else size))] ^= 1 << random.integers(0, 8)
        yield f"bits turned ({k})", bytes(bad)
    for k in range(4):
        at = int(random.integers(0, size))
        yield f"8 bytes are gone at {at}", content[:at] + content[at + 8 :]
        yield f"8 bytes too many at {at}", content[:at] + random.bytes(8) + content[at:]
        yield f"a hostile number at {at}", content[:at] + b"\xff" * 8 + content[at + 8 :]
        yield f"512 zeros at {at}", content[:at] + bytes(512) + content[at + 512 :]
    yield "random bytes", random.bytes(size)
    yield "zeros", bytes(size)
    yield "text", b"\n" * size
    yield "twice", content + content


def outcome(name, folder, batches=4):
    """None if there were samples, else the error's text; any other kind of exception fails the test."""
    try:
        pipe = made(lambda: reader_of(name)(str(folder)), batch_size=16)
        for _ in range(batches):
            pipe.run()
        pipe.close()
    except TYPED as error:
        assert not isinstance(error, UnicodeDecodeError), error
        return str(error)
    return None


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_end_in_typed_errors_or_samples(copies, monkeypatch, tmp_path, name):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    folder = copies(name)
    path = folder / FILES[name][0]
    content = path.read_bytes()
    assert outcome(name, folder) is None
    said = 0
    for k, (what, bad) in enumerate(damages(content, len(name))):
        path.write_bytes(bad)
        os.utime(path, ns=(k, k))  # no index of other contents is used
        text = outcome(name, folder)
        if text is not None:
            said += 1
            assert "[readers." in text and str(folder) in text, (what, text)  # the file: this one, or one that it names
    path.write_bytes(content)
    assert said >= 1  # an empty file at least


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_something_else(copies, monkeypatch, tmp_path, name):
    """Missing, a folder, a pipe."""
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    folder = copies(name)
    path = folder / FILES[name][0]
    content = path.read_bytes()
    path.unlink()
    listed = name in ("file", "numpy", "fits", "mix")  # from a folder's list, which then names one fewer
    for make, undo in ((lambda: None, lambda: None), (path.mkdir, path.rmdir), (lambda: os.mkfifo(path), path.unlink)):
        make()
        text = outcome(name, folder)
        assert (text is not None and "[readers." in text) or listed or name in ("mxnet_index", "tfrecord_index"), text
        undo()
        for index in (folder / FILES[name][0],):  # that a reader has made because it was missing
            index.unlink(missing_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["shrinks", "vanishes"])
@pytest.mark.parametrize(
    "name", [n for n in FILES if n not in ("file_list", "tfrecord_index", "mxnet_index", "coco", "nemo_asr")]
)
def test_a_file_that_changes_while_it_is_used(copies, monkeypatch, tmp_path, name, how):
    """After the first batch. A file that was open may be read to its end."""
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    folder = copies(name)
    path = folder / FILES[name][0]
    content, times = path.read_bytes(), os.stat(path)
    try:
        pipe = made(lambda: reader_of(name)(str(folder)), batch_size=1, threads=1, prefetch_queue_depth=1)
        pipe.run()
        if how == "shrinks":
            os.truncate(path, len(content) // 3)
        else:
            path.unlink()
        error = None
        try:
            for _ in range(60):
                pipe.run()
        except TYPED as e:
            error = str(e)
        pipe.close()
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    if error is not None:
        assert "[readers." in error and path.name in error
    elif how == "shrinks":  # a shorter file is also valid, or small and read at once
        assert name in ("file", "coco_pictures", "video")
    else:  # it was open
        assert name not in ("file", "numpy", "fits", "coco_pictures", "nemo_asr_recordings")


FULL = """
import resource, signal, sys
import penstock as ps
from penstock import fn, tfrecord
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, index = sys.argv[1:3]

@ps.pipeline_def(batch_size=4, num_threads=1)
def records():
    return fn.readers.tfrecord(path=path, index_path=index or [], features={"n": tfrecord.FixedLenFeature([1], tfrecord.int64, 0)})["n"]
pipe = records()
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # writing fails, as on a full disk
try:
    print(pipe.run()[0].as_array().ravel().tolist())
except (ps.DataError, FileNotFoundError, ValueError) as error:
    print(str(error).splitlines()[0])
"""


@pytest.mark.parametrize("index", ["", "made.idx"])
def test_a_full_disk_keeps_no_index_and_stops_no_pipeline(data, tmp_path, index):  # noqa: F811
    """The index that is made on first use: in the user's cache folder, or at the given place."""
    (tmp_path / "cache").mkdir()
    index = str(tmp_path / index) if index else ""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(data / "set" / "0.tfrecord"), index],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PENSTOCK_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0, 1, 2, 3]\n" or (
        index and "made.idx" in done.stdout and "[readers.tfrecord]" in done.stdout
    ), done.stdout
    assert [f for _, _, files in os.walk(tmp_path) for f in files] == []
