# SPDX-License-Identifier: Apache-2.0
"""The colors of videos of every width and pixel format: against the ffmpeg command's own conversion, and against float64."""

import numpy as np
import pytest
import video_files
from conftest import EXAMPLES
from video_files import decode, ffmpeg

from penstock import fn, pipeline_def, types

pytestmark = video_files.needs_ffmpeg
FORMATS = (
    "yuv420p yuv422p yuv444p yuv440p yuv411p yuv410p yuvj420p yuvj422p yuvj444p yuv420p10le yuv422p10le yuv444p10le yuv420p12le "
    "nv12 p010le yuyv422 uyvy422 gray gray10le rgb24 bgr24 rgb0 rgba gbrp gbrp10le yuva420p yuva444p"
).split()
WIDEST = 700
ALL = range(16, WIDEST + 1)
# Widths that ask for every number of pixels in the last group of 8 or 16, and rows that end anywhere in 64 bytes.
SOME = {"yuv420p": [*range(80, 97), 106, 148, 212, 338, 340], "yuv422p": [17, 18, 19, 20, 21, 84, 340, 404]}
AT_ONCE = 60  # files of one command
REAL = [
    (340, 256, "libx264"),
    (852, 480, "mpeg4"),
    (404, 720, "libx264"),
    (426, 240, "libvpx-vp9"),
    (854, 480, "libx264"),
    (850, 480, "mjpeg"),
    (270, 480, "libx264"),
    (1366, 768, "libx264"),
    (1920, 1080, "libx264"),
    (1080, 1920, "mpeg4"),
    (1280, 720, "libx264"),
    (720, 576, "mpeg2video"),
    (720, 480, "mpeg4"),
    (480, 360, "libx264"),
    (320, 240, "libxvid"),
    (176, 144, "mpeg4"),
    (640, 360, "libvpx"),
    (608, 1080, "libx264"),
    (1440, 1080, "libx264"),
]


def frames_of(path):
    return np.asarray(fn.decoders.video([np.fromfile(path, np.uint8)])[0])


def write_noise(folder, pairs, height, into="rgb24"):
    """For each (pixels, width) a file of one frame of noise, and beside it what ffmpeg converts that into."""
    noise = np.random.default_rng(height).integers(0, 256, (height, WIDEST, 3), np.uint8)
    for k in range(0, len(pairs), AT_ONCE):
        some = [(p, w, f"{folder}/{p}_{w}") for p, w in pairs[k : k + AT_ONCE]]
        ffmpeg(
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            f"{WIDEST}x{height}",
            "-i",
            "-",
            *(
                word
                for p, w, name in some
                for word in ("-vf", f"crop={w}:{height}:0:0:exact=1,format={p}", "-c:v", "rawvideo", f"{name}.nut")
            ),
            data=noise.tobytes(),
        )
        ffmpeg(
            *(word for *_, name in some for word in ("-i", f"{name}.nut")),
            "-y",
            *(
                word
                for i, (*_, name) in enumerate(some)
                for word in ("-map", f"{i}:v", "-f", "rawvideo", "-pix_fmt", into, f"{name}.raw")
            ),
        )


def differing(folder, pairs, height):
    """Those at which the frame is not the one that ffmpeg makes."""
    write_noise(folder, pairs, height)
    return [
        (p, w)
        for p, w in pairs
        if not np.array_equal(
            frames_of(folder / f"{p}_{w}.nut"), np.fromfile(folder / f"{p}_{w}.raw", np.uint8).reshape(1, height, w, 3)
        )
    ]


def sample():
    random = np.random.default_rng(0)
    return [(p, int(w)) for p in FORMATS for w in SOME.get(p, [18, 340, *random.integers(16, WIDEST, 2)])]


@pytest.mark.parametrize(
    "pairs", [[(p, w) for w in ALL] for p in FORMATS] if EXAMPLES else [sample()], ids=lambda pairs: pairs[0][0]
)
def test_every_width_is_ffmpegs(pairs, tmp_path):
    assert differing(tmp_path, pairs, 4) == []


@pytest.mark.parametrize(
    "pairs",
    [[(p, w) for w in ALL] for p in FORMATS]
    if EXAMPLES
    else [[(p, w) for p in ("yuv420p", "yuv420p10le") for w in (18, 85, 340)]],
    ids=lambda pairs: pairs[0][0],
)
def test_every_width_with_an_odd_number_of_rows(pairs, tmp_path):
    assert differing(tmp_path, pairs, 5) == []


@pytest.mark.parametrize("name, across, down", [("420jpeg", 2, 2), ("422", 2, 1)])
def test_the_last_columns_are_the_standards(name, across, down):
    """Every width of 64 in a row, against BT.601 in float64: a fault that ffmpeg shares would be seen."""
    random, height = np.random.default_rng(0), 4
    for width in range(256, 320):
        planes = [
            random.integers(16, 236, (height, width)),
            *(random.integers(16, 241, (height // down, -(-width // across))) for _ in range(2)),
        ]
        file = f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{name}\nFRAME\n".encode() + b"".join(
            p.astype(np.uint8).tobytes() for p in planes
        )
        y = (planes[0] - 16) * (255 / 219)
        u, v = ((np.repeat(np.repeat(p, down, 0), across, 1)[:, :width] - 128) * (255 / 224) for p in planes[1:])
        want = np.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u], -1).clip(0, 255)
        got = np.asarray(fn.decoders.video([np.frombuffer(file, np.uint8)])[0])[0]
        assert np.abs(got - want).max() < 3, width


@pytest.mark.parametrize("width, height, codec", REAL if EXAMPLES else REAL[:2])
def test_real_sizes(width, height, codec, tmp_path):
    path = tmp_path / "real.mkv"
    ffmpeg(
        "-f",
        "lavfi",
        "-i",
        f"testsrc=size={width}x{height}",
        "-frames:v",
        2,
        "-c:v",
        codec,
        *(["-preset", "ultrafast", "-pix_fmt", "yuv420p"] if codec == "libx264" else []),
        path,
    )
    got = frames_of(path)
    np.testing.assert_array_equal(got, decode(path))
    assert got[:, :, -2:].max() > 100


def test_widths_as_ycbcr(tmp_path):
    pairs = [
        (p, w)
        for p in ("yuv420p", "yuv422p", "yuv444p10le")
        for w in (ALL if EXAMPLES else (17, 18, 19, 20, 21, 42, 340))
    ]
    write_noise(tmp_path, pairs, 6, "yuv444p")

    @pipeline_def(batch_size=len(pairs), num_threads=2)
    def pipeline():
        return fn.readers.video(
            filenames=[str(tmp_path / f"{p}_{w}.nut") for p, w in pairs], sequence_length=1, image_type=types.YCbCr
        )

    (frames,) = pipeline().run()
    for (p, w), got in zip(pairs, frames, strict=True):
        want = np.fromfile(tmp_path / f"{p}_{w}.raw", np.uint8).reshape(3, 6, w).transpose(1, 2, 0)
        np.testing.assert_array_equal(np.asarray(got)[0], want, err_msg=f"{p} {w}")
