# SPDX-License-Identifier: Apache-2.0
"""One image of 12 megapixels on 1 to N threads: how much faster each part, and a whole pipeline, becomes.

python benchmarks/large_image.py [--threads 4] [--rounds 15]
"""

import argparse
import io
import json
import os
import subprocess
import sys
import time

import numpy as np

WIDTH, HEIGHT = 4000, 3000
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def photograph(quality=92, restart_rows=0):
    """Gradients, edges and noise of several sizes: about the bits per pixel of a photograph."""
    from PIL import Image

    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    planes = [90 + 60 * np.sin(x / 310 + c) + 50 * np.cos(y / 270 - c) for c in range(3)]
    for cell, strength in ((200, 40), (50, 25), (12, 14), (3, 9), (1, 4)):
        noise = rng.normal(0, strength, (HEIGHT // cell + 2, WIDTH // cell + 2)).astype(np.float32)
        grown = np.asarray(Image.fromarray(noise).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC))
        for c in range(3):
            planes[c] += grown * (1, 0.9, 0.8)[c]
    pixels = np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    more = {"restart_marker_rows": restart_rows} if restart_rows else {}
    Image.fromarray(pixels).save(file, "JPEG", quality=quality, **more)
    return np.frombuffer(file.getvalue(), np.uint8), pixels


def cases(threads):
    """{name: function that runs once and returns the result}"""
    import penstock as ps
    from penstock import fn

    file, pixels = photograph()
    restarts, _ = photograph(restart_rows=1)
    encoded, marked = ps.Batch([file]), ps.Batch([restarts])
    image = ps.Batch([pixels], layout="HWC")

    @ps.pipeline_def(batch_size=1, num_threads=threads, prefetch_queue_depth=1)
    def whole():
        picture = fn.decoders.image(fn.external_source(name="file"))
        small = fn.resize(picture, resize_x=1600, resize_y=1200)
        return fn.crop_mirror_normalize(small, dtype="float32", mean=MEAN, std=STD)

    pipe = whole()
    pipe.build()
    return {
        "decode": lambda: fn.decoders.image(encoded),
        "decode, restart markers": lambda: fn.decoders.image(marked),
        "resize": lambda: fn.resize(image, resize_x=1600, resize_y=1200),
        "normalize": lambda: fn.crop_mirror_normalize(image, dtype="float32", mean=MEAN, std=STD),
        "gaussian_blur": lambda: fn.gaussian_blur(image, window_size=7),
        "rotate": lambda: fn.rotate(image, angle=20.0),
        "brightness": lambda: fn.brightness(image, brightness=1.2),
        "water": lambda: fn.water(image),
        "median_blur": lambda: fn.median_blur(image, window_size=3),
        "pipeline: decode, resize, normalize": lambda: pipe.run(file=[file])[0],
    }


def serve(threads):
    """A process with so many cores: times one case for each line of its input."""
    import hashlib

    todo = cases(threads)
    print(json.dumps(list(todo)), flush=True)
    for line in sys.stdin:
        run = todo[line.strip()]
        begin = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - begin
        content = hashlib.md5(np.ascontiguousarray(np.asarray(result[0])).tobytes()).hexdigest()
        print(json.dumps([seconds, content]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    cores = sorted(os.sched_getaffinity(0))
    counts = list(range(1, options.threads + 1))
    workers = {}
    for n in counts:
        command = [sys.executable, __file__, "--serve", str(n)]
        workers[n] = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda n=n: os.sched_setaffinity(0, cores[:n]),
        )
    names = [json.loads(w.stdout.readline()) for w in workers.values()][0]
    print(f"{'milliseconds, then times one thread':38}" + "".join(f"{n:>16}" for n in counts))
    for name in names:
        if options.only not in name:
            continue
        least, contents = dict.fromkeys(counts, 1e9), set()
        for _ in range(options.rounds):
            for n, w in workers.items():
                print(name, file=w.stdin, flush=True)
                seconds, content = json.loads(w.stdout.readline())
                least[n] = min(least[n], seconds)
                contents.add(content)
        shown = "".join(f"{least[n] * 1e3:9.1f} {least[1] / least[n]:6.2f}" for n in counts)
        print(f"{name:38}{shown}{'' if len(contents) == 1 else '  THE BYTES DIFFER'}", flush=True)
    for w in workers.values():
        w.stdin.close()
        w.wait()


if __name__ == "__main__":
    main()
