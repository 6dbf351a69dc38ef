# SPDX-License-Identifier: Apache-2.0
"""Entropy indexes in pipelines: made once, used afterwards, and never a change of a pixel."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from penstock import Pipeline, fn, pipeline_def

COUNT, BATCH = 24, 8


def write_jpeg(path, seed, height=203, width=301, **options):
    rng = np.random.default_rng(seed)
    smooth = Image.fromarray(rng.integers(0, 255, (height // 9, width // 9, 3), np.uint8)).resize((width, height))
    pixels = np.asarray(smooth) // 2 + rng.integers(0, 60, (height, width, 3), np.uint8)
    Image.fromarray(pixels).save(path, "JPEG", **{"quality": 90, **options})


@pytest.fixture
def photographs(tmp_path):
    root = tmp_path / "set"
    for i in range(COUNT):
        folder = root / f"class{i % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        write_jpeg(folder / f"{i}.jpg", i, subsampling=i % 3, quality=70 + i)
    return root


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PENSTOCK_ENTROPY_INDEX", raising=False)


@pipeline_def(batch_size=BATCH, num_threads=2, seed=7)
def crops(root):
    images, labels = fn.readers.file(file_root=str(root), random_shuffle=True)
    images = fn.decoders.image_random_crop(images)
    return fn.resize(images, size=(64, 64)), labels


@pipeline_def(batch_size=BATCH, num_threads=2, seed=7)
def evaluation(root):
    images, _ = fn.readers.file(file_root=str(root))
    return fn.resize(fn.decoders.image(images), resize_shorter=80)


@pipeline_def(batch_size=BATCH, num_threads=2, seed=7)
def bytes_used_twice(root):
    images, _ = fn.readers.file(file_root=str(root))
    return fn.decoders.image_random_crop(images), fn.peek_image_shape(images)


def epochs(pipe, n=2):
    """The bytes of n epochs, and how often an index was made, used and stale."""
    got = []
    for _ in range(n * COUNT // BATCH):
        got += [sample.tobytes() for out in pipe.run() for sample in [np.asarray(t) for t in out]]
    stats = pipe.stats()["entropy_index"]
    return got, (stats["made"], stats["used"], stats["stale"])


def run(make, *args, n=2, **options):
    pipe = make(*args, prefetch_queue_depth=1, **options)
    got, counts = epochs(pipe, n)
    note = pipe.stats()["entropy_index"]
    pipe.close()
    return got, counts, note


def index_files(tmp_path):
    return sorted((tmp_path / "cache" / "entropy_index").glob("*.index"))


@pytest.mark.parametrize("make", [crops, evaluation, bytes_used_twice])
def test_first_epoch_makes_and_second_uses(make, photographs, tmp_path):
    plain, counts, stats = run(make, photographs, entropy_index="off")
    assert counts == (0, 0, 0) and stats["path"] == ""
    assert index_files(tmp_path) == []
    auto, (made, used, stale), stats = run(make, photographs, n=2)
    assert auto == plain
    # The reader runs one batch ahead.
    assert made == COUNT and COUNT <= used <= COUNT + BATCH and stale == 0
    assert [str(f) for f in index_files(tmp_path)] == [stats["path"]] and stats["note"] == ""
    again, (made, used, stale), _ = run(make, photographs, entropy_index="read")
    assert again == plain
    assert made == 0 and used >= 2 * COUNT and stale == 0


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("mode", ["simple", "no push-down", "fused"])
def test_bytes_are_the_same_with_any_option(threads, mode, photographs, tmp_path, monkeypatch):
    if mode == "simple":
        monkeypatch.setenv("PENSTOCK_EXEC", "simple")
    elif mode == "no push-down":
        monkeypatch.setenv("PENSTOCK_PUSH_DOWN", "0")
    plain, _, _ = run(crops, photographs, entropy_index="off", num_threads=threads)
    for option in ["read", "auto", "auto", "read", str(tmp_path / "own.index"), tmp_path / "own.index"]:
        got, (made, used, stale), _ = run(crops, photographs, entropy_index=option, num_threads=threads)
        assert got == plain, option
        assert stale == 0
    assert made == 0 and used >= 2 * COUNT
    assert (tmp_path / "own.index").stat().st_size < 64 * 1024


def test_a_changed_file_is_decoded_without(photographs):
    before, _, _ = run(crops, photographs)
    changed = sorted(photographs.glob("*/*.jpg"))[4]
    stat = changed.stat()
    content = bytearray(changed.read_bytes())
    at = len(content) * 2 // 3  # of the same size and time; another value of a coefficient
    content[at] ^= 0x10
    changed.write_bytes(content)
    os.utime(changed, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    plain, _, _ = run(crops, photographs, entropy_index="off")
    got, (made, used, stale), _ = run(crops, photographs, entropy_index="read")
    assert got == plain and stale >= 2
    got, (made, used, stale), _ = run(crops, photographs)
    assert got == plain and stale >= 1
    renamed = changed.with_name("zzz.jpg")
    changed.rename(renamed)
    plain, _, _ = run(crops, photographs, entropy_index="off")
    got, _, _ = run(crops, photographs)
    assert got == plain


def test_a_damaged_index_changes_nothing(photographs, tmp_path):
    plain, _, _ = run(crops, photographs)
    (index,) = index_files(tmp_path)
    good = index.read_bytes()
    for at in range(70, len(good), len(good) // 15):
        index.write_bytes(good[:at] + bytes([good[at] ^ 0x40]) + good[at + 1 :])
        got, _, _ = run(crops, photographs, entropy_index="read")
        assert got == plain
    index.write_bytes(good[: len(good) // 2])
    got, (made, used, _), _ = run(crops, photographs)
    assert got == plain and made > 0


def test_an_index_of_the_folder_above_serves(photographs, tmp_path):
    index = run(crops, photographs)[2]["path"]

    @pipeline_def(batch_size=2, num_threads=1)
    def one_class():
        files = sorted(str(p) for p in (photographs / "class1").glob("*.jpg"))
        images, _ = fn.readers.file(files=files)
        return fn.decoders.image_random_crop(images)

    pipe = one_class()
    pipe.run()
    assert pipe.stats()["entropy_index"]["path"] == index
    assert pipe.stats()["entropy_index"]["used"] >= 2


def test_what_cannot_be_kept_is_said_once_and_costs_nothing(photographs, tmp_path):
    plain, _, _ = run(crops, photographs, entropy_index="off")
    (tmp_path / "cache").write_text("no folder")
    script = f"""
import sys
sys.path[:0] = {[os.path.dirname(__file__)]!r}
from test_entropy_index import crops, run
got, counts, _ = run(crops, {str(photographs)!r}, n=2)
assert counts[0] == {COUNT} and counts[1] >= {COUNT}, counts  # kept in memory
print(len(got))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PENSTOCK_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("entropy indexes are not kept") == 1
    got, _, _ = run(crops, photographs, entropy_index="read")
    assert got == plain


def test_the_option(photographs, tmp_path, monkeypatch):
    for wrong in ["atuo", "on", "cache"]:
        with pytest.raises(ValueError, match="entropy_index must be"):
            run(crops, photographs, entropy_index=wrong)
    with pytest.raises(ValueError, match="does not exist"):
        run(crops, photographs, entropy_index=tmp_path / "none" / "x.index")
    monkeypatch.setenv("PENSTOCK_ENTROPY_INDEX", "off")
    assert run(crops, photographs)[1] == (0, 0, 0)
    assert run(crops, photographs, entropy_index="auto")[1][0] == COUNT
    monkeypatch.setenv("PENSTOCK_ENTROPY_INDEX", str(tmp_path / "beside.index"))
    assert run(crops, photographs)[2]["path"] == str(tmp_path / "beside.index")
    monkeypatch.setenv("PENSTOCK_ENTROPY_INDEX", "nonsense")
    with pytest.raises(ValueError, match="entropy_index must be"):
        run(crops, photographs)
    monkeypatch.setenv("PENSTOCK_ENTROPY_INDEX_LIMIT", "many")
    with pytest.raises(ValueError, match="PENSTOCK_ENTROPY_INDEX_LIMIT"):
        run(crops, photographs, entropy_index="auto")


def test_a_saved_pipeline_keeps_the_option_and_uses_no_path_of_it(photographs, tmp_path):
    pipe = crops(photographs, entropy_index=str(tmp_path / "own.index"))
    saved = pipe.serialize()
    assert json.loads(saved)["entropy_index"] == str(tmp_path / "own.index")
    pipe.close()
    back = Pipeline.deserialize(saved)
    for _ in range(COUNT // BATCH):
        back.run()
    assert back.stats()["entropy_index"]["path"] != str(tmp_path / "own.index")
    back.close()
    back = Pipeline.deserialize(saved, entropy_index=str(tmp_path / "own.index"))
    for _ in range(COUNT // BATCH):
        back.run()
    assert back.stats()["entropy_index"]["path"] == str(tmp_path / "own.index")
    back.close()
    old = json.loads(saved)
    del old["entropy_index"]  # of a version that knew none
    assert Pipeline.deserialize(json.dumps(old).encode()).definition.options["entropy_index"] == ""


def test_a_data_set_may_move_with_its_index(photographs, tmp_path):
    plain, _, _ = run(crops, photographs, entropy_index=photographs)  # a folder: penstock.index in it
    assert (photographs / "penstock.index").exists()
    moved = tmp_path / "moved"
    photographs.rename(moved)
    got, (made, used, stale), _ = run(crops, moved, entropy_index=moved)
    assert got == plain
    assert made == 0 and stale == 0 and used >= 2 * COUNT


def test_bytes_without_a_record_and_calls_have_no_index(photographs, tmp_path):
    files = [np.fromfile(p, np.uint8) for p in sorted(photographs.glob("*/*.jpg"))]

    @pipeline_def(batch_size=BATCH, num_threads=2)
    def external():
        return fn.decoders.image_random_crop(fn.external_source(lambda: files[:BATCH]))

    pipe = external()
    for _ in range(3):
        pipe.run()
    stats = pipe.stats()["entropy_index"]
    assert (stats["made"], stats["used"], stats["path"]) == (0, 0, "")
    fn.decoders.image(files[0])
    assert index_files(tmp_path) == []
