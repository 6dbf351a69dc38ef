# SPDX-License-Identifier: Apache-2.0
"""Image processors of transformers beside penstock.plugin.transformers: differences and images a second, from JPEG bytes.

    python benchmarks/transformers_processors.py [COUNT] [ROUNDS] > benchmarks/results/transformers_processors.md

Theirs: Pillow decodes, the processor on torchvision (their default) prepares. Both take the files of a batch of 32 from memory, in turn.
"""

import io
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import photos
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import transformers_oracle as oracle  # noqa: E402

from penstock.plugin.transformers import processor  # noqa: E402

BATCH = 32
THREADS = 2


def decoded(files):
    return [np.asarray(Image.open(io.BytesIO(file)).convert("RGB")) for file in files]


def differences(name, theirs, ours, files):
    """(largest difference in steps of 255, part of the elements that differ by more than one)"""
    largest, beyond, count = 0.0, 0, 0
    for begin in range(0, len(files), 8):
        part = files[begin : begin + 8]
        expected, made = oracle.prepared(theirs, decoded(part)), ours(part)
        for key, array in expected.items():
            got = np.asarray(made[key])
            assert got.shape == array.shape, (name, key, got.shape, array.shape)
            if key != "pixel_values":
                assert (got == array).all(), (name, key)
                continue
            steps = np.abs(got - array) * 255 * min(theirs.image_std)
            largest = max(largest, float(steps.max()))
            beyond, count = beyond + int((steps > 1.1).sum()), count + steps.size
    return largest, beyond / count


def speeds(theirs, ours, files, rounds):
    """(theirs, ours) in images a second, medians of rounds in turn."""
    times = [[], []]
    for k in range(rounds + 1):
        part = [files[(k * BATCH + i) % len(files)] for i in range(BATCH)]
        for taken, call in zip(times, (lambda: oracle.prepared(theirs, decoded(part)), lambda: ours(part))):
            begin = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begin)
    return [BATCH / statistics.median(taken[1:]) for taken in times]


def main():
    count, rounds = int((sys.argv[1:] or [200])[0]), int((sys.argv[2:] or [7])[0])
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        files = [path.read_bytes() for path in photos.write_folder(folder, "coco", count)]
    print(f"# Image processors of transformers {oracle.transformers.__version__}\n")
    print(
        f"{count} JPEG files of random sizes; {THREADS} threads, batches of {BATCH}. A step is 1 of 255 before normalization.\n"
    )
    print("| class | largest difference, steps | elements beyond 1 step | theirs, images/s | ours, images/s | ratio |")
    print("|---|---|---|---|---|---|")
    for name in oracle.CLASSES:
        theirs = oracle.fast(name)
        ours = processor(theirs, num_threads=THREADS)
        largest, beyond = differences(name, theirs, ours, files)
        before, after = speeds(theirs, ours, files, rounds)
        print(
            f"| {name} | {largest:.2f} | {beyond:.2g} | {before:.0f} | {after:.0f} | {after / before:.1f} |", flush=True
        )


if __name__ == "__main__":
    main()
