# SPDX-License-Identifier: Apache-2.0
"""readers.video and experimental.readers.video: sequences against FFmpeg's own command and DALI's reader on the CPU."""

import functools
import pathlib
import tempfile

import numpy as np
import pytest
import video_files
from video_files import decode, ffmpeg, numbers

import penstock
from penstock import Pipeline, fn, pipeline_def, types

pytestmark = video_files.needs_ffmpeg
FOLDER = tempfile.TemporaryDirectory()
KINDS = ["h264", "hevc_open_gop", "vp9_vfr", "mpeg4_b_avi", "h264_b_avi", "mjpeg"]


@functools.lru_cache(maxsize=None)
def video(kind):
    path = video_files.make(pathlib.Path(FOLDER.name), kind)
    return str(path), decode(path)


def read(operator, batch_size=1, batches=None, threads=2, **arguments):
    """What the reader gives, sample by sample, each a tuple of its outputs; of one epoch."""

    @pipeline_def(batch_size=batch_size, num_threads=threads, seed=5)
    def pipeline():
        out = operator(name="reader", **arguments)
        return tuple(out) if isinstance(out, (list, tuple)) else out

    pipe = pipeline()
    size = pipe.reader_meta("reader")["epoch_size"]
    rows = []
    for _ in range(batches or -(-size // batch_size)):
        outputs = [[np.array(sample) for sample in out] for out in pipe.run()]
        rows += list(zip(*outputs))
    return rows if batches else rows[:size]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch_size", [1, 5])
def test_sequences_in_order(kind, batch_size):
    path, frames = video(kind)
    rows = read(fn.readers.video, batch_size, filenames=[path], sequence_length=4, step=3, stride=2)
    assert len(rows) == len(range(0, 40 - 6, 3))
    for k, (got,) in enumerate(rows):
        np.testing.assert_array_equal(got, frames[3 * k : 3 * k + 7 : 2])


def test_shuffled_sequences_of_many_files():
    paths = [video(kind)[0] for kind in KINDS]
    rows = read(
        fn.readers.video,
        7,
        filenames=paths,
        labels=[],
        sequence_length=3,
        step=2,
        random_shuffle=True,
        threads=3,
        enable_frame_num="sequence",
    )
    seen = set()
    for got, label, numbered in rows:
        kind = KINDS[int(label[0])]
        np.testing.assert_array_equal(got, video(kind)[1][numbered])
        assert list(numbers(got)) == list(numbered)
        seen.add((kind, int(numbered[0])))
    assert seen == {(kind, first) for kind in KINDS for first in range(0, 38, 2)}


def test_what_is_requested_beside_frames():
    path, frames = video("vp9_vfr")
    rows = read(
        fn.readers.video,
        4,
        filenames=[path],
        labels=[7],
        sequence_length=16,
        enable_frame_num=True,
        enable_timestamps=True,
        pad_sequences=True,
        dtype=types.FLOAT,
        normalized=True,
    )
    times = [(40 * n + 55 * (n // 3)) // 40 * 0.04 for n in range(40)]
    assert [row[2].tolist() for row in rows] == [[0], [16], [32]]
    for k, (got, label, first, seconds) in enumerate(rows):
        count = min(16, 40 - 16 * k)
        assert got.dtype == np.float32 and label.tolist() == [7]
        np.testing.assert_array_equal(
            got[:count], frames[16 * k : 16 * k + count].astype(np.float32) * np.float32(1 / 255)
        )
        assert not got[count:].any() and (seconds[count:] == -1).all()
        assert (np.diff(seconds[:count]) > 0).all()
        np.testing.assert_allclose(seconds[:count], times[16 * k : 16 * k + count], atol=0.041)


def test_ycbcr_is_the_streams():
    path, _ = video("h264")
    raw = ffmpeg("-i", path, "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv444p", "-")
    want = np.frombuffer(raw, np.uint8).reshape(40, 3, video_files.HEIGHT, video_files.WIDTH).transpose(0, 2, 3, 1)
    ((got,),) = read(fn.readers.video, filenames=[path], sequence_length=40, image_type=types.YCbCr)
    np.testing.assert_array_equal(got, want)


LISTS = [
    ("5 9", "frames"),
    ("-5 -1", "frames"),
    ("-5 40", "frames"),
    ("5.4 9.6", "frames"),
    ("38 40", "frames"),
    ("0.21 0.41", "timestamps"),
    ("0.2 0.4", "timestamps"),
    ("0.19 0.22", "timestamps"),
    ("0.095 0.27", "timestamps"),
    ("", "timestamps"),
]


@pytest.mark.parametrize("rounding", ["start_down_end_up", "start_up_end_down", "all_up", "all_down"])
def test_ranges_of_lists_are_dalis(oracle, tmp_path, rounding):
    for kind in ("vp9", "vp9_vfr"):
        for text, unit in LISTS:
            (tmp_path / "list.txt").write_text(f"{video(kind)[0]} 3 {text}\n")
            arguments = {
                "file_list": str(tmp_path / "list.txt"),
                "sequence_length": 1,
                "enable_frame_num": "sequence",
                "file_list_format": unit,
                "file_list_rounding": rounding,
            }
            try:
                want = oracle.call("experimental.readers.video", [], batch_size=12, device="cpu", **arguments)
            except Exception as error:  # an empty range
                assert "number of input samples: 0" in str(error) and "timestamps" == unit
                with pytest.raises(penstock.DataError, match="no video is long enough"):
                    read(fn.experimental.readers.video, **arguments)
                continue
            rows = read(fn.experimental.readers.video, 12, batches=1, **arguments)
            for k, (got, label, numbered) in enumerate(rows):
                np.testing.assert_array_equal(got, want[0][k], err_msg=str(arguments))
                assert label.tolist() == np.asarray(want[1][k]).tolist() == [3]
                assert numbered.tolist() == np.asarray(want[2][k]).tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"sequence_length": 15},
        {"sequence_length": 15, "pad_mode": "constant", "fill_value": [9, 8, 7]},
        {"sequence_length": 15, "pad_mode": "edge"},
        {"sequence_length": 6, "stride": 3, "step": 5, "pad_mode": "reflect_101"},
        {"sequence_length": 6, "stride": 3, "pad_mode": "reflect_1001"},
        {"sequence_length": 7, "uniform_sample": True},
        {"sequence_length": 50, "uniform_sample": True},
    ],
)
def test_sequences_are_dalis(oracle, options):
    path = video("vp9")[0]
    arguments = {
        "filenames": [path],
        "labels": [4],
        "enable_frame_num": "sequence",
        "enable_timestamps": True,
        **options,
    }
    rows = read(fn.experimental.readers.video, 3, batches=1, **arguments)
    want = oracle.call("experimental.readers.video", [], batch_size=3, device="cpu", **arguments)
    for k, row in enumerate(rows):
        for got, there in zip(row, want, strict=True):
            np.testing.assert_array_equal(got, there[k])


def test_folders_and_lists(tmp_path):
    for folder, kind in (("b", "h264"), ("a", "vp9_vfr")):
        (tmp_path / folder).mkdir()
        path = pathlib.Path(video(kind)[0])
        (tmp_path / folder / f"clip 1{path.suffix}").write_bytes(path.read_bytes())
        (tmp_path / folder / "notes.txt").write_text("no video")
    rows = read(fn.readers.video, file_root=str(tmp_path), sequence_length=20)
    assert [int(row[1][0]) for row in rows] == [0, 0, 1, 1]
    np.testing.assert_array_equal(rows[3][0], video("h264")[1][20:])
    (tmp_path / "list.txt").write_text("b/clip 1.mp4 5 10 14\n\na/clip 1.webm 6\n")
    rows = read(
        fn.readers.video, file_list=str(tmp_path / "list.txt"), file_list_frame_num=True, sequence_length=4, step=18
    )
    assert [int(row[1][0]) for row in rows] == [5, 6, 6, 6]
    np.testing.assert_array_equal(rows[0][0], video("h264")[1][10:14])


def test_shards_and_checkpoints():
    paths = [video(kind)[0] for kind in KINDS[:3]]

    def make(shard, shards, checkpoint=None):
        @pipeline_def(batch_size=3, num_threads=2, seed=5, enable_checkpointing=True, checkpoint=checkpoint)
        def pipeline():
            frames, label, first = fn.readers.video(
                filenames=paths,
                labels=[],
                sequence_length=4,
                random_shuffle=True,
                shard_id=shard,
                num_shards=shards,
                enable_frame_num="scalar",
                name="reader",
            )
            return label, first, fn.crop(frames, crop=(16, 96), crop_pos_y=0.0)

        return pipeline()

    def ids(outputs):
        labels, firsts, _ = ([np.array(x) for x in out] for out in outputs)
        for first, rows in zip(firsts, outputs[2]):
            assert list(numbers(np.array(rows))) == list(range(first[0], first[0] + 4))
        return [(int(a[0]), int(b[0])) for a, b in zip(labels, firsts)]

    whole = [sample for shard in range(2) for pipe in [make(shard, 2)] for _ in range(5) for sample in ids(pipe.run())]
    assert sorted(whole) == [(k, first) for k in range(3) for first in range(0, 40, 4)]
    pipe = make(0, 1)
    for _ in range(3):
        pipe.run()
    saved = pipe.checkpoint()
    want = [ids(pipe.run()) for _ in range(4)]
    again = make(0, 1, saved)
    assert [ids(again.run()) for _ in range(4)] == want


def test_a_damaged_file_is_named_and_may_be_replaced(tmp_path):
    path, frames = video("h264")
    bad = bytearray(pathlib.Path(path).read_bytes())
    at = bad.index(b"mdat") + 3000
    for k in range(0, 1500, 7):  # in the pictures' data, which are read when the pipeline is made but not decoded
        bad[at + k] ^= 0x55
    (tmp_path / "bad.mp4").write_bytes(bad)
    files = [str(tmp_path / "bad.mp4"), path]
    with pytest.raises(penstock.DataError, match=r"(?s)\[readers.video\].*frame \d+ of 40 cannot be decoded.*bad.mp4"):
        read(fn.readers.video, 5, filenames=files, sequence_length=4)

    pipe = Pipeline(batch_size=5, num_threads=2, on_error="replace")
    with pipe:
        out, label, first = fn.readers.video(
            filenames=files, labels=[], sequence_length=4, enable_frame_num="scalar", name="reader"
        )
        pipe.set_outputs(out, label, first)
    for _ in range(4):
        out, label, first = pipe.run()
        for k in range(5):
            if np.array(label[k])[0] == 1:
                start = int(np.array(first[k])[0])
                np.testing.assert_array_equal(np.array(out[k]), frames[start : start + 4])


def test_files_that_are_wrong(tmp_path):
    good = video("h264")[0]
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "text.mp4").write_text("no video at all\n" * 50)
    with pytest.raises(FileNotFoundError, match=r"readers.video.*nothing.mp4"):
        read(fn.readers.video, filenames=[good, str(tmp_path / "nothing.mp4")], sequence_length=4)
    for name, message in (("empty.mp4", "is empty"), ("text.mp4", "not a video")):
        with pytest.raises(penstock.DataError, match=rf"(?s)\[readers.video\].*{message}.*{name}"):
            read(fn.readers.video, filenames=[good, str(tmp_path / name)], sequence_length=4)
    for text in ("a.mp4\n", "a.mp4 x\n", "a.mp4 1.5\n", "\n"):
        (tmp_path / "list.txt").write_text(text)
        with pytest.raises(penstock.DataError, match="list.txt"):
            read(fn.readers.video, file_list=str(tmp_path / "list.txt"), sequence_length=4)


def test_a_file_that_shrinks_is_an_error(tmp_path):
    path = video_files.encode(tmp_path / "a.mkv", "mpeg4", "-g", 5, "-q:v", 1, size=(320, 240))
    frames = decode(path)

    @pipeline_def(batch_size=1, num_threads=1, prefetch_queue_depth=1)
    def pipeline():
        return fn.readers.video(filenames=[str(path)], labels=[], sequence_length=4, enable_frame_num="sequence")

    pipe = pipeline()
    with open(path, "r+b") as file:
        file.truncate(100_000)
    with pytest.raises(penstock.DataError, match="a.mkv"):
        for _ in range(10):
            got, _, numbered = (np.array(out[0]) for out in pipe.run())
            np.testing.assert_array_equal(got, frames[numbered])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"sequence_length": 0}, "sequence_length"),
        ({"step": 0}, "step"),
        ({"stride": 0}, "stride"),
        ({"labels": [1, 2]}, "2 labels for 1"),
        ({"file_root": "x"}, "exactly one"),
        ({"enable_frame_num": "all"}, "enable_frame_num"),
        ({"image_type": 2}, "image_type"),
        ({"channels": 1}, "3 channels"),
        ({"dtype": types.INT16}, "uint8 or float32"),
        ({"normalized": True}, "float32"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read(fn.readers.video, **{"filenames": [video("h264")[0]], "sequence_length": 2, **arguments})


def test_a_video_that_is_too_short():
    with pytest.raises(penstock.DataError, match="no video is long enough"):
        read(fn.readers.video, filenames=[video("h264")[0]], sequence_length=41)


@pytest.mark.parametrize("kind", ["h264", "h264_b_avi", "vp9_vfr"])
def test_indexes_are_kept(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    path = video_files.make(tmp_path, kind)
    frames = decode(path)

    def reads():
        rows = read(
            fn.readers.video,
            4,
            filenames=[str(path)],
            sequence_length=3,
            random_shuffle=True,
            enable_frame_num="sequence",
        )
        assert len(rows) == 13
        for got, numbered in rows:
            np.testing.assert_array_equal(got, frames[numbered])
        (kept,) = (tmp_path / "cache" / "containers").glob("*.video")
        return kept

    kept = reads()
    whole, made = kept.read_bytes(), kept.stat().st_ino
    assert reads().stat().st_ino == made  # one that does not fit is written anew
    for damaged in (
        b"",
        whole[:-1],
        whole[:40],
        *(
            whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]
            for at in (0, 9, 18, 26, 33, 65, len(whole) // 2, len(whole) - 1)
        ),
    ):
        kept.write_bytes(damaged)
        assert reads().read_bytes() == whole
    other = tmp_path / "other"
    other.mkdir()
    path.write_bytes(video_files.make(other, kind, count=41).read_bytes())  # another file of the same name
    frames = decode(path)
    assert reads().read_bytes() != whole


def crc32c(data):
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


def test_a_wrong_index_with_a_right_sum_crashes_nothing(tmp_path, monkeypatch):
    """Whoever may write into the user's cache folder may give other frames, or an error."""
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    path = str(video_files.make(tmp_path, "h264"))

    def reads():
        return read(fn.readers.video, 4, filenames=[path], sequence_length=8, step=16, random_shuffle=True)

    assert len(reads()) == 3
    (kept,) = (tmp_path / "cache" / "containers").glob("*.video")
    whole, head = kept.read_bytes(), 112
    assert crc32c(whole[:-4]) == int.from_bytes(whole[-4:], "little") and (len(whole) - head - 4) % 48 == 0
    random, taken = np.random.default_rng(5), 0
    for _ in range(60):
        numbers_ = np.frombuffer(whole[head:-4], np.int64).reshape(-1, 6).copy()
        row, column = random.integers(len(numbers_)), random.integers(6)
        if random.random() < 0.3:
            numbers_[[row, random.integers(len(numbers_))]] = numbers_[[random.integers(len(numbers_)), row]]
        else:
            numbers_[row, column] = random.choice([0, -1, 1, 7, 2**31, 2**62, -(2**63), numbers_[row, column] ^ 1])
        changed = whole[:head] + numbers_.tobytes()
        changed += crc32c(changed).to_bytes(4, "little")
        kept.write_bytes(changed)
        try:
            assert all(got.shape == (8, video_files.HEIGHT, video_files.WIDTH, 3) for (got,) in reads())
        except penstock.DataError:
            pass
        taken += kept.read_bytes() == changed and changed != whole
    assert taken > 10  # the others were seen to be wrong, and made again
