# SPDX-License-Identifier: Apache-2.0
"""decoders.video: frames by their numbers and bytes against FFmpeg's own command and DALI, and damaged files."""

import base64
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import pytest
import video_files
from damaged_bytes import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from video_files import KINDS, decode, ffmpeg, numbers

import penstock
from penstock import fn, pipeline_def

pytestmark = video_files.needs_ffmpeg
FOLDER = tempfile.TemporaryDirectory()
DALI_READS = ["vp8", "vp9", "vp9_vfr"]  # on the CPU; of MJPEG it takes the full range for the narrow one


@functools.lru_cache(maxsize=None)
def video(kind):
    """Path and bytes of a small video, and its frames as FFmpeg's command decodes them."""
    path = video_files.make(pathlib.Path(FOLDER.name), kind)
    return path, np.fromfile(path, np.uint8), decode(path)


def frames_of(data, **options):
    return np.asarray(fn.decoders.video([data], **options)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_ffmpegs(kind):
    _, data, want = video(kind)
    got = frames_of(data)
    assert list(numbers(got)) == list(range(40))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", ["h264", "h264_vfr", "h264_ts", "hevc", "vp9", "mpeg4", "mjpeg_mkv"])
def test_what_is_known_before_decoding(kind):
    path, data, want = video(kind)
    entries = "stream=avg_frame_rate,nb_read_packets"
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries", entries]
    said = subprocess.run([*command, "-of", "csv=p=0", path], check=True, capture_output=True, text=True).stdout
    rate, count = said.split()[0].split(",")[:2]
    frames, height, width, fps = np.asarray(fn.peek_video([data])[0])
    assert (frames, height, width) == want.shape[:3] and frames == int(count)
    times, unit = map(int, rate.split("/"))
    assert abs(fps - times / unit) < 0.03 * fps  # on average: with or without the time that the last frame is shown


def test_what_is_no_video_is_an_error():
    with pytest.raises(penstock.DataError):
        fn.peek_video(np.arange(100, dtype=np.uint8))
    with pytest.raises(penstock.DataError, match="limit|pixels"):
        fn.peek_video([video("mpeg4")[1]], max_pixels=100)
    with pytest.raises(TypeError, match="bytes of a file as uint8, got float32"):
        fn.peek_video(np.zeros(9, np.float32))


@pytest.mark.parametrize("kind", KINDS)
def test_any_frames_are_exact(kind):
    _, data, want = video(kind)

    @settings(max_examples=10, deadline=None)
    @given(st.lists(st.integers(0, 39), min_size=1, max_size=8))
    def check(wanted):
        np.testing.assert_array_equal(frames_of(data, frames=wanted), want[wanted])

    check()


@pytest.mark.parametrize("options", [["-c", "copy"], ["-c", "copy", "-bsf:v", "setts=pts=PTS-1000:dts=DTS-1000"]])
@pytest.mark.parametrize("ending", ["mp4", "mkv"])
def test_frames_before_an_edit_lists_begin_are_not_shown(tmp_path, ending, options):
    source, _, whole = video("h264")
    path = tmp_path / f"cut.{ending}"
    ffmpeg("-ss", 0.75, "-i", source, *options, "-avoid_negative_ts", "disabled", "-y", path)
    want, data = decode(path), np.fromfile(path, np.uint8)
    got = frames_of(data)
    np.testing.assert_array_equal(got, want)
    assert list(numbers(got)) == list(range(40 - len(got), 40))
    for n in range(len(got)):
        np.testing.assert_array_equal(frames_of(data, frames=[n])[0], whole[40 - len(got) + n])


def test_frames_that_are_only_referred_to_are_not_counted(tmp_path):
    for turn in (1, 2):
        path = video_files.encode(
            tmp_path / "hidden.webm",
            "libvpx",
            "-b:v",
            "40k",
            "-auto-alt-ref",
            1,
            "-lag-in-frames",
            16,
            "-g",
            20,
            "-pass",
            turn,
            "-passlogfile",
            tmp_path / "log",
        )
    packets = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "packet=pts", "-of", "csv=p=0", path],
        check=True,
        capture_output=True,
    ).stdout.split()
    want, data = decode(path), np.fromfile(path, np.uint8)
    assert len(packets) > len(want) == 40
    np.testing.assert_array_equal(frames_of(data), want)
    for wanted in ([39], [20], [5, 33], [19, 2]):
        np.testing.assert_array_equal(frames_of(data, frames=wanted), want[wanted])


@pytest.mark.parametrize("size", [(2, 2), (97, 33), (130, 71)])
def test_odd_sizes(tmp_path, size):
    path = tmp_path / "odd.mkv"
    count = 3
    frames = np.random.default_rng(0).integers(0, 256, (count, size[1], size[0], 3), np.uint8)
    ffmpeg(
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{size[0]}x{size[1]}",
        "-i",
        "-",
        "-c:v",
        "mpeg4",
        "-q:v",
        2,
        "-y",
        path,
        data=frames.tobytes(),
    )
    np.testing.assert_array_equal(frames_of(np.fromfile(path, np.uint8)), decode(path))


@pytest.mark.parametrize("kind", DALI_READS)
def test_dali_gives_the_same(oracle, kind):
    data = video(kind)[1]
    for options in (
        {},
        {"frames": [3, 3, 39, 0]},
        {"frames": [3, 45, 2], "pad_mode": "edge"},
        {"frames": [3, 41, 2], "pad_mode": "reflect"},
        {"frames": [3, 45]},
        {"start_frame": 5, "end_frame": 20, "stride": 4},
        {"start_frame": 30, "end_frame": 50, "stride": 4},
        {"start_frame": 36, "stride": 3},
        {"start_frame": 38, "sequence_length": 4, "fill_value": [3, 200, 7]},
        {"sequence_length": 0},
        {"start_frame": 30, "stride": 3, "sequence_length": 6, "pad_mode": "none"},
        *(
            {"start_frame": 30, "stride": 4, "sequence_length": 40, "pad_mode": mode}
            for mode in ("edge", "repeat", "reflect_1001", "symmetric", "reflect_101", "reflect", "constant")
        ),
    ):
        want = np.asarray(oracle.call("decoders.video", [data], **options)[0])
        got = frames_of(data, **options)
        assert got.shape == want.shape
        if (
            kind == "vp8"
        ):  # whose colors DALI makes otherwise than FFmpeg's command: the frames and what is filled are the same
            np.testing.assert_array_equal(numbers(got), numbers(want), err_msg=str(options))
            np.testing.assert_array_equal(got.std(axis=(1, 2, 3)) == 0, want.std(axis=(1, 2, 3)) == 0)
        else:
            np.testing.assert_array_equal(got, want, err_msg=str(options))


def test_arguments_differ_by_sample():
    kinds = ["h264", "vp9", "mpeg4_b"]

    @pipeline_def(batch_size=3, num_threads=2)
    def pipeline():
        data = fn.external_source(lambda: [video(k)[1] for k in kinds], batch=True)
        numbers = fn.external_source(lambda: [np.int32([1, 2]), np.int32([30, 4, 4]), np.int32([39])], batch=True)
        start = fn.external_source(lambda: [np.int32(v) for v in (3, 30, 38)], batch=True)
        return fn.decoders.video(data, frames=numbers), fn.decoders.video(
            data, start_frame=start, sequence_length=4, device="cpu"
        )

    chosen, sequences = pipeline().run()
    for i, (wanted, first) in enumerate([([1, 2], 3), ([30, 4, 4], 30), ([39], 38)]):
        np.testing.assert_array_equal(np.asarray(chosen[i]), video(kinds[i])[2][wanted])
        there = video(kinds[i])[2][first : first + 4]
        np.testing.assert_array_equal(np.asarray(sequences[i])[: len(there)], there)
        assert not np.asarray(sequences[i])[len(there) :].any()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"frames": [1], "stride": 2}, "frames cannot be combined"),
        ({"sequence_length": 3, "end_frame": 5}, "are mutually exclusive"),
        ({"pad_mode": "wrap"}, "pad_mode must be"),
        ({"fill_value": [1, 2]}, "fill_value needs"),
        ({"fill_value": 256}, "between 0 and 255"),
        ({"start_frame": 5, "end_frame": 3}, "must be greater than"),
        ({"stride": 0}, "stride"),
        ({"frames": [-1]}, "negative"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        frames_of(video("mpeg4")[1], **options)


def test_frames_that_are_not_there():
    with pytest.raises(penstock.DataError, match="start_frame 40 is outside a video of 40 frames"):
        frames_of(video("mpeg4")[1], start_frame=40)
    with pytest.raises(penstock.DataError, match="frame 40 is outside a video of 40 frames"):
        frames_of(video("mpeg4")[1], frames=[40], pad_mode="none")


@pytest.mark.parametrize("kind", ["h264", "hevc", "vp8", "vp9", "av1", "mpeg4_b_avi", "mjpeg", "h264_ts"])
def test_damage_ends_in_a_typed_error_or_in_frames(kind):
    data, refused = video(kind)[1], 0
    for bad in damaged(data, 24, 2000, len(kind)):
        try:
            got = frames_of(bad)
        except penstock.DataError as error:
            refused += 1
            assert "decoders.video" in str(error)
        else:
            assert got.ndim == 4 and got.shape[3] == 3
    assert refused > 3


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "is empty|the bytes"),
        (b"hello" * 50, "not a video"),
        (b"\x00\x00\x00\x18ftypisom" + b"\x00" * 40, "video"),
        (b"RIFF\x00\x10\x00\x00AVI LIST", "video|stream"),
        (b"#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\n/etc/passwd\n", "not a video"),
        (b"ffconcat version 1.0\nfile '/etc/passwd'\n", "not a video"),
    ],
)
def test_files_that_are_not_videos(data, message):
    with pytest.raises((penstock.DataError, ValueError), match=message):
        frames_of(np.frombuffer(data, np.uint8))


def test_sizes_are_checked_before_memory_is_taken():
    for height, width in ((16000, 16000), (65000, 65000)):
        data = video("mjpeg")[1].copy()
        for at in range(len(data) - 9):
            if data[at] == 0xFF and data[at + 1] == 0xC0 and data[at + 4] == 8:  # the frame's header of each picture
                data[at + 5 : at + 9] = [height >> 8, height & 255, width >> 8, width & 255]
        with pytest.raises(penstock.DataError):
            frames_of(data)


def test_without_ffmpeg_one_error_says_what_to_install(tmp_path):
    code = "import numpy as np; from penstock import fn; fn.decoders.video([np.zeros(100, np.uint8)])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PENSTOCK_FFMPEG": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert (
        "ValueError: [decoders.video] video needs the shared libraries of FFmpeg" in ran.stderr
        and "apt-get install ffmpeg" in ran.stderr
    )


def test_other_programs_messages_of_ffmpeg_are_left_alone(capfd):
    for bad in damaged(video("h264")[1], 6, 2000, 1):
        try:
            frames_of(bad)
        except penstock.DataError:
            pass
    assert capfd.readouterr().err == ""


# An AV1 file of ours that a fuzzer has damaged: one packet, without a time, of which two frames come.
TWO_FRAMES_OF_A_PACKET = zlib.decompress(
    base64.b85decode(
        "c-oV4y}x*|Q(GgW({~{L)X3uWxsk)EsUtVBq$s~QJJG2fDAd}>BoW+@&d2})lLdWecXl}BfjJCfA?vc8-1oNx2p#yk4x)g`;(8-vTWeUnW0+xcBct-;<`$"
        "-njSQhX8<~<9O)@Z$civX&x@><-R=TU`^G1fnE~<?T3=Ld73P7z(|C{ae;K*P!>f{h$Xkd7~a8uDOE?)tO3IASw%DeUS|3athemmR_7Wx^5#RrCZYC*t>M"
        "XrlGTtb5!Lp*&`bKQzkQ>_dPfJo2C!~g;q7(li<r-AHqI0mw>fQ?};qm}^!&{p;iCMG6^l<Hsk9OqU`a9^4JXj^F21UAbPHDNqbnVq`R_qUw>(8viPe|J1"
        "6kQDiSf6)y;q3B9)Zsz81-o~Y~<F++QPj^3O7qRt}>|Ta8`<bSx|EFaF)ibbjw6=D%wqV*3S0&rp-#mH4sq&eUr9IDF+VY^fF4b9Wvva+3kAWc)6rRDmv!"
        "N~khcDPvbX$mX3lUbp=!)2N$9<VM2kv|j->`1UJm&vuvp)P5y4~{N=#Rz!Y6FroONvX1QWJBJ{BbvJP5(5%EHgg&^YqD8CQU{c>h7N{@iE)Wz;O2a|0lPk"
        "Ig>8V&)-_GvFK+9F!0+N8BY9P_j!LC>D~vE1U*St*PtZ_vMo!?F9PPc`0|WQkY((UyhXq=!tssHA9UeGx)%Vn8XX$"
    )
)


def test_a_packet_has_one_frame():
    (frames,) = fn.decoders.video(penstock.batch([np.frombuffer(TWO_FRAMES_OF_A_PACKET, np.uint8)]))
    assert np.array(frames).shape == (1, 32, 48, 3)
