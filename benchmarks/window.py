# SPDX-License-Identifier: Apache-2.0
"""Dilation on one CPU thread, beside OpenCV, and beside another checkout.

    taskset -c 1 python benchmarks/window.py [--before PYTHONPATH_OF_ANOTHER_CHECKOUT] [--rounds 7] > results/window.md

Each round runs a process for each checkout, one after the other; the table has medians over the rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SHAPES = {"512 x 512 x 3": (512, 512, 3), "1080 x 1920 x 3": (1080, 1920, 3)}
MASKS = [3, 9, 31]
TYPES = ["uint8", "float32"]
SECONDS = 0.25  # of each measurement


def measure(call, most=10**6):
    call()
    times, until = [], time.perf_counter() + SECONDS
    while len(times) < 3 or (time.perf_counter() < until and len(times) < most):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def worker(slow):
    import cv2
    import numpy as np

    import penstock
    from penstock import fn

    cv2.setNumThreads(1)
    found = {}
    for shape_name, shape in SHAPES.items():
        for dtype in TYPES:
            image = (np.random.default_rng(0).random(shape) * 255).astype(dtype)
            batch = penstock.batch([image], layout="HWC")
            for k in MASKS:
                if slow and k > 9:
                    continue
                row = {"Penstock": measure(lambda: fn.dilate(batch, mask_size=[k, k]))}
                if not slow:
                    kernel = np.ones((k, k), np.uint8)
                    row["OpenCV"] = measure(lambda: cv2.dilate(image, kernel))
                    if k < 31:
                        np.testing.assert_array_equal(
                            fn.dilate(batch, mask_size=[k, k])[0].numpy(), cv2.dilate(image, kernel)
                        )
                found[f"{shape_name} {dtype} {k} x {k}"] = row
    print(json.dumps(found))


def run(path, slow):
    command = [sys.executable, __file__, "--worker", *(["--slow"] if slow else [])]
    return json.loads(
        subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="PYTHONPATH of the other checkout")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--slow", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.slow)
    here = str(Path(__file__).resolve().parents[1] / "python")
    after, before = [], []
    for _ in range(options.rounds):
        after.append(run(here, False))
        if options.before:
            before.append(run(options.before, True))
    median = lambda rounds, key, who: statistics.median(r[key][who] for r in rounds)
    print("| dilate | before, ms | OpenCV, ms | after, ms | OpenCV / after |\n|---|---|---|---|---|")
    for key in after[0]:
        ours, theirs = median(after, key, "Penstock"), median(after, key, "OpenCV")
        was = f"{median(before, key, 'Penstock'):.1f}" if before and key in before[0] else ""
        print(f"| {key} | {was} | {theirs:.3f} | {ours:.3f} | {theirs / ours:.2f} |")


if __name__ == "__main__":
    main()
