# SPDX-License-Identifier: Apache-2.0
"""NV12 frames of 1080p to a network's input, float16 CHW of 640 x 640: one stage on the GPU, beside the rate of a copy.

    python benchmarks/gpu/frames.py [--batch N] [--rounds N]

The bytes of a batch are those of the frames and of the result. A time is that of one iteration among `--rounds` in a row.
"""

import argparse
import time

import torch

import penstock
from penstock import Pipeline, fn, types

HEIGHT, WIDTH, SIDE = 1080, 1920, 640


def pipeline(batch, antialias):
    frames = torch.randint(0, 256, (batch, HEIGHT * 3 // 2, WIDTH, 1), dtype=torch.uint8, device="cuda")
    given = penstock.batch(list(frames), layout="HWC")
    made = Pipeline(batch_size=batch, num_threads=4, device_id=0)
    with made:
        x = fn.external_source(
            lambda: given, dtype=types.UINT8, ndim=3, layout="HWC", batch=True, no_copy=True, device="gpu"
        )
        x = fn.color_space_conversion(x, image_type="NV12", output_type=types.RGB)
        x = fn.resize(x, size=[SIDE, SIDE], antialias=antialias)
        numbers = {"mean": [123.0, 117.0, 104.0], "std": [58.0, 57.0, 57.0]}
        made.set_outputs(fn.crop_mirror_normalize(x, dtype=types.FLOAT16, output_layout="CHW", **numbers))
    made.build()
    return made


def seconds(call, rounds):
    for _ in range(12):  # compiles, and takes memory
        call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(rounds):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    large = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    copied = 2 * large.numel() / seconds(large.clone, options.rounds)
    needed = options.batch * (HEIGHT * 3 // 2 * WIDTH + 3 * SIDE * SIDE * 2)
    print(
        f"a copy: {copied / 1e9:.0f} GB/s; a batch: {needed / 1e6:.0f} MB, {1e6 * needed / copied:.0f} us at that rate"
    )
    for antialias in (False, True):
        made = pipeline(options.batch, antialias)
        print(*(line for line in made.plan().splitlines() if "stage" in line), sep="\n")
        took = seconds(made.run, options.rounds)
        print(f"antialias={antialias}: {1e6 * took:.0f} us, {needed / took / copied:.2f} of a copy's rate", flush=True)


if __name__ == "__main__":
    main()
