# SPDX-License-Identifier: Apache-2.0
"""Damaged videos of every codec through decoders.video and readers.video."""

import subprocess

import numpy as np
from attempts import Attempts, Wrong

FRAMES, SIZE = 14, "80x48"
PLAIN = ["-pix_fmt", "yuv420p"]
# Name: (ending, encoder and its options). A decoder's slices and B-frames take other paths than its plain pictures.
CLIPS = {
    "mpeg4": ("avi", ["mpeg4", "-g", "6", "-q:v", "3"]),
    "mpeg4_b": ("mp4", ["mpeg4", "-g", "6", "-bf", "2", "-q:v", "3"]),
    "xvid": ("avi", ["libxvid", "-g", "6", "-q:v", "3"]),
    "h264": ("mp4", ["libx264", "-g", "6", "-bf", "2", *PLAIN]),
    "h264_slices": ("ts", ["libx264", "-g", "6", "-x264-params", "slices=3", *PLAIN]),
    "h264_raw": ("264", ["libx264", "-g", "6", "-bf", "2", *PLAIN]),
    "hevc": ("mp4", ["libx265", "-g", "6", "-x265-params", "log-level=none:pools=1", *PLAIN]),
    "hevc_raw": ("hevc", ["libx265", "-g", "6", "-x265-params", "log-level=none:pools=1", *PLAIN]),
    "vp8": ("webm", ["libvpx", "-g", "6", "-b:v", "200k", "-deadline", "realtime"]),
    "vp9": ("webm", ["libvpx-vp9", "-g", "6", "-b:v", "200k", "-deadline", "realtime", "-cpu-used", "8"]),
    "av1": ("mkv", ["libaom-av1", "-g", "6", "-cpu-used", "8", "-usage", "realtime", "-b:v", "200k"]),
    "mpeg2": ("mpg", ["mpeg2video", "-g", "6", "-bf", "2", "-q:v", "3"]),
    "mpeg2_ts": ("ts", ["mpeg2video", "-g", "6", "-q:v", "3"]),
    "mjpeg": ("avi", ["mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"]),
    "theora": ("ogv", ["libtheora", "-g", "6", "-q:v", "6"]),
    "flv": ("flv", ["flv", "-g", "6", "-q:v", "3"]),
    "wmv2": ("asf", ["wmv2", "-g", "6", "-q:v", "3"]),
    "prores": ("mov", ["prores_ks", "-pix_fmt", "yuv422p10le"]),
    "ffv1": ("mkv", ["ffv1", "-level", "3", *PLAIN]),
    "huffyuv": ("avi", ["huffyuv", "-pix_fmt", "yuv422p"]),
}


def make(folder, kinds=tuple(CLIPS)):
    """Writes the whole clips. Needs the ffmpeg command."""
    for kind in kinds:
        ending, codec = CLIPS[kind]
        subprocess.run(
            [
                "ffmpeg",
                "-nostdin",
                "-v",
                "error",
                "-f",
                "lavfi",
                "-i",
                f"testsrc2=size={SIZE}:rate=25",
                "-frames:v",
                str(FRAMES),
                "-c:v",
                *codec,
                "-threads",
                "1",
                "-y",
                str(folder / f"{kind}.{ending}"),
            ],
            check=True,
        )


class Videos(Attempts):
    WAYS = ("immediate", "skipping", "reader", "reader_skip")
    OPERATORS = {
        "immediate": ["decoders.video"],
        "skipping": ["decoders.video"],
        "reader": ["readers.video"],
        "reader_skip": ["readers.video"],
    }

    def __init__(self, folder, kinds):
        super().__init__(folder, kinds)
        self.pipe = None

    def sane(self, frames):
        array = np.asarray(frames)
        if array.dtype != np.uint8 or array.ndim != 4 or array.shape[3] != 3 or not len(array):
            raise Wrong(f"{array.dtype} {array.shape}")
        return "decoded"

    def immediate(self, bad, turn):
        from penstock import fn

        return self.sane(fn.decoders.video([bad])[0])

    def skipping(self, bad, turn):
        from penstock import fn, pipeline_def

        @pipeline_def(batch_size=2, num_threads=2, prefetch_queue_depth=1, on_error="skip")
        def pipeline():
            return fn.decoders.video(fn.external_source(name="files"))

        self.pipe = self.pipe or pipeline()
        (frames,) = self.fed(self.pipe, bad)
        if len(frames) not in (1, 2):
            raise Wrong(f"{len(frames)} samples")
        return self.sane(frames[0]) if len(frames) == 2 else "skipped"

    def read(self, bad, turn, on_error):
        from penstock import fn, pipeline_def

        path = self.stored(bad, turn)

        @pipeline_def(batch_size=2, num_threads=2 + turn % 3, prefetch_queue_depth=1, on_error=on_error)
        def pipeline():
            return fn.readers.video(filenames=[str(path), str(self.paths[self.kind])], sequence_length=5, name="reader")

        pipe, counted = pipeline(), 0
        for _ in range(-(-pipe.reader_meta("reader")["epoch_size"] // 2)):
            try:
                counted += len(pipe.run()[0])
            except StopIteration:
                break
        if not counted:
            raise Wrong("no sample at all")
        return "decoded"

    def reader(self, bad, turn):
        return self.read(bad, turn, "raise")

    def reader_skip(self, bad, turn):
        return self.read(bad, turn, "skip")
