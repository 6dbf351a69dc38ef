# SPDX-License-Identifier: Apache-2.0
"""Times of single operators on the GPU, for builds side by side: 32 photographs' worth of 1080p uint8 RGB.

    python benchmarks/gpu/operators.py --out operators.md BEFORE AFTER

BEFORE and AFTER are folders with an installed package. Each round starts a process for each build; a time is that of one
call among 12 that the device works off in a row. The table has the medians of the rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

BATCH, HEIGHT, WIDTH, CALLS = 32, 1080, 1920, 12


def programs():
    import numpy as np
    import torch

    import penstock
    from penstock import fn, types

    torch.manual_seed(0)
    coarse = torch.rand(BATCH, 3, HEIGHT // 36, WIDTH // 36, device="cuda") * 255
    pixels = torch.nn.functional.interpolate(coarse, size=(HEIGHT, WIDTH), mode="bilinear")
    pixels = pixels.to(torch.uint8).permute(0, 2, 3, 1).contiguous()
    images = penstock.batch(list(pixels), layout="HWC")
    y, x = torch.meshgrid(torch.arange(HEIGHT, device="cuda"), torch.arange(WIDTH, device="cuda"), indexing="ij")
    maps = [x + 6 * torch.sin(y / 20), y + 6 * torch.cos(x / 20)]
    maps = [m.float().contiguous() for m in maps]
    tilted = [1, 0.1, -10, 0.05, 1, 5, 1e-4, 2e-4, 1]
    mean = np.full((7, 7), 1 / 49, np.float32)
    return {
        "copy": lambda: pixels.clone(),
        "remap linear": lambda: fn.remap(images, *maps),
        "remap nearest": lambda: fn.remap(images, *maps, interp=types.INTERP_NN),
        "remap cubic": lambda: fn.remap(images, *maps, interp=types.INTERP_CUBIC),
        "dilate 3 x 3": lambda: fn.dilate(images, mask_size=[3, 3]),
        "dilate 9 x 9": lambda: fn.dilate(images, mask_size=[9, 9]),
        "erode 9 x 9": lambda: fn.erode(images, mask_size=[9, 9]),
        "dilate 31 x 31": lambda: fn.dilate(images, mask_size=[31, 31]),
        "warp_perspective": lambda: fn.warp_perspective(images, matrix=tilted),
        "laplacian 3": lambda: fn.laplacian(images, window_size=3),
        "correlate 7 x 7": lambda: fn.correlate(images, mean),
        "noise.gaussian": lambda: fn.noise.gaussian(images, stddev=10.0),
        "noise.shot": lambda: fn.noise.shot(images, factor=10.0),
        "noise.salt_and_pepper": lambda: fn.noise.salt_and_pepper(images, prob=0.05),
        "median_blur 3": lambda: fn.median_blur(images, window_size=3),
        "median_blur 5": lambda: fn.median_blur(images, window_size=5),
        "equalize": lambda: fn.equalize(images),
        "histogram": lambda: fn.histogram(images),
        "clahe": lambda: fn.clahe(images, tiles_x=8, tiles_y=8, clip_limit=2.0),
        "lookup_table": lambda: fn.lookup_table(images, keys=list(range(256)), values=list(range(255, -1, -1))),
        "water": lambda: fn.water(images),
        "sphere": lambda: fn.sphere(images),
        "jitter": lambda: fn.jitter(images),
        "jpeg_compression_distortion": lambda: fn.jpeg_compression_distortion(images, quality=50),
        "laplacian 7": lambda: fn.laplacian(images, window_size=7),
        "correlate 3 x 3": lambda: fn.correlate(images, np.full((3, 3), 1 / 9, np.float32)),
        "rgb to bgr": lambda: fn.color_space_conversion(images, image_type=types.RGB, output_type=types.BGR),
        "to float32": lambda: fn.cast(images, dtype=types.FLOAT),
    }


def measure(seconds):
    """Microseconds of one call by name; None: the build lacks it."""
    import torch

    found, end = {}, time.monotonic() + seconds
    for name, call in programs().items():
        if time.monotonic() > end:
            break
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(2):
                    call()
                torch.cuda.synchronize()
                times = []
                for _ in range(3):
                    start = time.perf_counter()
                    for _ in range(CALLS):
                        call()
                    torch.cuda.synchronize()
                    times.append((time.perf_counter() - start) / CALLS * 1e6)
                found[name] = statistics.median(times)
        except Exception as e:
            print(name, type(e).__name__, str(e).splitlines()[0][:160], file=sys.stderr)
            found[name] = None
    return found


def table(builds, rounds):
    lines = [
        "| operator | " + " | ".join(f"{b}, µs" for b in builds) + " | first / last |",
        "|---|" + "---|" * (len(builds) + 1),
    ]
    for name in rounds[builds[-1]][0]:
        values = []
        for build in builds:
            own = [r[name] for r in rounds[build] if r.get(name)]
            values.append(statistics.median(own) if own else None)
        ratio = f"{values[0] / values[-1]:.2f}" if values[0] and values[-1] else ""
        lines.append(f"| {name} | " + " | ".join(f"{v:.0f}" if v else "" for v in values) + f" | {ratio} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", metavar="FOLDER")
    parser.add_argument("--names", nargs="*", default=["before", "after"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="of one process")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    if not arguments.builds:
        print(json.dumps(measure(arguments.seconds)))
        return
    names = arguments.names[-len(arguments.builds) :]
    rounds = {name: [] for name in names}
    for _ in range(arguments.rounds):
        for name, folder in zip(names, arguments.builds):
            run = subprocess.run(
                [sys.executable, __file__, "--seconds", str(arguments.seconds)],
                env={**os.environ, "PYTHONPATH": folder, "PENSTOCK_KERNELS": "compiled"},
                stdout=subprocess.PIPE,
                text=True,
                timeout=300,
            )
            if run.returncode == 0:
                rounds[name].append(json.loads(run.stdout.splitlines()[-1]))
    text = table(names, rounds)
    print(text)
    if arguments.out:
        with open(arguments.out, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
