# SPDX-License-Identifier: Apache-2.0
"""What comes from elsewhere (saved pipelines, lists, annotations, archives, folders) and how much it is trusted."""

import io
import json
import os
import subprocess
import sys
import tarfile

import container_files
import fits_files
import numpy as np
import penstock as ps
import pytest
import video_files
from penstock import Pipeline, fn


def run(make, **options):
    pipe = Pipeline(**{"batch_size": 4, "num_threads": 2, "prefetch_queue_depth": 1, **options})
    with pipe:
        out = make()
        pipe.set_outputs(*(out if isinstance(out, (list, tuple)) else [out]))
    try:
        return [[b[i].numpy() for i in range(len(b))] for b in pipe.run()]
    finally:
        pipe.close()


# --- saved pipelines ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pictures(tmp_path):
    import cv2

    (tmp_path / "set" / "a").mkdir(parents=True)
    for k in range(4):
        cv2.imwrite(
            str(tmp_path / "set" / "a" / f"{k}.jpg"), np.random.default_rng(k).integers(0, 256, (400, 400, 3), np.uint8)
        )
    return tmp_path / "set"


def test_a_loaded_pipeline_makes_no_index_that_the_caller_did_not_name(pictures, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    stored, given = tmp_path / "stored.index", tmp_path / "given.index"

    def cropped():
        return fn.decoders.image_random_crop(fn.readers.file(file_root=str(pictures), name="r")[0])

    def used(pipe, epochs=2):
        for _ in range(epochs):
            pipe.run()
        pipe.close()

    pipe = Pipeline(batch_size=4, num_threads=1, entropy_index=str(stored))
    with pipe:
        pipe.set_outputs(cropped())
    saved = pipe.serialize()
    used(pipe)
    assert stored.exists() and json.loads(saved)["entropy_index"] == str(stored)
    stored.unlink()
    used(Pipeline.deserialize(saved))
    assert not stored.exists()
    used(Pipeline.deserialize(saved, entropy_index=str(given)))
    assert not stored.exists() and given.exists()
    off = json.loads(saved) | {"entropy_index": "off"}
    loaded = Pipeline.deserialize(json.dumps(off))
    assert json.loads(loaded.to_json())["entropy_index"] == "off"
    loaded.close()


def test_saved_forms_that_are_not_text_or_have_unknown_keys(tmp_path):
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.random.uniform())
    saved, state = pipe.serialize(), pipe.checkpoint()
    with pytest.raises(
        ValueError, match="a saved pipeline has the unknown key 'memory_limt', did you mean 'memory_limit'"
    ):
        Pipeline.deserialize(json.dumps(json.loads(saved) | {"memory_limt": 5}))
    bad = tmp_path / "bad"
    for data, word, load in ((saved, "pipeline", Pipeline.deserialize), (state, "checkpoint", None)):
        broken = data[:9] + b"\xff\xfe" + data[9:]
        bad.write_bytes(broken)
        if load:
            with pytest.raises(ValueError, match=f"this is not a saved {word}: byte 9 is not UTF-8 text") as told:
                load(broken)
            assert not isinstance(told.value, UnicodeError)
            with pytest.raises(ValueError, match=r"\(file: .*bad\)"):
                load(filename=str(bad))
        else:
            for given in (broken, str(bad)):
                again = Pipeline(batch_size=1, checkpoint=given)
                with again:
                    again.set_outputs(fn.random.uniform())
                with pytest.raises(ValueError, match=f"this is not a saved {word}: byte 9 is not UTF-8 text") as told:
                    again.run()
                assert not isinstance(told.value, UnicodeError)


@pytest.mark.parametrize("number", [-1, -(2**31), 0, 1025, 2**31 - 1, 2**40, [3, -1]])
def test_a_saved_number_of_outputs_is_checked_before_memory_is_taken(number):
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(*fn.external_source(lambda: ([np.zeros(2)], [np.zeros(3)]), num_outputs=2))
    saved = json.loads(pipe.serialize())
    (node,) = (n for n in saved["graph"]["nodes"] if n["op"] == "external_source")
    assert node["constants"]["num_outputs"] == 2
    node["constants"]["num_outputs"] = number
    node["outputs"] = 0  # the number that the argument gives
    with pytest.raises((ValueError, TypeError), match="external_source"):
        Pipeline.deserialize(json.dumps(saved))


# --- names in lists -----------------------------------------------------------------------------------------------------

ENDINGS = {"coco": "npy", "file": "npy", "numpy": "npy", "fits": "fits", "video": "mp4"}


@pytest.fixture
def tree(tmp_path, request):
    """top/in and top/sub/deep, and outside above them, as files of the kind that the test reads."""
    kind = request.node.callspec.params.get("kind", "numpy") if hasattr(request.node, "callspec") else "numpy"
    root = tmp_path / "top"
    (root / "sub").mkdir(parents=True)
    if kind == "video":
        clip = tmp_path / "outside.mp4"
        video_files.encode(clip, "mpeg4", count=2)
    for path in (root / "in", root / "sub" / "deep", tmp_path / "outside"):
        path = path.with_suffix("." + ENDINGS[kind])
        if kind == "fits":
            path.write_bytes(fits_files.file(fits_files.hdu(np.arange(6, dtype=np.int16).reshape(2, 3), first=True)))
        elif kind == "video":
            path.write_bytes(clip.read_bytes())
        else:
            np.save(path, np.array([len(str(path))]))
    return root


OUTSIDE = [
    "../outside.npy",
    "sub/../../outside.npy",
    "{above}/outside.npy",
    "{above}/top/../outside.npy",
    "http://127.0.0.1:1/x.npy",
    "s3://bucket/x.npy",
    "./../root2/x.npy",
]
INSIDE = ["in.npy", "./in.npy", "sub/../in.npy", "{above}/top/in.npy", "sub/deep.npy", "{above}/top/sub/../in.npy"]


def named(kind, name, tmp_path):
    return name.format(above=tmp_path).replace(".npy", "." + ENDINGS[kind])


def readers_of(kind, root, name, tmp_path, file_root=True, **more):
    at = tmp_path / ("list.json" if kind == "coco" else "list.txt")
    where = {"file_root": str(root)} if file_root else {}
    if kind == "coco":
        at.write_text(
            json.dumps(
                {"images": [{"id": 7, "file_name": name, "width": 4, "height": 4}], "annotations": [], "categories": []}
            )
        )
        return lambda: fn.readers.coco(annotations_file=str(at), **where, **more)[0]
    at.write_text(f"{name} 3\n" if kind in ("file", "video") else f"{name}\n")
    if kind == "file":
        return lambda: fn.readers.file(file_list=str(at), **where, **more)[0]
    if kind == "video":
        return lambda: fn.readers.video(file_list=str(at), sequence_length=1, **where, **more)[0]
    if kind == "fits":
        return lambda: fn.readers.fits(file_list=str(at), hdu_indices=[1], **where, **more)
    return lambda: fn.readers.numpy(file_list=str(at), **where, **more)


@pytest.mark.parametrize("kind", ["coco", "file", "numpy", "fits"])
def test_lists_stay_below_their_root(kind, tree, tmp_path):
    for name in INSIDE:
        assert run(readers_of(kind, tree, named(kind, name, tmp_path), tmp_path), batch_size=1)[0][0].size
    for name in OUTSIDE:
        name = named(kind, name, tmp_path)
        with pytest.raises(ps.DataError, match="allow_outside_root=True reads it") as told:
            run(readers_of(kind, tree, name, tmp_path), batch_size=1)
        text = str(told.value)
        assert name in text and ("image 7" if kind == "coco" else "line 1") in text and str(tmp_path / "list") in text
        assert ("is a URL outside the root" if "://" in name else "is outside file_root") in text
    for name in OUTSIDE[:4]:
        name = named(kind, name, tmp_path)
        assert run(readers_of(kind, tree, name, tmp_path, allow_outside_root=True), batch_size=1)[0][0].size


@pytest.mark.parametrize("kind", ["file", "numpy", "fits", pytest.param("video", marks=video_files.needs_ffmpeg)])
def test_a_text_list_without_a_root_names_any_path_but_no_url(kind, tree, tmp_path):
    for name in OUTSIDE[2:4] + ["top/in.npy", "top/../outside.npy"]:
        name = named(kind, name, tmp_path)
        assert run(readers_of(kind, tree, name, tmp_path, file_root=False), batch_size=1)[0][0].size
    for name in OUTSIDE[4:6]:
        with pytest.raises(ps.DataError, match="is a URL outside the root") as told:
            run(readers_of(kind, tree, named(kind, name, tmp_path), tmp_path, file_root=False), batch_size=1)
        assert "line 1" in str(told.value) and str(tmp_path / "list.txt") in str(told.value)


def test_annotations_without_a_root_stay_below_the_working_folder(tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tree)
    assert run(readers_of("coco", tree, "in.npy", tmp_path, file_root=False), batch_size=1)[0][0].size
    for name in ("../outside.npy", str(tmp_path / "outside.npy")):
        with pytest.raises(ps.DataError, match="allow_outside_root"):
            run(readers_of("coco", tree, name, tmp_path, file_root=False), batch_size=1)


def test_files_that_the_program_names_are_its_own(tree, tmp_path):
    for name in OUTSIDE[:4]:
        assert run(lambda: fn.readers.file(files=[name.format(above=tmp_path)], file_root=str(tree))[0], batch_size=1)[
            0
        ][0].size


# --- kept indexes -------------------------------------------------------------------------------------------------------


def write_tar(path, sizes, mtime=1_000_000):
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for k, size in enumerate(sizes):
            info = tarfile.TarInfo(f"{k}.txt")
            info.size, info.mtime = size, mtime
            archive.addfile(info, io.BytesIO(bytes([97 + k]) * size))
    os.utime(path, (mtime, mtime))


def contents(path, **options):
    return [
        bytes(x) for x in run(lambda: fn.readers.webdataset(paths=str(path), ext=["txt"]), batch_size=3, **options)[0]
    ]


def test_an_archive_in_the_place_of_another_of_the_same_size_and_time(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "a.tar"
    write_tar(path, (600, 3000, 600))
    assert [len(c) for c in contents(path)] == [600, 3000, 600]
    before = path.stat()
    write_tar(tmp_path / "b.tar", (3000, 600, 600))
    path.write_bytes((tmp_path / "b.tar").read_bytes())  # the inode stays
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size and path.stat().st_mtime_ns == before.st_mtime_ns
    assert contents(path) == [b"a" * 3000, b"b" * 600, b"c" * 600]
    os.replace(tmp_path / "b.tar", path)
    write_tar(path, (600, 600, 3000))
    assert contents(path) == [b"a" * 600, b"b" * 600, b"c" * 3000]


def test_each_members_header_is_checked_when_it_is_read(tmp_path, monkeypatch):
    """As on a file system whose inodes and times do not change: the cached index is of another archive."""
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "a.tar"
    write_tar(path, (600, 700, 800, 600))
    pipe = Pipeline(batch_size=1, num_threads=1, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.readers.webdataset(paths=str(path), ext=["txt"]))
    pipe.build()
    stamp = path.stat()
    data = bytearray(path.read_bytes())
    with tarfile.open(path) as archive:
        second = archive.getmembers()[1]
    data[second.offset : second.offset + 5] = b"9.txt"  # another member of the same size, with a header of its own
    head = data[second.offset : second.offset + 512]
    head[148:156] = b" " * 8
    data[second.offset + 148 : second.offset + 156] = b"%06o\0 " % sum(head)
    path.write_bytes(data)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    told = None
    for _ in range(4):
        try:
            pipe.run()
        except ps.DataError as e:
            told = str(e)
            break
    pipe.close()
    assert told and "the file has changed since its index was made" in told and f"byte {second.offset_data}" in told


def test_an_index_file_of_another_archive(tmp_path):
    path, index = tmp_path / "a.tar", tmp_path / "a.idx"
    write_tar(path, (600, 3000, 600))
    with tarfile.open(path) as archive:
        good = [(m.offset_data, m.size) for m in archive.getmembers()]
    for rows, words in (
        (good, None),
        ([(good[0][0], 500), *good[1:]], "its header says 600 bytes, but the index says 500"),
        ([(good[0][0] + 512, 600), *good[1:]], "it has no file header"),
    ):
        index.write_text(f"v1.2 {len(rows)}\n" + "".join(f"txt {o} {s} {k}.txt\n" for k, (o, s) in enumerate(rows)))

        def read():
            return run(
                lambda: fn.readers.webdataset(paths=str(path), index_paths=str(index), ext=["txt"]), batch_size=3
            )

        if words is None:
            assert [len(x) for x in read()[0]] == [600, 3000, 600]
        else:
            with pytest.raises(ps.DataError, match=words):
                read()


def test_a_tfrecord_in_the_place_of_another_of_the_same_size_and_time(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "a.tfrecord"

    def write(sizes):
        container_files.write_tfrecord(path, [container_files.example({"x": [b"v" * n]}) for n in sizes])
        os.utime(path, (1_000_000, 1_000_000))

    def lengths():
        out = run(
            lambda: fn.readers.tfrecord(
                path=str(path), features={"x": ps.tfrecord.FixedLenFeature((), ps.tfrecord.string, "")}
            )["x"],
            batch_size=3,
        )
        return [len(x) for x in out[0]]

    write((60, 100, 30))
    assert lengths() == [60, 100, 30]
    write((100, 30, 60))
    assert lengths() == [100, 30, 60]


# --- folders ------------------------------------------------------------------------------------------------------------


def test_a_cache_below_a_folder_that_others_may_rename_is_not_used(tmp_path):
    code = """
import sys, warnings
import penstock as ps
from penstock import Pipeline, fn
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.readers.webdataset(paths=sys.argv[1], ext=["txt"]))
    pipe.run()
    pipe.close()
print(*(str(w.message) for w in told))
"""
    write_tar(tmp_path / "a.tar", (5, 6))
    shared = tmp_path / "shared"
    shared.mkdir()
    for mode, used in ((0o777, False), (0o1777, True), (0o755, True), (0o775, None)):
        os.chmod(shared, mode)
        cache = shared / f"cache{mode:o}"
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "a.tar")],
            capture_output=True,
            text=True,
            env={**os.environ, "PENSTOCK_CACHE": str(cache)},
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        if used is not None:
            assert bool(list(cache.glob("containers/*"))) == used, mode
            assert (f"{shared} above it others can write to it" in done.stdout) == (not used), done.stdout
