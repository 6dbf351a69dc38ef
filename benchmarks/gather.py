# SPDX-License-Identifier: Apache-2.0
"""The family gather on one thread: remap, beside OpenCV and beside another build.

    taskset -c 1 env PYTHONPATH=python python benchmarks/gather.py [--before FOLDER_WITH_PENSTOCK] [--rounds 15]

Each build runs in a process of its own; rounds are interleaved. Milliseconds are medians; a ratio is the median of the
rounds' ratios, so that a change of the clock has less weight."""

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

SIZES = {"512x512": (512, 512), "1080p": (1080, 1920)}
FILTERS = {"nearest": 0, "linear": 1, "cubic": 2}
CASES = [(s, t, c, f) for s in SIZES for t in ("uint8", "float32") for c in (1, 3, 4) for f in FILTERS]


def data(size, dtype, channels):
    """An image and a map that bends it by up to 8 pixels; a few percent of it are outside."""
    h, w = SIZES[size]
    y, x = np.mgrid[:h, :w].astype(np.float32)
    mapx, mapy = x + 8 * np.sin(y / 30) + 0.3, y + 8 * np.cos(x / 40) + 0.2
    image = np.random.default_rng(0).integers(0, 256, (h, w, channels)).astype(dtype)
    return image, mapx.astype(np.float32), mapy.astype(np.float32)


def call_of(library, case):
    size, dtype, channels, name = case
    image, mapx, mapy = data(size, dtype, channels)
    if library == "opencv":
        import cv2

        cv2.setNumThreads(1)
        kind = (cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_CUBIC)[FILTERS[name]]
        return lambda: cv2.remap(image, mapx, mapy, kind)
    from penstock import fn

    return lambda: fn.remap(image, mapx, mapy, interp=FILTERS[name], pixel_origin="center")


def work(library):
    """Answers the number of a case by the milliseconds of its fastest of three calls."""
    calls = {}
    for line in sys.stdin:
        number = int(line)
        if number not in calls:
            calls.clear()
            calls[number] = call_of(library, CASES[number])
            calls[number]()
        best = np.inf
        for _ in range(3):
            begin = time.perf_counter()
            calls[number]()
            best = min(best, time.perf_counter() - begin)
        print(best * 1e3, flush=True)


def worker(library, folder=None):
    environment = {**os.environ, "PYTHONPATH": folder} if folder else None
    command = [sys.executable, __file__, "--worker", library]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
    )


def ask(process, number):
    process.stdin.write(f"{number}\n")
    return float(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--worker")
    options = parser.parse_args()
    if options.worker:
        return work(options.worker)
    workers = {"OpenCV": worker("opencv"), "now": worker("penstock")}
    if options.before:
        workers["before"] = worker("penstock", options.before)
    names = list(workers)
    print(f"| remap | {' ms | '.join(names)} ms | OpenCV / now{' | before / now' if options.before else ''} |")
    print("|---" * (len(names) + 2 + bool(options.before)) + "|")
    for number, (size, dtype, channels, name) in enumerate(CASES):
        times = {n: [] for n in names}
        for _ in range(options.rounds):
            for n in names:
                times[n].append(ask(workers[n], number))
        ratio = lambda other: statistics.median(a / b for a, b in zip(times[other], times["now"]))
        cells = [f"{statistics.median(times[n]):.2f}" for n in names]
        cells += [f"{ratio(other):.2f} x" for other in names if other != "now"]
        print(f"| {size} {dtype} x {channels} {name} | {' | '.join(cells)} |", flush=True)
    for process in workers.values():
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
