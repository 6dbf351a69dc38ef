# SPDX-License-Identifier: Apache-2.0
"""Runs pipelines on a GPU for minutes and watches the memory: python soak.py --data FOLDER [--seconds 570] [--out FILE]

Pipelines are made, run for some batches and closed, one after the other; immediate calls run between them. Every ten
seconds the resident memory of the process and the used memory of the device are noted. Both are flat when the median of
the last third is at most 2 % or 32 MB above that of the second third (the first third fills pools and caches).
Ends with 1 if one is not.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure import Settings  # noqa: E402
from suites.pipelines import decode, resnet50, yolo  # noqa: E402

ALLOWED, ALLOWED_MB = 1.02, 32.0


def resident_mb():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024


def device_mb():
    free, total = torch.cuda.mem_get_info()
    return (total - free) / 2**20


def immediate_calls(fn, images):
    for image in images:
        fn.resize(fn.flip(image, horizontal=1), size=[96, 96])
    try:
        fn.decoders.image(numpy.zeros(100, numpy.uint8), device="mixed")
    except Exception:  # an error is part of the soak: it must not keep anything
        pass


def flat(values):
    third = len(values) // 3
    middle, last = statistics.median(values[third : 2 * third]), statistics.median(values[2 * third :])
    return last <= max(middle * ALLOWED, middle + ALLOWED_MB), middle, last


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--seconds", type=float, default=570)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    from penstock import fn

    settings = Settings(data=options.data)
    images = [numpy.random.default_rng(i).integers(0, 255, (100 + i, 150, 3), numpy.uint8) for i in range(16)]
    images = [torch.from_numpy(image).cuda() for image in images]
    makes = (
        lambda: resnet50("penstock", settings, 4),
        lambda: yolo("penstock", settings, 4),
        lambda: decode("penstock", settings, 4),
    )
    begin = noted = time.monotonic()
    memory, pipelines, batches = [], 0, 0
    while time.monotonic() - begin < options.seconds:
        pipeline = makes[pipelines % len(makes)]()
        for _ in range(24):
            pipeline.run()
            batches += 1
        pipelines += 1
        if pipelines % 2:
            pipeline.close()
        del pipeline
        immediate_calls(fn, images)
        if time.monotonic() - noted >= 10:
            noted = time.monotonic()
            memory.append((noted - begin, resident_mb(), device_mb()))
            print(
                f"{memory[-1][0]:6.0f} s  resident {memory[-1][1]:8.1f} MB  device {memory[-1][2]:8.1f} MB", flush=True
            )
    said = [f"{pipelines} pipelines, {batches} batches in {time.monotonic() - begin:.0f} s"]
    good = len(memory) >= 6
    for name, column in (("resident", 1), ("device", 2)):
        is_flat, middle, last = flat([row[column] for row in memory])
        good = good and is_flat
        said.append(
            f"{name} memory: {middle:.1f} MB in the second third, {last:.1f} MB in the last: {'flat' if is_flat else 'GROWS'}"
        )
    said += [f"{at:6.0f} s  resident {a:8.1f} MB  device {b:8.1f} MB" for at, a, b in memory]
    print("\n".join(said[:3]))
    if options.out:
        options.out.write_text("\n".join(said) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
