# SPDX-License-Identifier: Apache-2.0
"""Raw streams with one bad packet; frames that refer to lost ones; chained Ogg files."""

import functools
import pathlib
import subprocess
import tempfile

import numpy as np
import pytest
import video_files
from conftest import EXAMPLES
from video_files import decode, ffmpeg

import penstock
from penstock import fn, pipeline_def

pytestmark = video_files.needs_ffmpeg

# Raw streams have no times: their frames' order is that of decoding.

RAW = {
    "264": ["libx264", "-g", 8, "-bf", 2, "-pix_fmt", "yuv420p"],
    "hevc": [
        "libx265",
        "-pix_fmt",
        "yuv420p",
        "-x265-params",
        "log-level=none:pools=1:keyint=8:min-keyint=8:bframes=2:open-gop=0",
    ],
}
FOLDER = tempfile.TemporaryDirectory()


def packets_of(path):
    """(begin, size) of each."""
    said = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "packet=size,pos", "-of", "csv=p=0", path],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    return [(int(begin), int(size)) for size, begin in (line.split(",")[:2] for line in said)]


@functools.lru_cache(maxsize=None)
def raw(ending):
    """Its path, its frames, and (begin, size) of its packets."""
    path = video_files.encode(pathlib.Path(FOLDER.name) / f"raw.{ending}", *RAW[ending])
    return path, decode(path), packets_of(path)


def with_a_bad_packet(ending, number):
    path, _, packets = raw(ending)
    begin, size = packets[number]
    data = np.fromfile(path, np.uint8)
    data[begin + {"264": 8, "hevc": 6}[ending] : begin + size] = 0x55  # a slice that cannot be decoded
    return data


def is_a_frame(got, frames, n, number):
    """Whether it is frame n, or another one of the group of 8 that has the bad packet: when that would be shown is not known."""
    group = range(n // 8 * 8, n // 8 * 8 + 8)
    return any(np.array_equal(got, frames[k]) for k in (group if number in group else [n]))


@pytest.mark.parametrize("ending", RAW)
@pytest.mark.parametrize("number", [3, 17, 30, 39] if EXAMPLES else [3, 30])
def test_a_bad_packet_of_a_raw_stream_costs_its_frames_alone(ending, number):
    data, frames = with_a_bad_packet(ending, number), raw(ending)[1]
    lost = []
    for n in range(40):
        try:
            got = np.asarray(fn.decoders.video([data], frames=[n], pad_mode="none")[0])
        except penstock.DataError as error:
            assert "[decoders.video]" in str(error) and "cannot be decoded" in str(error)
            lost.append(n)
        else:
            assert is_a_frame(got[0], frames, n, number)
    first = number // 8 * 8  # a decoder that meets damage keeps the last picture of the group before
    assert lost and set(lost) <= set(range(first - 1, first + 8))
    with pytest.raises(penstock.DataError, match="cannot be decoded"):
        fn.decoders.video([data])


CODED = {
    "one slice": ["-bf", 2],
    "no B-frames": ["-bf", 0],
    "three slices": ["-bf", 2, "-x264-params", "slices=3"],
    "scaling lists": ["-bf", 2, "-x264-params", "cqm=jvt"],
}


def slices_of(data):
    """(begin, end) of each slice's NAL unit, after its start code."""
    file = data.tobytes()
    begins = [k + 3 for k in range(len(file) - 3) if file[k : k + 3] == b"\0\0\1"]
    ends = [begin - 3 - (file[begin - 4] == 0) for begin in begins[1:]] + [len(file)]
    return [(begin, end) for begin, end in zip(begins, ends) if file[begin] & 31 in (1, 5)]


@pytest.mark.parametrize("coded", CODED)
def test_frames_keep_their_numbers_whichever_slice_is_damaged(coded, tmp_path):
    """FFmpeg leaves out, without a word, all pictures of a group whose key picture has no slice that begins."""
    path = video_files.encode(tmp_path / "whole.264", "libx264", "-g", 8, "-pix_fmt", "yuv420p", *CODED[coded])
    frames, whole = decode(path), np.fromfile(path, np.uint8)
    slices = slices_of(whole)
    each = len(slices) // 40
    assert len(slices) == 40 * each and each == (3 if coded == "three slices" else 1)
    for k in (
        range(len(slices)) if EXAMPLES else [0, 3 * each + 1, 8 * each, 17 * each - 1, 16 * each, 32 * each, 39 * each]
    ):
        begin, end = slices[k]
        bad, group = whole.copy(), k // each // 8
        bad[begin + 3 : end] = 0x55
        others = [
            *range(8 * group - 2),
            *range(8 * group + 8, 40),
        ]  # a decoder that meets damage keeps the last picture before
        np.testing.assert_array_equal(np.asarray(fn.decoders.video([bad], frames=others)[0]), frames[others])
        with pytest.raises(penstock.DataError, match="frame 40 is outside a video of 40 frames"):
            fn.decoders.video([bad], frames=[40], pad_mode="none")
        if each == 1:  # FFmpeg passes over one of several slices without an error
            with pytest.raises(penstock.DataError, match="cannot be decoded"):
                fn.decoders.video([bad])


def test_fields_are_not_counted_as_frames(tmp_path):
    """A picture of two fields may come in two packets: of such streams what FFmpeg leaves out is not counted."""
    path = video_files.encode(
        tmp_path / "fields.264", "libx264", "-g", 8, "-flags", "+ildct+ilme", "-pix_fmt", "yuv420p"
    )
    frames, bad = decode(path), np.fromfile(path, np.uint8)
    begin, end = slices_of(bad)[16]
    bad[begin + 2 : end] = 0x55
    np.testing.assert_array_equal(np.asarray(fn.decoders.video([bad], frames=[*range(12)])[0]), frames[:12])
    with pytest.raises(penstock.DataError, match="frame 40 is outside a video of 3[0-9] frames"):
        fn.decoders.video([bad], frames=[40], pad_mode="none")


def test_sequences_of_a_damaged_raw_stream(tmp_path):
    frames = raw("264")[1]
    with_a_bad_packet("264", 17).tofile(tmp_path / "bad.264")

    @pipeline_def(batch_size=3, num_threads=2, on_error="skip")
    def pipeline():
        return fn.readers.video(
            filenames=[str(tmp_path / "bad.264")], sequence_length=4, enable_frame_num=True, name="reader"
        )

    pipe, seen = pipeline(), []
    for _ in range(4):
        for got, first in zip(*pipe.run()):
            seen.append(int(np.asarray(first)[0]))
            assert all(is_a_frame(frame, frames, seen[-1] + k, 17) for k, frame in enumerate(np.asarray(got)))
    assert {0, 4, 8, 24, 28, 32, 36} <= set(seen) and {16, 20} - set(seen)


def test_a_raw_stream_of_which_nothing_can_be_decoded():
    data = np.fromfile(raw("264")[0], np.uint8)
    for begin, size in raw("264")[2]:
        data[begin + 12 : begin + size] = 0x55
    with pytest.raises(penstock.DataError, match=r"\[decoders.video\]"):
        fn.decoders.video([data])


@pytest.mark.parametrize("kind", ["h264", "hevc"])
def test_no_picture_is_shown_that_refers_to_a_lost_one(kind, tmp_path):
    """A packet whose slices begin with damage; every other frame is right or refused, whichever frames are requested."""
    path = video_files.make(tmp_path, kind)
    frames, whole = decode(path), np.fromfile(path, np.uint8)
    for number in range(1, 12) if EXAMPLES else (1, 6):
        begin, size = packets_of(path)[number]
        data = whole.copy()
        data[begin + 6 : begin + size] = 0x55
        exact = 0
        for n in range(24):
            try:
                got = np.asarray(fn.decoders.video([data], frames=[n])[0])
            except penstock.DataError:
                continue
            np.testing.assert_array_equal(got[0], frames[n])
            exact += 1
        assert 10 <= exact < 24


# Chained Ogg files: each link is a whole file, with tables and times of its own.


def link(folder, number, codec, *options, count=12):
    return video_files.encode(folder / f"{number}.ogg", codec, *options, "-serial_offset", 10 * number, count=count)


def joined(links):
    return np.concatenate([np.fromfile(path, np.uint8) for path in links])


@pytest.mark.parametrize(
    "codec, options",
    [
        ("libtheora", [("-q:v", 9), ("-q:v", 1), ("-q:v", 5)]),
        ("libvpx", [("-b:v", "300k"), ("-b:v", "60k"), ("-b:v", "100k")]),
    ],
)
def test_all_links_of_a_chained_ogg_file_are_read(codec, options, tmp_path):
    links = [link(tmp_path, k, codec, "-g", 4, *more) for k, more in enumerate(options)]
    want, data = np.concatenate([decode(path) for path in links]), joined(links)
    assert len(want) == 36 and np.abs(want[:12].astype(int) - want[12:24]).max() > 8
    np.testing.assert_array_equal(np.asarray(fn.decoders.video([data])[0]), want)
    for frames in ([0, 35], [20], [35, 0], [30, 13], [12], [11]):
        np.testing.assert_array_equal(np.asarray(fn.decoders.video([data], frames=frames)[0]), want[frames])
    data.tofile(tmp_path / "chain.ogv")

    @pipeline_def(batch_size=4, num_threads=2, seed=1)
    def pipeline():
        return fn.readers.video(
            filenames=[str(tmp_path / "chain.ogv")],
            sequence_length=3,
            random_shuffle=True,
            enable_frame_num="sequence",
            name="reader",
        )

    for _ in range(2):  # the second time the index is a kept one
        pipe = pipeline()
        for _ in range(3):
            for got, numbers in zip(*pipe.run()):
                np.testing.assert_array_equal(np.asarray(got), want[np.asarray(numbers)])


def test_chains_that_cannot_be_read_say_so(tmp_path):
    with_sound = []
    for k in (1, 2):
        path = tmp_path / f"sound{k}.ogv"
        ffmpeg(
            "-i",
            link(tmp_path, k, "libtheora"),
            "-f",
            "lavfi",
            "-i",
            "sine",
            "-t",
            0.4,
            "-c:v",
            "copy",
            "-c:a",
            "libvorbis",
            "-serial_offset",
            10 * k,
            "-y",
            path,
        )
        with_sound.append(path)
    with pytest.raises(penstock.DataError, match=r"\[decoders.video\] a chained Ogg file: after its first link"):
        fn.decoders.video([joined(with_sound)])
    other = video_files.encode(tmp_path / "other.ogv", "libtheora", "-serial_offset", 30, count=5, size=(128, 64))
    data = joined([link(tmp_path, 1, "libtheora"), other])
    assert len(np.asarray(fn.decoders.video([data], frames=[11])[0])) == 1
    with pytest.raises(penstock.DataError, match="frame 12 has 128 x 64 pixels, but the video has 96 x 64"):
        fn.decoders.video([data])
