# SPDX-License-Identifier: Apache-2.0
"""Small videos made by the ffmpeg command, whose frames carry their number, and what the same command decodes of them."""

import shutil
import subprocess

import numpy as np
import pytest

WIDTH, HEIGHT, BLOCK = 96, 64, 16

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="videos are made by the ffmpeg command")


def pictures(count, width=WIDTH, height=HEIGHT):
    """(count, height, width, 3): moving waves; above them 6 blocks, light where a bit of the frame's number is set."""
    y, x = np.mgrid[0:height, 0:width]
    out = np.empty((count, height, width, 3), np.uint8)
    for n in range(count):
        for c in range(3):
            out[n, ..., c] = 128 + 80 * np.sin((x * (1 + c) + 5 * n) / 17.0) * np.cos((y + 3 * n * (c - 1)) / 11.0)
        for bit in range(6):
            out[n, :BLOCK, bit * BLOCK : (bit + 1) * BLOCK] = 220 if n >> bit & 1 else 30
    return out


def numbers(frames):
    """The numbers that decoded frames carry."""
    blocks = np.asarray(frames)[:, 4 : BLOCK - 4, : 6 * BLOCK].astype(np.float64).mean(axis=(1, 3))
    bits = blocks.reshape(len(frames), 6, BLOCK)[:, :, 4:-4].mean(axis=2) > 125
    return (bits << np.arange(6)).sum(axis=1)


def ffmpeg(*arguments, data=None):
    command = ["ffmpeg", "-nostdin" if data is None else "-y", "-v", "error", *map(str, arguments)]
    return subprocess.run(command, input=data, check=True, capture_output=True).stdout


def encode(path, codec, *options, count=40, rate=25, size=(WIDTH, HEIGHT), filters=None):
    """Writes `count` pictures; the container is that of the path's ending."""
    frames = pictures(count, *size)
    chain = ["-vf", filters] if filters else []
    ffmpeg(
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{size[0]}x{size[1]}",
        "-r",
        rate,
        "-i",
        "-",
        *chain,
        "-c:v",
        codec,
        "-threads",
        "1",
        *options,
        "-y",
        path,
        data=frames.tobytes(),
    )
    return path


def decode(path, *options):
    """All frames as FFmpeg's own command shows them: (frames, height, width, 3)."""
    shape = (
        subprocess.run(
            [
                "ffprobe",
                "-v",
                "error",
                "-select_streams",
                "v:0",
                "-show_entries",
                "stream=width,height",
                "-of",
                "csv=p=0",
                str(path),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        .stdout.split()[0]
        .split(",")
    )
    width, height = int(shape[0]), int(shape[1])
    raw = ffmpeg(
        "-noautorotate",
        *options,
        "-i",
        path,
        "-map",
        "0:v:0",
        "-vsync",
        "passthrough",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    )
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)


# Name: file ending, encoder, its options. GOPs are short, so that a seek crosses several.
KINDS = {
    "h264": ("mp4", "libx264", ["-g", 12, "-bf", 3, "-pix_fmt", "yuv420p"]),
    "h264_open_gop": (
        "mkv",
        "libx264",
        ["-g", 12, "-bf", 3, "-pix_fmt", "yuv420p", "-x264-params", "open-gop=1:b-pyramid=normal"],
    ),
    "h264_open_gop_mp4": ("mp4", "libx264", ["-g", 10, "-bf", 4, "-pix_fmt", "yuv420p", "-x264-params", "open-gop=1"]),
    "h264_refresh": ("mkv", "libx264", ["-g", 15, "-pix_fmt", "yuv420p", "-x264-params", "intra-refresh=1"]),
    "h264_no_b": ("avi", "libx264", ["-g", 10, "-bf", 0, "-pix_fmt", "yuv420p"]),
    "h264_b_avi": ("avi", "libx264", ["-g", 10, "-bf", 3, "-pix_fmt", "yuv420p"]),
    "h264_444": ("mp4", "libx264", ["-g", 12, "-pix_fmt", "yuv444p"]),
    "h264_10bit": ("mkv", "libx264", ["-g", 12, "-pix_fmt", "yuv420p10le"]),
    "h264_bt709": (
        "mp4",
        "libx264",
        [
            "-g",
            12,
            "-pix_fmt",
            "yuv420p",
            "-vf",
            "scale=out_color_matrix=bt709:out_range=tv",
            "-colorspace",
            "bt709",
            "-color_range",
            "tv",
        ],
    ),
    "h264_full_range": ("mkv", "libx264", ["-g", 12, "-pix_fmt", "yuvj420p", "-color_range", "pc"]),
    "h264_interlaced": (
        "mp4",
        "libx264",
        ["-g", 12, "-pix_fmt", "yuv420p", "-flags", "+ilme+ildct", "-x264-params", "tff=1"],
    ),
    "h264_ts": ("ts", "libx264", ["-g", 12, "-bf", 2, "-pix_fmt", "yuv420p"]),
    "hevc": ("mp4", "libx265", ["-g", 12, "-pix_fmt", "yuv420p", "-x265-params", "log-level=none:pools=1"]),
    "hevc_open_gop": (
        "mkv",
        "libx265",
        ["-pix_fmt", "yuv420p", "-x265-params", "log-level=none:pools=1:keyint=10:min-keyint=10:open-gop=1:bframes=4"],
    ),
    "vp8": ("webm", "libvpx", ["-g", 10, "-auto-alt-ref", 1, "-lag-in-frames", 8, "-b:v", "300k"]),
    "vp9": (
        "webm",
        "libvpx-vp9",
        ["-g", 12, "-auto-alt-ref", 1, "-lag-in-frames", 10, "-b:v", "300k", "-deadline", "realtime", "-cpu-used", 8],
    ),
    "vp9_mp4": ("mp4", "libvpx-vp9", ["-g", 9, "-b:v", "300k", "-deadline", "realtime", "-cpu-used", 8]),
    "av1": ("mkv", "libaom-av1", ["-g", 12, "-cpu-used", 8, "-usage", "realtime", "-b:v", "200k"]),
    "mpeg4": ("avi", "mpeg4", ["-g", 12, "-q:v", 3]),
    "mpeg4_b": ("mp4", "mpeg4", ["-g", 12, "-bf", 2, "-q:v", 3]),
    "mpeg4_b_avi": ("avi", "mpeg4", ["-g", 12, "-bf", 2, "-q:v", 3]),
    "mjpeg": ("avi", "mjpeg", ["-q:v", 2, "-pix_fmt", "yuvj420p"]),
    "mjpeg_mkv": ("mkv", "mjpeg", ["-q:v", 2, "-pix_fmt", "yuvj444p"]),
    # Variable rate: every third picture is held for longer; and pictures that begin before 0, which an edit list hides.
    "h264_vfr": (
        "mp4",
        "libx264",
        [
            "-g",
            12,
            "-bf",
            3,
            "-pix_fmt",
            "yuv420p",
            "-vf",
            "settb=1/1000,setpts='(N*40+floor(N/3)*55)'",
            "-vsync",
            "passthrough",
            "-video_track_timescale",
            "1000",
        ],
    ),
    "vp9_vfr": (
        "webm",
        "libvpx-vp9",
        [
            "-g",
            12,
            "-b:v",
            "300k",
            "-deadline",
            "realtime",
            "-cpu-used",
            8,
            "-vf",
            "settb=1/1000,setpts='(N*40+floor(N/3)*55)'",
            "-vsync",
            "passthrough",
        ],
    ),
}


def make(folder, kind, **options):
    ending, codec, arguments = KINDS[kind]
    return encode(folder / f"{kind}.{ending}", codec, *arguments, **options)


def make_all(folder):
    return {kind: make(folder, kind) for kind in KINDS}
