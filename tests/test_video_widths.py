# SPDX-License-Identifier: Apache-2.0
"""The colors of videos of every width and pixel format: against the ffmpeg command's own conversion, and against float64."""
import numpy as np
import pytest
import video_files
from conftest import EXAMPLES
from video_files import decode, ffmpeg

from penstock import fn, pipeline_def, types

pytestmark = video_files.needs_ffmpeg
FORMATS = ("yuv420p yuv422p yuv444p yuv440p yuv411p yuv410p yuvj420p yuvj422p yuvj444p yuv420p10le yuv422p10le yuv444p10le yuv420p12le "
           "nv12 p010le yuyv422 uyvy422 gray gray10le rgb24 bgr24 rgb0 rgba gbrp gbrp10le yuva420p yuva444p").split()
WIDEST = 700
ALL = range(16, WIDEST + 1)
# Widths that ask for every number of pixels in the last group of 8 or 16, and rows that end anywhere in 64 bytes.
SOME = {"yuv420p": [*range(80, 97), 106, 148, 212, 338, 340], "yuv422p": [17, 18, 19, 20, 21, 84, 340, 404]}
AT_ONCE = 60  # files of one command
REAL = [(340, 256, "libx264"), (852, 480, "mpeg4"), (404, 720, "libx264"), (426, 240, "libvpx-vp9"), (854, 480, "libx264"), (850, 480, "mjpeg"),
        (270, 480, "libx264"), (1366, 768, "libx264"), (1920, 1080, "libx264"), (1080, 1920, "mpeg4"), (1280, 720, "libx264"),
        (720, 576, "mpeg2video"), (720, 480, "mpeg4"), (480, 360, "libx264"), (320, 240, "libxvid"), (176, 144, "mpeg4"), (640, 360, "libvpx"),
        (608, 1080, "libx264"), (1440, 1080, "libx264")]


def frames_of(path):
    return np.asarray(fn.decoders.video([np.fromfile(path, np.uint8)])[0])


def write_noise(folder, pixels, widths, height, into="rgb24"):
    """Files of one frame of noise in these pixels, and beside each what ffmpeg converts it into."""
    noise = np.random.default_rng(height).integers(0, 256, (height, WIDEST, 3), np.uint8)
    for k in range(0, len(widths), AT_ONCE):
        some = widths[k:k + AT_ONCE]
        ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDEST}x{height}", "-i", "-",
               *(word for w in some for word in ("-vf", f"crop={w}:{height}:0:0:exact=1,format={pixels}", "-c:v", "rawvideo",
                                                 folder / f"{w}.nut")), data=noise.tobytes())
        ffmpeg(*(word for w in some for word in ("-i", folder / f"{w}.nut")), "-y",
               *(word for i, w in enumerate(some) for word in ("-map", f"{i}:v", "-f", "rawvideo", "-pix_fmt", into, folder / f"{w}.raw")))


def differing(folder, pixels, widths, height):
    """The widths at which the frame is not the one that ffmpeg makes."""
    write_noise(folder, pixels, widths, height)
    return [w for w in widths if not np.array_equal(frames_of(folder / f"{w}.nut"),
                                                    np.fromfile(folder / f"{w}.raw", np.uint8).reshape(1, height, w, 3))]


@pytest.mark.parametrize("pixels", FORMATS)
def test_every_width_is_ffmpegs(pixels, tmp_path):
    few = np.random.default_rng(len(pixels)).integers(16, WIDEST, 4).tolist()
    assert differing(tmp_path, pixels, list(ALL) if EXAMPLES else SOME.get(pixels, [18, 340] + few), 4) == []


@pytest.mark.parametrize("pixels", FORMATS if EXAMPLES else ["yuv420p", "yuv420p10le"])
def test_every_width_with_an_odd_number_of_rows(pixels, tmp_path):
    assert differing(tmp_path, pixels, list(ALL) if EXAMPLES else [18, 85, 340], 5) == []


@pytest.mark.parametrize("pixels, across, down", [("yuv420p", 2, 2), ("yuv422p", 2, 1)])
def test_the_last_columns_are_the_standards(pixels, across, down, tmp_path):
    """Every width of 64 in a row, against BT.601 in float64: a fault that ffmpeg shares would be seen."""
    random, height = np.random.default_rng(0), 4
    for width in range(256, 320) if EXAMPLES else range(272, 280):
        planes = [random.integers(16, 236, (height, width)), *(random.integers(16, 241, (height // down, -(-width // across))) for _ in range(2))]
        ffmpeg("-f", "rawvideo", "-pix_fmt", pixels, "-s", f"{width}x{height}", "-i", "-", "-c:v", "rawvideo", tmp_path / "a.nut",
               data=b"".join(p.astype(np.uint8).tobytes() for p in planes))
        y = (planes[0] - 16) * (255 / 219)
        u, v = ((np.repeat(np.repeat(p, down, 0), across, 1)[:, :width] - 128) * (255 / 224) for p in planes[1:])
        want = np.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u], -1).clip(0, 255)
        got = frames_of(tmp_path / "a.nut")[0]
        assert np.abs(got - want).max() < 3, width


@pytest.mark.parametrize("width, height, codec", REAL if EXAMPLES else REAL[:3])
def test_real_sizes(width, height, codec, tmp_path):
    path = tmp_path / "real.mkv"
    ffmpeg("-f", "lavfi", "-i", f"testsrc=size={width}x{height}", "-frames:v", 2, "-c:v", codec,
           *(["-preset", "ultrafast", "-pix_fmt", "yuv420p"] if codec == "libx264" else []), path)
    got = frames_of(path)
    np.testing.assert_array_equal(got, decode(path))
    assert got[:, :, -2:].max() > 100


@pytest.mark.parametrize("pixels", ["yuv420p", "yuv422p", "yuv444p10le"])
def test_widths_as_ycbcr(pixels, tmp_path):
    widths = list(ALL) if EXAMPLES else [17, 18, 19, 20, 21, 42, 340]
    write_noise(tmp_path, pixels, widths, 6, "yuv444p")

    @pipeline_def(batch_size=len(widths), num_threads=2)
    def pipeline():
        return fn.readers.video(filenames=[str(tmp_path / f"{w}.nut") for w in widths], sequence_length=1, image_type=types.YCbCr)

    frames, = pipeline().run()
    for width, got in zip(widths, frames, strict=True):
        want = np.fromfile(tmp_path / f"{width}.raw", np.uint8).reshape(3, 6, width).transpose(1, 2, 0)
        np.testing.assert_array_equal(np.asarray(got)[0], want, err_msg=str(width))
