# SPDX-License-Identifier: Apache-2.0
"""penstock index, verify, transcode, info and triton, as a user runs them."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from penstock import _commands as commands, _core, fn, pipeline_def
from test_entropy_index import write_jpeg


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PENSTOCK_ENTROPY_INDEX", raising=False)


@pytest.fixture
def photographs(tmp_path):
    root = tmp_path / "set"
    for i in range(12):
        folder = root / "train" / f"class{i % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        write_jpeg(folder / f"{i}.jpg", i, progressive=i % 4 == 3)
    return root


def run(capfd, *arguments):
    code = commands.main([str(a) for a in arguments])
    out, err = capfd.readouterr()
    return code, out, err


def test_an_index_made_ahead_serves_the_first_epoch(photographs, tmp_path, capfd):
    code, out, _ = run(capfd, "index", photographs, "--threads", 2)
    assert code == 0 and out.startswith("9 made, 0 there already, 3 without (small or not baseline JPEG), 0 failed; ")
    (path,) = (tmp_path / "cache" / "entropy_index").glob("*.index")
    assert str(path) in out
    code, out, _ = run(capfd, "index", photographs)
    assert out.startswith("0 made, 9 there already, 3 without")
    os.utime(sorted(photographs.glob("train/*/*.jpg"))[0])  # another time, the same bytes
    assert run(capfd, "index", photographs)[1].startswith("0 made, 9 there already")

    @pipeline_def(batch_size=4, num_threads=2, seed=3)
    def crops(folder):
        images, _ = fn.readers.file(file_root=str(folder))
        return fn.decoders.image_random_crop(images)

    pipe = crops(photographs / "train", entropy_index="read", prefetch_queue_depth=1)
    plain = crops(photographs / "train", entropy_index="off")
    for _ in range(3):
        for a, b in zip(pipe.run()[0], plain.run()[0]):
            assert np.array_equal(np.asarray(a), np.asarray(b))
    stats = pipe.stats()["entropy_index"]
    assert stats["used"] >= 9 and stats["stale"] == 0 and stats["path"] == str(path)


def test_an_index_beside_the_data(photographs, tmp_path, capfd):
    code, out, _ = run(capfd, "index", photographs, "--out", photographs, "--step", 4)
    assert code == 0 and (photographs / "penstock.index").exists()
    assert not (tmp_path / "cache").exists()
    fine = (photographs / "penstock.index").stat().st_size
    run(capfd, "index", photographs, "--out", tmp_path / "coarse.index", "--step", 1000)
    assert (tmp_path / "coarse.index").stat().st_size < fine
    code, _, err = run(capfd, "index", photographs, "--step", 0)
    assert code == 2 and "the step must be" in err
    code, _, err = run(capfd, "index", photographs, "--out", tmp_path / "none" / "x.index")
    assert code == 2 and "does not exist" in err


def test_links_are_followed_but_not_in_circles(photographs, capfd):
    (photographs / "train" / "loop").symlink_to(photographs)
    assert "12 files, 0 with" in run(capfd, "verify", photographs)[2]
    (photographs / "other_name").symlink_to(photographs / "train" / "class1")
    assert "16 files, 0 with" in run(capfd, "verify", photographs)[2]


def test_a_file_that_is_none_is_named_and_the_others_are_made(photographs, capfd):
    (photographs / "bad.jpg").write_bytes(b"no picture at all, and some more bytes")
    code, out, err = run(capfd, "index", photographs)
    assert code == 1 and "9 made" in out and "1 failed" in out
    assert "bad.jpg: not an image in a supported format" in err


def test_verify_names_what_is_wrong(photographs, capfd):
    code, out, err = run(capfd, "verify", photographs)
    assert (code, out) == (0, "") and "12 files, 0 with something wrong" in err
    good = sorted(photographs.glob("train/*/*.jpg"))[0].read_bytes()
    wrong = {
        "cut.jpg": (good[: len(good) // 2], "truncated: the data ends at row"),
        "end.jpg": (good[:-2], "no end: the end marker is missing"),
        "more.jpg": (good + b"12345", "trailing: 5 bytes after the end marker"),
        "name.png": (good, "extension: the name says png, but the bytes are jpeg"),
        "header.jpg": (good[:100], "truncated: "),
        "text.jpg": (b"hello", "format: not an image in a supported format"),
        "empty.jpg": (b"", "unreadable: the file is empty"),
    }
    for name, (content, _) in wrong.items():
        (photographs / name).write_bytes(content)
    code, out, err = run(capfd, "verify", photographs, "--threads", 2)
    assert code == 1 and f"{12 + len(wrong)} files, {len(wrong)} with something wrong" in err
    for name, (_, said) in wrong.items():
        assert f"{photographs / name}: {said}" in out
    assert "too large: 203 x 301 pixels" in run(capfd, "verify", photographs, "--max-pixels", 60000)[1]
    code, out, _ = run(capfd, "verify", photographs / "none.jpg")
    assert code == 1 and "unreadable: cannot open the file" in out


def test_transcode_keeps_every_pixel(photographs, tmp_path, capfd):
    source = sorted(photographs.glob("train/*/3.jpg"))[0]
    with_markers = Image.open(source)
    exif = Image.Exif()
    exif[0x0112] = 6
    with_markers.save(
        source, progressive=True, quality=85, exif=exif, icc_profile=b"a profile of some bytes", comment=b"said"
    )
    (photographs / "other.png").write_bytes(b"\x89PNG any bytes are copied")
    copy = tmp_path / "copy"
    code, out, err = run(capfd, "transcode", "--baseline", photographs, copy)
    assert (code, out) == (0, "13 files, 3 transcoded, 0 failed\n"), err
    for old in photographs.glob("train/*/*.jpg"):
        new = copy / old.relative_to(photographs)
        a, b = Image.open(old), Image.open(new)
        assert np.array_equal(np.asarray(a), np.asarray(b))
        assert not b.info.get("progressive")
        if not a.info.get("progressive"):
            assert old.read_bytes() == new.read_bytes()
    new = Image.open(copy / source.relative_to(photographs))
    assert new.getexif()[0x0112] == 6 and new.info["icc_profile"] == b"a profile of some bytes"
    assert new.info["comment"] == b"said" and new.info["jfif_version"] == (1, 1)
    assert (copy / "other.png").read_bytes() == (photographs / "other.png").read_bytes()

    os.chmod(source, 0o640)
    pixels = np.asarray(Image.open(source))
    code, out, _ = run(capfd, "transcode", "--baseline", source, source)  # in place
    assert code == 0 and "1 transcoded" in out
    assert np.array_equal(np.asarray(Image.open(source)), pixels)
    assert stat.S_IMODE(source.stat().st_mode) == 0o640
    again = source.read_bytes()
    assert "0 transcoded" in run(capfd, "transcode", "--baseline", source, source)[1]
    assert source.read_bytes() == again


def test_transcode_leaves_damaged_files_alone(photographs, tmp_path, capfd):
    source = sorted(photographs.glob("train/*/3.jpg"))[0]
    cut = source.read_bytes()[:-500]
    source.write_bytes(cut)
    code, out, err = run(capfd, "transcode", "--baseline", photographs, photographs)
    assert code == 1 and "2 transcoded, 1 failed" in out
    assert str(source) in err and source.read_bytes() == cut
    assert not [p for p in source.parent.iterdir() if not p.name.endswith(".jpg")]
    assert run(capfd, "transcode", "--baseline", tmp_path / "none.jpg", tmp_path / "x.jpg")[0] == 1


def test_python_m_penstock(photographs):
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "verify", str(photographs)], capture_output=True, text=True
    )
    assert done.returncode == 0 and "12 files" in done.stderr
    done = subprocess.run([sys.executable, "-m", "penstock", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "invalid choice" in done.stderr
    with pytest.raises(SystemExit):
        commands.main(["transcode", "a", "b"])  # --baseline is required


def test_info_says_what_is_there(capfd):
    code, out, _ = run(capfd, "info")
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("penstock ") and lines[-1].startswith("compiler of kernels: ")
    gpus = [line for line in lines if line.startswith("GPU ")]
    assert len(gpus) == _core.gpu_count()
    assert bool(gpus) != any(line.startswith("no GPU: ") and len(line) > 10 for line in lines)


def test_info_says_why_there_is_no_gpu(tmp_path):
    missing, foreign = str(tmp_path / "missing.so"), _core.__file__
    for library, why in (
        (missing, "the CUDA part of Penstock was not found: " + missing),
        (foreign, foreign + " is not the CUDA part of Penstock"),
    ):
        code = "import penstock._commands as c, penstock._core as _core\nc.main(['info'])\nprint(_core.gpu_direct_storage())"
        out = subprocess.run(
            [sys.executable, "-c", code + "\n_core.gpu_name(0)"],
            capture_output=True,
            text=True,
            env={**os.environ, "PENSTOCK_GPU_LIBRARY": library},
        )
        assert f"no GPU: {why}" in out.stdout and f"compiler of kernels: {why}" in out.stdout, out
        assert f"none: {why}" in out.stdout and out.stderr.splitlines()[-1].count(f"no GPU can be used: {why}"), out


def test_triton_installs_the_backend(tmp_path, capfd):
    """The backend loads Penstock's library from its own folder, and a Python that has Penstock is noted."""
    for _ in range(2):  # a second time over the first
        code, out, _ = run(capfd, "triton", "--install", tmp_path / "backends")
        assert code == 0 and f"--backend-directory={tmp_path / 'backends'}" in out
    folder = tmp_path / "backends" / "penstock"
    (library,) = folder.glob("libpenstock.so.*")
    assert {"libtriton_penstock.so", "python"} <= {file.name for file in folder.iterdir()}
    assert (folder / "python").read_text() == sys.executable + "\n"
    needed = subprocess.run(["ldd", folder / "libtriton_penstock.so"], capture_output=True, text=True).stdout
    assert f"{library.name} => {library}" in needed
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", folder / "libtriton_penstock.so"], capture_output=True, text=True
    )
    names = {line.split()[-1] for line in exported.stdout.splitlines() if " T " in line}
    assert names == {
        f"TRITONBACKEND_{name}"
        for name in (
            "Initialize",
            "ModelInitialize",
            "ModelFinalize",
            "ModelInstanceInitialize",
            "ModelInstanceFinalize",
            "ModelInstanceExecute",
        )
    }
