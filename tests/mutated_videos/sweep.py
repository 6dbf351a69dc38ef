# SPDX-License-Identifier: Apache-2.0
"""Damaged videos through decoders.video and readers.video with the threads that users have, in processes of their own.

    python tests/mutated_videos/sweep.py COUNT [--first N] [--workers N] [--kinds mpeg4 h264 ...]

Each video is known by its number alone: a clip that the ffmpeg command made, with bits turned, bytes zeroed or its end cut off.
It must give frames or an error of the data that names the operator and, of a file, the file. A process that dies, a video that
takes longer than 5 seconds (twice: the machine may be busy) and any other error are reported; then the exit status is 1.
"""
import argparse
import collections
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LONGEST = 5.0  # seconds for one video
FRAMES, SIZE = 14, "80x48"
PLAIN = ["-pix_fmt", "yuv420p"]
# Name: (file, encoder and its options). A decoder's slices and B-frames take other paths than its plain pictures.
CLIPS = {
    "mpeg4": ("mpeg4.avi", ["mpeg4", "-g", "6", "-q:v", "3"]),
    "mpeg4_b": ("mpeg4_b.mp4", ["mpeg4", "-g", "6", "-bf", "2", "-q:v", "3"]),
    "xvid": ("xvid.avi", ["libxvid", "-g", "6", "-q:v", "3"]),
    "h264": ("h264.mp4", ["libx264", "-g", "6", "-bf", "2", *PLAIN]),
    "h264_slices": ("h264_slices.ts", ["libx264", "-g", "6", "-x264-params", "slices=3", *PLAIN]),
    "h264_raw": ("h264_raw.264", ["libx264", "-g", "6", "-bf", "2", *PLAIN]),
    "hevc": ("hevc.mp4", ["libx265", "-g", "6", "-x265-params", "log-level=none:pools=1", *PLAIN]),
    "hevc_raw": ("hevc_raw.hevc", ["libx265", "-g", "6", "-x265-params", "log-level=none:pools=1", *PLAIN]),
    "vp8": ("vp8.webm", ["libvpx", "-g", "6", "-b:v", "200k", "-deadline", "realtime"]),
    "vp9": ("vp9.webm", ["libvpx-vp9", "-g", "6", "-b:v", "200k", "-deadline", "realtime", "-cpu-used", "8"]),
    "av1": ("av1.mkv", ["libaom-av1", "-g", "6", "-cpu-used", "8", "-usage", "realtime", "-b:v", "200k"]),
    "mpeg2": ("mpeg2.mpg", ["mpeg2video", "-g", "6", "-bf", "2", "-q:v", "3"]),
    "mpeg2_ts": ("mpeg2.ts", ["mpeg2video", "-g", "6", "-q:v", "3"]),
    "mjpeg": ("mjpeg.avi", ["mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"]),
    "theora": ("theora.ogv", ["libtheora", "-g", "6", "-q:v", "6"]),
    "flv": ("flv.flv", ["flv", "-g", "6", "-q:v", "3"]),
    "wmv2": ("wmv2.asf", ["wmv2", "-g", "6", "-q:v", "3"]),
    "prores": ("prores.mov", ["prores_ks", "-pix_fmt", "yuv422p10le"]),
    "ffv1": ("ffv1.mkv", ["ffv1", "-level", "3", *PLAIN]),
    "huffyuv": ("huffyuv.avi", ["huffyuv", "-pix_fmt", "yuv422p"]),
}
WAYS = ["decoder", "decoder_skip", "reader", "reader_skip"]


def make_clips(folder, kinds=tuple(CLIPS)):
    """Those that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        name, codec = CLIPS[kind]
        if not (folder / name).exists():
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={SIZE}:rate=25", "-frames:v",
                            str(FRAMES), "-c:v", *codec, "-threads", "1", "-y", str(folder / name)], check=True)


def mutated(clip, number):
    """The bytes of `clip` (uint8) with the damage of this number."""
    random = np.random.default_rng(number)
    bad, size = clip.copy(), len(clip)
    how = random.integers(8)
    if how < 4:  # most damage of disks and memory
        for _ in range([1, 1, 3, 12][how]):
            bad[random.integers(size)] ^= 1 << random.integers(8)
    elif how < 7:
        at, length = random.integers(size), [16, 512, 40][how - 4]
        bad[at:at + length] = 0 if how < 6 else random.integers(0, 256, len(bad[at:at + length]))
    else:
        bad = bad[:random.integers(size)]
    return bad


class Decoding:
    """Decodes damaged videos in all ways; check() gives "frames", "error", "skipped" or what is wrong."""

    def __init__(self, folder, kinds):
        self.folder, self.kinds = Path(folder), kinds
        self.clips = {kind: np.fromfile(self.folder / CLIPS[kind][0], np.uint8) for kind in kinds}
        self.own = tempfile.TemporaryDirectory()
        self.pipe, self.given = None, None

    def check(self, number):
        import penstock
        kind = self.kinds[number % len(self.kinds)]
        way = WAYS[number // len(self.kinds) % len(WAYS)]
        bad = mutated(self.clips[kind], number)
        operator, path = "decoders.video", None
        if way.startswith("reader"):
            operator, path = "readers.video", Path(self.own.name) / f"{number}{Path(CLIPS[kind][0]).suffix}"
            bad.tofile(path)
        try:
            return getattr(self, way)(bad, path, kind, 2 + number % 3)
        except penstock.DataError as error:
            text = str(error)
            named = f"[{operator}]" in text and (path is None or path.name in text)
            return "error" if named else f"an error that does not name what is wrong: {text}"
        except ValueError as error:  # the clip is cut off before its first byte
            return "error" if len(bad) == 0 else f"{type(error).__name__}: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            if path:
                path.unlink()

    def frames(self, frames):
        array = np.asarray(frames)
        return "frames" if array.dtype == np.uint8 and array.ndim == 4 and array.shape[3] == 3 and len(array) else f"{array.shape}"

    def decoder(self, bad, path, kind, threads):
        from penstock import fn
        return self.frames(fn.decoders.video([bad])[0])

    def decoder_skip(self, bad, path, kind, threads):
        from penstock import fn, pipeline_def

        @pipeline_def(batch_size=2, num_threads=2, prefetch_queue_depth=1, on_error="skip")
        def pipeline():
            return fn.decoders.video(fn.external_source(lambda: self.given, batch=True))

        self.given = [bad, self.clips[kind]]
        self.pipe = self.pipe or pipeline()
        frames, = self.pipe.run()
        return self.frames(frames[0]) if len(frames) == 2 else "skipped" if len(frames) == 1 else f"{len(frames)} samples"

    def read(self, path, kind, threads, on_error):
        from penstock import fn, pipeline_def
        good = self.folder / CLIPS[kind][0]

        @pipeline_def(batch_size=2, num_threads=threads, prefetch_queue_depth=1, on_error=on_error)
        def pipeline():
            return fn.readers.video(filenames=[str(path), str(good)], sequence_length=5, name="reader")

        pipe, counted = pipeline(), 0
        for _ in range(-(-pipe.reader_meta("reader")["epoch_size"] // 2)):
            try:
                counted += len(pipe.run()[0])
            except StopIteration:
                break
        return "frames" if counted else "no sample at all"

    def reader(self, bad, path, kind, threads):
        return self.read(path, kind, threads, "raise")

    def reader_skip(self, bad, path, kind, threads):
        return self.read(path, kind, threads, "skip")


def work(folder, kinds, numbers):
    """In a process of its own: says each number before it is tried and, after it, what came of it."""
    decoding = Decoding(folder, kinds)
    for number in numbers:
        print("try", number, flush=True)
        said = decoding.check(number).replace("\n", " | ")
        print("got", number, said, flush=True)


class Worker:
    """A process that tries numbers; the next one takes over where it dies or hangs."""

    def __init__(self, folder, kinds, numbers):
        self.arguments, self.left, self.process = (str(folder), kinds), collections.deque(numbers), None
        self.buffer, self.trying, self.since, self.again = b"", None, time.monotonic(), None
        self.start()

    def start(self):
        self.trying, self.since, self.buffer = None, time.monotonic(), b""
        if self.left:
            step = self.left[1] - self.left[0] if len(self.left) > 1 else 1
            command = [sys.executable, __file__, "0", "--folder", self.arguments[0], "--kinds", *self.arguments[1], "--numbers",
                       str(self.left[0]), str(self.left[-1] + 1), str(step)]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def hear(self):
        """What came of numbers since the last call: (number, text)."""
        ready, _, _ = select.select([self.process.stdout], [], [], 0.05)
        if ready:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                code = self.process.wait()
                if not self.left:
                    return
                number = self.left.popleft() if self.trying is not None else None
                if number is None:
                    raise SystemExit(f"a worker ended with {code} before it had tried a video")
                yield number, f"the process died: {signal.Signals(-code).name if code < 0 else code}"
                self.start()
                return
            *lines, self.buffer = (self.buffer + data).split(b"\n")
            for line in lines:
                word, number, *rest = line.decode(errors="replace").split(" ", 2)
                if word == "try":
                    self.trying, self.since = int(number), time.monotonic()
                elif word == "got":
                    self.left.popleft()
                    self.trying = None
                    yield int(number), rest[0]
        elif self.trying is not None and time.monotonic() - self.since > LONGEST:
            self.process.kill()
            self.process.wait()
            if self.again == self.trying:
                yield self.left.popleft(), f"more than {LONGEST:g} s"
            self.again = self.trying
            self.start()


def sweep(count, first=0, workers=2, kinds=tuple(CLIPS), folder=None, every=0):
    """(how often what came, [(number, kind, way, what is wrong)])."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(folder or made)
        make_clips(folder, kinds)
        kinds = list(kinds)
        running = [Worker(folder, kinds, range(first + k, first + count, workers)) for k in range(min(workers, count))]
        counts, wrong, done = collections.Counter(), [], 0
        while any(worker.left for worker in running):
            for worker in running:
                for number, text in worker.hear() if worker.left else ():
                    done += 1
                    fine = text in ("frames", "error", "skipped")
                    counts[text if fine else "wrong"] += 1
                    if not fine:
                        wrong.append((number, kinds[number % len(kinds)], WAYS[number // len(kinds) % len(WAYS)], text))
                        if every:
                            print("WRONG", *wrong[-1], flush=True)
                    if every and done % every == 0:
                        print(done, dict(counts), flush=True)
        for worker in running:
            worker.process.wait()
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--kinds", nargs="*", choices=CLIPS, default=list(CLIPS))
    parser.add_argument("--folder", help="of the clips; they stay there")
    parser.add_argument("--numbers", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.numbers:
        return work(options.folder, options.kinds, range(*options.numbers))
    began = time.monotonic()
    counts, wrong = sweep(options.count, options.first, options.workers, options.kinds, options.folder, every=1000)
    print(f"{options.count} damaged videos in {time.monotonic() - began:.0f} s: {dict(counts)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
