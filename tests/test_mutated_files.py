# SPDX-License-Identifier: Apache-2.0
"""Damaged files of every kind with as many threads as users have, in separate processes; and the sweep's own reports."""

import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
import video_files
from conftest import EXAMPLES

sys.path.append(str(pathlib.Path(__file__).parent / "mutated_files"))
import attempts  # noqa: E402
import sweep  # noqa: E402
import videos  # noqa: E402

SHORT = ("mpeg4", "mpeg4_b", "xvid", "h264", "h264_slices", "hevc", "vp9", "av1", "mpeg2", "mjpeg")
COUNTS = {"pictures": 900, "sounds": 500, "containers": 250}


@pytest.mark.parametrize("group", COUNTS)
def test_damage_does_not_end_the_process(tmp_path, group):
    sweep.make(tmp_path, group)
    counts, wrong, _ = sweep.sweep(tmp_path, group, sweep.kinds_in(tmp_path, group), max(COUNTS[group], 20 * EXAMPLES))
    assert not wrong
    assert min(sweep.total(counts)[what] for what in attempts.FINE) > 20


@video_files.needs_ffmpeg
def test_damaged_videos_do_not_end_the_process(tmp_path):
    kinds = tuple(videos.CLIPS) if EXAMPLES else SHORT
    sweep.make(tmp_path, "videos", kinds=kinds)
    counts, wrong, _ = sweep.sweep(tmp_path, "videos", kinds, max(160, 20 * EXAMPLES))
    assert not wrong
    assert min(sweep.total(counts)[what] for what in attempts.FINE) > 5


STAND_IN = """
import os, sys, time
first, end, step = map(int, sys.argv[-3:])
for n in range(first, end, step):
    print('try', n, flush=True)
    if n == 3: os.abort()
    if n == 6: time.sleep(60)
    while n == 7: pass
    print('got', n, 'KeyError: x' if n == 4 else 'decoded', flush=True)
"""


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """For the worker: it dies at one number, waits at another, computes at a third and has a wrong error at a fourth."""
    (tmp_path / "worker.py").write_text(STAND_IN)
    monkeypatch.setattr(sweep, "__file__", str(tmp_path / "worker.py"))
    monkeypatch.setattr(sweep, "LONGEST", 0.5)
    monkeypatch.setattr(sweep, "WAITING", 1)
    return tmp_path


def test_the_sweep_sees_processes_that_die_and_hang(stand_in):
    counts, wrong, _ = sweep.sweep(stand_in, "videos", ["mpeg4", "h264"], 9, workers=2)
    assert sorted(wrong) == [
        (3, "h264", "skipping", "the process died: SIGABRT"),
        (4, "mpeg4", "reader", "KeyError: x"),
        (6, "mpeg4", "reader_skip", "more than 0.5 s"),
        (7, "h264", "reader_skip", "more than 0.5 s"),
    ]
    assert counts == {"mpeg4": {"decoded": 3, "wrong": 2}, "h264": {"decoded": 2, "wrong": 2}}


def test_the_sweep_ends_at_its_limit(stand_in):
    for seconds in (1, 5, 25):  # in which a worker has to start
        counts, wrong, _ = sweep.sweep(stand_in, "videos", ["mpeg4"], 1000000, first=8, seconds=seconds)
        assert not wrong and sum(sweep.total(counts).values()) < 1000000
        if sum(sweep.total(counts).values()) > 10:
            return
    raise AssertionError("nothing was tried")


def test_a_folder_of_whole_files_is_all_that_the_command_needs(tmp_path):
    """The files are made once; a number gives the same damage again, and what is wrong is kept, listed and the exit status 1."""
    command = [sys.executable, str(pathlib.Path(sweep.__file__))]
    subprocess.run([*command, "--make", tmp_path / "whole", "--kinds", "containers"], check=True)
    (tmp_path / "whole/containers/npy_fits.npy").write_bytes((tmp_path / "whole/containers/fits.fits").read_bytes())
    run = [*command, "40", "--folder", tmp_path / "whole", "--workers", "2", "--kinds"]
    good = subprocess.run([*run, "containers/fits", "containers/npy"], capture_output=True, text=True)
    assert good.returncode == 0, good.stdout + good.stderr
    assert "containers: 40 of 40 damaged files from 0, 2 kinds, 2 workers" in good.stdout and ", 0 wrong" in good.stdout
    bad = subprocess.run([*run, "containers/npy_fits", "--keep", tmp_path / "kept"], capture_output=True, text=True)
    assert bad.returncode == 1 and "WRONG containers 1 npy_fits reader_skip: Wrong: no sample at all" in bad.stdout
    whole = np.fromfile(tmp_path / "whole/containers/npy_fits.npy", np.uint8)
    np.testing.assert_array_equal(
        np.fromfile(tmp_path / "kept/containers_1_npy_fits.npy", np.uint8), attempts.mutated(whole, 1)
    )
    unknown = subprocess.run([*run, "containers/tiff"], capture_output=True, text=True)
    assert unknown.returncode == 1 and "no such kinds: containers/tiff" in unknown.stderr


def test_checksums_are_made_right():
    """The file's checksums no longer stop the damage."""
    import audio_files

    chunk = b"IHDR" + bytes(13)
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + bytes(4)
    assert attempts.with_checksums(np.frombuffer(png, np.uint8)).tobytes()[-4:] == struct.pack(">I", zlib.crc32(chunk))
    ogg = audio_files.with_last_granule(audio_files.recorded(audio_files.STEREO, "OGG", "VORBIS"), 77)
    zeroed = bytearray(ogg)
    for at in (k for k in range(len(ogg)) if ogg[k : k + 4] == b"OggS"):
        zeroed[at + 22 : at + 26] = bytes(4)
    assert attempts.with_checksums(np.frombuffer(bytes(zeroed), np.uint8)).tobytes() == ogg
