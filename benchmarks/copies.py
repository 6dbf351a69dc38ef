# SPDX-License-Identifier: Apache-2.0
"""Operators of layout and copies on one thread, beside OpenCV or NumPy and beside another build.

    taskset -c 1 env OMP_NUM_THREADS=1 PYTHONPATH=python python benchmarks/copies.py [--before FOLDER_WITH_PENSTOCK]
        [--rounds 15] [--only TEXT] [--target avx2]

Each build runs in a process of its own; rounds are interleaved. A call takes images of 512 x 512 x 3, as many as have 6 MB (--megabytes): they
stay in the last cache, so that operators are compared, not memory. Milliseconds
are the minimum of all rounds, of CPU time; a ratio is that of two minima. Freed memory stays with the process, so that
no library pays for new pages."""

import argparse
import os
import subprocess
import sys
import time

import numpy as np


def images(dtype, total):
    """As many images as have so many megabytes."""
    import cv2

    draw = np.random.default_rng(0)
    result = []
    for _ in range(max(1, total * 2**20 // (512 * 512 * 3 * np.dtype(dtype).itemsize))):
        x = cv2.resize(draw.integers(0, 256, (20, 20, 3), np.uint8), (512, 512), interpolation=cv2.INTER_CUBIC)
        noise = draw.integers(-12, 13, x.shape)
        result.append(np.clip(x.astype(int) + noise, 0, 255).astype(dtype))
    return result


def cases():
    """Name: element type, ours on a batch, the peer on an image (None: there is none)."""
    import cv2
    from penstock import fn, types

    u8, f32, quick = np.uint8, np.float32, types.INTERP_LINEAR

    def jpeg(x):
        return cv2.imdecode(cv2.imencode(".jpg", x, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], 1)

    def color(to):
        return lambda b: fn.color_space_conversion(b, image_type=types.RGB, output_type=to)

    def erased(x):
        return cv2.rectangle(x.copy(), (100, 100), (179, 179), 0, -1)

    def bordered(before, after):
        return lambda x: cv2.copyMakeBorder(x, before, after, before, after, cv2.BORDER_CONSTANT)

    def pasted(x):
        y = np.zeros_like(x)
        y[10:210, 20:220] = x[:200, :200]
        y[300:500, 300:500] = x[:200, :200]
        return y

    def permuted(*perm):
        return lambda b: fn.transpose(b, perm=perm), lambda x: np.ascontiguousarray(x.transpose(perm))

    def turned(angle, how):
        return lambda b: fn.rotate(b, angle=angle), lambda x: cv2.rotate(x, how)

    def resized(size, how, cv):
        ours = lambda b: fn.resize(b, size=[size, size], interp_type=how, antialias=False)
        return ours, lambda x: cv2.resize(x, (size, size), interpolation=cv)

    def blurred(size):
        return lambda b: fn.gaussian_blur(b, window_size=size), lambda x: cv2.GaussianBlur(x, (size, size), 0)

    nearest, linear = (types.INTERP_NN, cv2.INTER_NEAREST), (quick, cv2.INTER_LINEAR)
    regions = {"in_ids": [0, 0], "in_anchors": [0, 0, 0, 0], "shapes": [200, 200, 200, 200]}
    flat = cv2.cvtColor
    return {
        "copy": (u8, fn.copy, lambda x: x.copy()),
        "copy float32": (f32, fn.copy, lambda x: x.copy()),
        "transpose 1 0 2": (u8, permuted(1, 0, 2)[0], cv2.transpose),
        "transpose 1 0 2 float32": (f32, permuted(1, 0, 2)[0], cv2.transpose),
        "HWC to CHW": (u8, permuted(2, 0, 1)[0], lambda x: np.stack(cv2.split(x))),
        "HWC to CHW float32": (f32, permuted(2, 0, 1)[0], lambda x: np.stack(cv2.split(x))),
        "transpose 2 1 0": (u8, *permuted(2, 1, 0)),
        "transpose 0 2 1": (u8, *permuted(0, 2, 1)),
        "transpose 1 2 0": (u8, *permuted(1, 2, 0)),
        "rgb to bgr": (u8, color(types.BGR), lambda x: flat(x, cv2.COLOR_RGB2BGR)),
        "rgb to bgr float32": (f32, color(types.BGR), lambda x: flat(x, cv2.COLOR_RGB2BGR)),
        "rgb to ycbcr": (u8, color(types.YCbCr), lambda x: flat(x, cv2.COLOR_RGB2YCrCb)),
        "rgb to gray": (u8, color(types.GRAY), lambda x: flat(x, cv2.COLOR_RGB2GRAY)),
        "rgb to gray float32": (f32, color(types.GRAY), lambda x: flat(x, cv2.COLOR_RGB2GRAY)),
        "pad": (u8, lambda b: fn.pad(b, axes=[0, 1], shape=[640, 640]), bordered(0, 128)),
        "pad float32": (f32, lambda b: fn.pad(b, axes=[0, 1], shape=[640, 640]), bordered(0, 128)),
        "paste": (u8, lambda b: fn.paste(b, ratio=1.25, fill_value=0), bordered(64, 64)),
        "erase": (u8, lambda b: fn.erase(b, anchor=[100, 100], shape=[80, 80], axes=[0, 1]), erased),
        "multi_paste": (u8, lambda b: fn.multi_paste(b, out_anchors=[10, 20, 300, 300], **regions), pasted),
        "cast to float32": (u8, lambda b: fn.cast(b, dtype=types.FLOAT), lambda x: x.astype(np.float32)),
        "cast to uint8": (f32, lambda b: fn.cast(b, dtype=types.UINT8), lambda x: cv2.convertScaleAbs(x)),
        "cat 0": (u8, lambda b: fn.cat(b, b, axis=0), lambda x: cv2.vconcat([x, x])),
        "cat 1": (u8, lambda b: fn.cat(b, b, axis=1), lambda x: cv2.hconcat([x, x])),
        "cat 2": (u8, lambda b: fn.cat(b, b, axis=2), lambda x: np.concatenate([x, x], 2)),
        "stack 0": (u8, lambda b: fn.stack(b, b), lambda x: np.stack([x, x])),
        "stack 3": (u8, lambda b: fn.stack(b, b, axis=3), lambda x: np.stack([x, x], 3)),
        "flip": (u8, lambda b: fn.flip(b, horizontal=1), lambda x: cv2.flip(x, 1)),
        "flip float32": (f32, lambda b: fn.flip(b, horizontal=1), lambda x: cv2.flip(x, 1)),
        "flip vertical": (u8, lambda b: fn.flip(b, horizontal=0, vertical=1), lambda x: cv2.flip(x, 0)),
        "flip both": (u8, lambda b: fn.flip(b, horizontal=1, vertical=1), lambda x: cv2.flip(x, -1)),
        "rotate 90": (u8, *turned(90, cv2.ROTATE_90_COUNTERCLOCKWISE)),
        "rotate 180": (u8, *turned(180, cv2.ROTATE_180)),
        "rotate 270": (u8, *turned(270, cv2.ROTATE_90_CLOCKWISE)),
        "crop 224": (u8, lambda b: fn.crop(b, crop=(224, 224)), lambda x: x[144:368, 144:368].copy()),
        "grid_mask": (u8, lambda b: fn.grid_mask(b, tile=50, ratio=0.4), None),
        "grid_mask turned": (u8, lambda b: fn.grid_mask(b, tile=50, ratio=0.4, angle=0.3), None),
        "resize 224 nearest": (u8, *resized(224, *nearest)),
        "resize 640 nearest": (u8, *resized(640, *nearest)),
        "resize 224 nearest float32": (f32, *resized(224, *nearest)),
        "resize 224 linear": (u8, *resized(224, *linear)),
        "resize 224 linear float32": (f32, *resized(224, *linear)),
        "resize 640 linear float32": (f32, *resized(640, *linear)),
        "resize 640 linear": (u8, *resized(640, *linear)),
        "resize 224 cubic": (u8, *resized(224, types.INTERP_CUBIC, cv2.INTER_CUBIC)),
        "resize 640 cubic": (u8, *resized(640, types.INTERP_CUBIC, cv2.INTER_CUBIC)),
        "gaussian_blur 31": (u8, *blurred(31)),
        "gaussian_blur 5": (u8, *blurred(5)),
        "gaussian_blur 5 float32": (f32, *blurred(5)),
        "gaussian_blur 15 float32": (f32, *blurred(15)),
        "jpeg_compression_distortion": (u8, lambda b: fn.jpeg_compression_distortion(b, quality=60), jpeg),
        "jitter": (u8, fn.jitter, None),
    }


def call_of(peer, name, total):
    import cv2
    import penstock

    cv2.setNumThreads(1)
    dtype, ours, other = cases()[name]
    data = images(dtype, total)
    if peer:
        return lambda: [other(x) for x in data]
    batch = penstock.batch(data, layout="HWC")
    return lambda: ours(batch)


def work(library, total):
    """Answers the name of a case by the milliseconds of its fastest of some calls."""
    calls = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in calls:
            calls.clear()
            calls[name] = call_of(library == "peer", name, total)
            calls[name]()
        best, begin = np.inf, time.perf_counter()
        while time.perf_counter() - begin < 0.05:
            start = time.process_time()
            calls[name]()
            best = min(best, time.process_time() - start)
        print(best * 1e3, flush=True)


def worker(library, total, target=None, folder=None):
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "1000000000"}
    if folder:
        environment["PYTHONPATH"] = folder
    if target:
        environment["PENSTOCK_TARGET"] = target
    command = [sys.executable, __file__, "--worker", library, "--megabytes", str(total)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
    )


def ask(process, name):
    process.stdin.write(f"{name}\n")
    return float(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--target")
    parser.add_argument("--worker")
    parser.add_argument("--megabytes", type=int, default=6)
    options = parser.parse_args()
    if options.worker:
        return work(options.worker, options.megabytes)
    total = options.megabytes
    workers = {"peer": worker("peer", total), "now": worker("penstock", total, options.target)}
    if options.before:
        workers["before"] = worker("penstock", total, options.target, options.before)
    others = [n for n in workers if n != "now"]
    print(f"| {total} MB of images | {' ms | '.join(workers)} ms | {' | '.join(f'{n} / now' for n in others)} |")
    print("|---" * (len(workers) + len(others) + 1) + "|")
    for name, (_, _, other) in cases().items():
        if options.only not in name:
            continue
        best = {n: np.inf for n in workers if n != "peer" or other}
        for _ in range(options.rounds):
            for n in best:
                best[n] = min(best[n], ask(workers[n], name))
        cells = [f"{best[n]:.2f}" if n in best else "-" for n in workers]
        cells += [f"{best[n] / best['now']:.2f}" if n in best else "-" for n in others]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    for process in workers.values():
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
