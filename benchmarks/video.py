# SPDX-License-Identifier: Apache-2.0
"""Frames per second of 1080p H.264 on the CPU, beside torchcodec, in one run: 2 threads, the file in the page cache.

    python benchmarks/environments.py install torchcodec
    python benchmarks/video.py [--rounds 5] [--frames 600] [--gop 250] [--threads 2] [--data FOLDER] [--write]

sequential: all frames in order, 16 at a time. clips: 50 clips of 10 frames in a row from random places. frames: 500 random
frames, 50 at a time. Both give RGB as uint8, frames first, channels last, and take the same FFmpeg; torchcodec's rate is the best
of its ways (FFmpeg's threads; Python threads with a decoder each). Each library runs in a process of its own that has opened the
file and decoded some of it before the time begins; rounds go in turns, the ratio is the median of the rounds' ratios. Beside the
rates stands what a frame costs in processor time, of all threads and of the system, which other programs on the machine disturb
less; torchcodec's is that of its way of least. --write keeps benchmarks/results/video.*.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from environments import ROOT, python_of

MODES = ["sequential", "clips", "frames"]
CHUNK, CLIPS, CLIP = 16, 50, 10


def write_video(folder, frames, gop):
    path = folder / f"hd_{frames}_{gop}.mp4"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                "ffmpeg",
                "-nostdin",
                "-v",
                "error",
                "-f",
                "lavfi",
                "-i",
                "testsrc2=size=1920x1080:rate=30",
                "-vf",
                "noise=alls=12:allf=t",
                "-frames:v",
                str(frames),
                "-c:v",
                "libx264",
                "-preset",
                "fast",
                "-crf",
                "27",
                "-g",
                str(gop),
                "-pix_fmt",
                "yuv420p",
                "-y",
                str(path),
            ],
            check=True,
        )
    return path


def starts(frames, seed):
    pick = random.Random(seed)
    return [pick.randrange(frames - CLIP) for _ in range(CLIPS)]


def wanted(frames, seed):
    pick = random.Random(seed)
    return [[pick.randrange(frames) for _ in range(CLIPS)] for _ in range(CLIP)]


class Clock:
    """Time on the wall, and of the processor, since it was made."""

    def __init__(self):
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def per_frame(self, frames):
        """Frames a second; milliseconds of the processor a frame."""
        return frames / (time.perf_counter() - self.wall), 1e3 * (time.process_time() - self.processor) / frames


class Penstock:
    def __init__(self, path, mode, frames, threads):
        self.path, self.mode, self.frames, self.threads = path, mode, frames, threads

    def run(self, seed):
        """Makes the pipeline and runs it until its queue is full and its memory has been used; then times three epochs, so that what
        the queue holds when the time begins counts for little."""
        from penstock import fn, pipeline_def

        with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
            if self.mode == "sequential":
                batch, batches, arguments = (
                    1,
                    self.frames // CHUNK,
                    {"filenames": [self.path], "sequence_length": CHUNK},
                )
            elif self.mode == "clips":
                listed.writelines(f"{self.path} 0 {s} {s + CLIP}\n" for s in starts(self.frames, seed))
                batch, batches = 10, CLIPS // 10
                arguments = {"file_list": listed.name, "sequence_length": CLIP, "file_list_format": "frames"}
            else:
                listed.writelines(f"{self.path} 0 {f} {f + 1}\n" for row in wanted(self.frames, seed) for f in row)
                batch, batches = CLIPS, CLIP
                arguments = {"file_list": listed.name, "sequence_length": 1, "file_list_format": "frames"}
            listed.flush()

            @pipeline_def(batch_size=batch, num_threads=self.threads)
            def pipeline():
                out = fn.experimental.readers.video(**arguments)
                return tuple(out) if isinstance(out, (list, tuple)) else out

            pipe = pipeline()
            for _ in range(3):
                pipe.run()
        clock = Clock()
        count = 0
        for _ in range(3 * batches):
            count += sum(sample.shape()[0] for sample in pipe.run()[0])
        return clock.per_frame(count)


class Torchcodec:
    def __init__(self, path, mode, frames, threads):
        import torch

        torch.set_num_threads(threads)
        self.path, self.mode, self.frames, self.threads = path, mode, frames, threads
        self.decoders = {t: [self.make(t)] for t in (1, threads)}
        self.decoders[1] += [self.make(1) for _ in range(threads - 1)]

    def make(self, threads):
        from torchcodec.decoders import VideoDecoder

        return VideoDecoder(self.path, dimension_order="NHWC", num_ffmpeg_threads=threads)

    def tasks(self, seed):
        if self.mode == "sequential":
            return [("range", k, k + CHUNK) for k in range(0, self.frames // CHUNK * CHUNK, CHUNK)]
        if self.mode == "clips":  # ten at a time, in the order of the file, as its samplers ask
            rows = starts(self.frames, seed)
            return [("at", [f for s in rows[k : k + 10] for f in range(s, s + CLIP)]) for k in range(0, CLIPS, 10)]
        return [("at", row) for row in wanted(self.frames, seed)]

    @staticmethod
    def decode(decoder, tasks):
        count = 0
        for task in tasks:
            batch = decoder.get_frames_in_range(*task[1:]) if task[0] == "range" else decoder.get_frames_at(task[1])
            count += batch.data.shape[0]
        return count

    def run(self, seed):
        from concurrent.futures import ThreadPoolExecutor

        tasks, ways = self.tasks(seed), []
        clock = Clock()
        ways.append(clock.per_frame(self.decode(self.decoders[self.threads][0], tasks)))
        if self.threads > 1:
            part = -(-len(tasks) // self.threads)
            with ThreadPoolExecutor(self.threads) as pool:
                clock = Clock()
                counts = pool.map(
                    self.decode, self.decoders[1], [tasks[k * part : (k + 1) * part] for k in range(self.threads)]
                )
                ways.append(clock.per_frame(sum(counts)))
        return max(rate for rate, _ in ways), min(cost for _, cost in ways)


def serve(library, path, mode, frames, threads):
    """Answers each line, a seed, with frames a second and milliseconds of the processor a frame."""
    worker = {"penstock": Penstock, "torchcodec": Torchcodec}[library](path, mode, int(frames), int(threads))
    print("ready", flush=True)
    for line in sys.stdin:
        print(*worker.run(int(line)), flush=True)


def start(library, *arguments):
    python = python_of(library)
    if not python:
        raise SystemExit(f"no environment of {library}: python benchmarks/environments.py install {library}")
    child = subprocess.Popen(
        [python, __file__, "--serve", library, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if child.stdout.readline().strip() != "ready":
        raise SystemExit(f"{library} did not start")
    return child


def ask(child, seed):
    child.stdin.write(f"{seed}\n")
    child.stdin.flush()
    return [float(word) for word in child.stdout.readline().split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--gop", type=int, default=250)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=ROOT / "benchmarks" / "data" / "video")
    parser.add_argument("--modes", nargs="*", default=MODES)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--serve", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(*options.serve)
    path = write_video(options.data, options.frames, options.gop)
    results = {}
    for mode in options.modes:
        children = {
            name: start(name, path, mode, options.frames, options.threads) for name in ("penstock", "torchcodec")
        }
        rates, costs = {name: [] for name in children}, {name: [] for name in children}
        for seed in range(-1, options.rounds):  # the first is not counted
            for name in list(children)[:: 1 if seed % 2 else -1]:
                rate, cost = ask(children[name], max(seed, 0))
                if seed >= 0:
                    rates[name].append(rate)
                    costs[name].append(cost)
        for child in children.values():
            child.stdin.close()
            child.wait()
        ratios = [a / b for a, b in zip(rates["penstock"], rates["torchcodec"])]
        results[mode] = {
            **{name: statistics.median(r) for name, r in rates.items()},
            "ratio": statistics.median(ratios),
            "rounds": rates,
            "processor_ms": {name: statistics.median(c) for name, c in costs.items()},
        }
        print(
            f"{mode}: penstock {results[mode]['penstock']:.1f}, torchcodec {results[mode]['torchcodec']:.1f} frames/s, "
            f"ratio {results[mode]['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f}); processor "
            f"{' and '.join(f'{c:.1f}' for c in results[mode]['processor_ms'].values())} ms a frame",
            flush=True,
        )
    if options.write:
        folder = ROOT / "benchmarks" / "results"
        header = {
            "command": " ".join(["python", *map(str, ["benchmarks/video.py", *sys.argv[1:]])]),
            "threads": options.threads,
            "frames": options.frames,
            "gop": options.gop,
            "machine": platform.processor() or platform.machine(),
            "cores": len(os.sched_getaffinity(0)),
        }
        (folder / "video.json").write_text(json.dumps({**header, "results": results}, indent=1) + "\n")
        rows = [
            f"| {mode} | {r['penstock']:.1f} | {r['torchcodec']:.1f} | {r['ratio']:.2f} | "
            f"{r['processor_ms']['penstock']:.1f} | {r['processor_ms']['torchcodec']:.1f} |"
            for mode, r in results.items()
        ]
        (folder / "video.md").write_text(
            "\n".join(
                [
                    "# Video on the CPU",
                    "",
                    f"`{header['command']}`: 1080p H.264, GOP {options.gop}, {options.threads} threads, frames per second, "
                    "medians; the ratio is the median of the rounds'. ms: processor time of a frame, of all threads.",
                    "",
                    "| work | Penstock | torchcodec | ratio | Penstock's ms | torchcodec's ms |",
                    "|---|---|---|---|---|---|",
                    *rows,
                    "",
                ]
            )
        )


if __name__ == "__main__":
    main()
