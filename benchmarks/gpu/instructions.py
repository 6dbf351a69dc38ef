# SPDX-License-Identifier: Apache-2.0
"""Instructions that the host spends on calls of work for a GPU, counted by callgrind: the same number on a busy machine.

    python benchmarks/gpu/instructions.py [CASE ...] [--keep FOLDER]

Needs valgrind and the emulated GPU of the build (PENSTOCK_GPU_LIBRARY). Kernels and copies do nothing. What is counted is all
threads of a call, the interpreter and the emulation's own bookkeeping included; "one more" is eight operators less one, by
seven. hsv and gaussian_blur have a random argument for each sample of 256 pictures of 8 x 8, crop (random_resized_crop,
crop_mirror_normalize) takes 256 of different sizes, crop_call is the same as two immediate calls, flip one of one picture.
--keep leaves callgrind's files, for callgrind_annotate.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

BATCH = 256


def ragged():
    import numpy as np

    import penstock

    random = np.random.default_rng(0)
    sizes = random.integers(24, 64, (BATCH, 2))
    return penstock.batch([np.zeros((h, w, 3), np.uint8) for h, w in sizes], layout="HWC").gpu()


def alike():
    import numpy as np

    import penstock

    return penstock.batch([np.zeros((8, 8, 3), np.uint8) for _ in range(BATCH)], layout="HWC").gpu()


def pipeline(images, body):
    from penstock import fn, pipeline_def

    @pipeline_def(batch_size=len(images), num_threads=1, device_id=0, prefetch_queue_depth=1)
    def pipe():
        return body(fn.external_source(source=lambda: images, device="gpu", batch=True, layout="HWC"))

    built = pipe()
    built.build()
    return built.run


def hsv(times):
    from penstock import fn

    def body(x):
        for _ in range(times):
            x = fn.hsv(x, hue=fn.random.uniform(range=(-9.0, 9.0)))
        return x

    return pipeline(alike(), body)


def blur(times):
    from penstock import fn

    def body(x):
        for _ in range(times):
            x = fn.gaussian_blur(x, sigma=fn.random.uniform(range=(0.5, 0.9)), window_size=3)
        return x

    return pipeline(alike(), body)


def crop():
    from penstock import fn, types

    def body(x):
        x = fn.random_resized_crop(x, size=[16, 16], interp_type=types.INTERP_LINEAR, antialias=False)
        mirror = fn.random.coin_flip(probability=0.5)
        return fn.crop_mirror_normalize(
            x,
            dtype=types.FLOAT16,
            output_layout="CHW",
            crop=(16, 16),
            mirror=mirror,
            mean=[123.7, 116.3, 103.5],
            std=[58.4, 57.1, 57.4],
        )

    return pipeline(ragged(), body)


def crop_call():
    """The same as two immediate calls."""
    from penstock import fn, types

    images = ragged()

    def run():
        x = fn.random_resized_crop(images, size=[16, 16], interp_type=types.INTERP_LINEAR, antialias=False)
        return fn.crop_mirror_normalize(
            x,
            dtype=types.FLOAT16,
            output_layout="CHW",
            crop=(16, 16),
            mirror=1,
            mean=[123.7, 116.3, 103.5],
            std=[58.4, 57.1, 57.4],
        )

    return run


def flip():
    import numpy as np

    import penstock
    from penstock import fn

    one = penstock.batch([np.zeros((8, 8, 3), np.uint8)], layout="HWC").gpu()
    return lambda: fn.flip(one, horizontal=1)


CASES = {
    "copy": (lambda: hsv(0), 20),
    "hsv_1": (lambda: hsv(1), 20),
    "hsv_8": (lambda: hsv(8), 20),
    "blur_1": (lambda: blur(1), 20),
    "blur_8": (lambda: blur(8), 20),
    "crop": (crop, 20),
    "crop_call": (crop_call, 20),
    "flip": (flip, 500),
}


def work(name):
    make, calls = CASES[name]
    run = make()
    for _ in range(5):
        run()
    control = ["callgrind_control", str(os.getpid())]
    subprocess.run([*control, "--instr=on"], check=True, stdout=subprocess.DEVNULL)
    for _ in range(calls):
        run()
    subprocess.run([*control, "--instr=off"], check=True, stdout=subprocess.DEVNULL)


def count(name, keep):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(keep or folder, f"callgrind.{name}")
        env = {**os.environ, "PENSTOCK_EMULATED_LAUNCHES": "off", "PENSTOCK_KERNELS": "compiled", "PYTHONHASHSEED": "0"}
        command = [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            f"--callgrind-out-file={out}",
            sys.executable,
            __file__,
        ]
        done = subprocess.run([*command, "--work", name], env=env, capture_output=True, text=True)
        collected = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not collected:
            sys.exit(done.stderr)
        return int(collected[1]) / CASES[name][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--keep")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        return work(args.work)
    counts = {}
    for name in args.cases or CASES:
        counts[name] = count(name, args.keep)
        print(f"{name:20} {counts[name]:12,.0f} instructions a call", flush=True)
    for name in ("hsv", "blur"):
        if {f"{name}_1", f"{name}_8"} <= counts.keys():
            print(f"one more {name:11} {(counts[f'{name}_8'] - counts[f'{name}_1']) / 7:12,.0f}")


if __name__ == "__main__":
    main()
