# SPDX-License-Identifier: Apache-2.0
"""Background blur (examples/background_blur.py) without its network, beside the same chain in OpenCV, in one run.

    python benchmarks/background_blur.py [--json FILE] [--rounds N] [--batch N] [--size WIDTH HEIGHT]

Both get pictures and masks and make the network's input and the blurred pictures. With one thread each, and with all: then
OpenCV works in both ways that it has, its own threads inside a call and a picture a thread; the better one counts.
Prints medians of rounds that take turns, and the ratio.
"""

import argparse
import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np

from penstock import fn, pipeline_def

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))  # where a module has the name of this one
import background_blur as example  # noqa: E402


@pipeline_def(prefetch_queue_depth=1)
def chain():
    pictures = fn.external_source(name="pictures", layout="HWC", no_copy=True)
    tensors, extents = example.to_network(pictures)
    return tensors, example.composite(pictures, fn.external_source(name="masks", layout="HWC", no_copy=True), extents)


def opencv(picture, mask):
    tensor, extents = example.opencv_to_network(picture)
    return tensor, example.opencv_composite(picture, mask, extents)


def contenders(pictures, masks, threads):
    """{name: a function of no arguments that does the batch once}"""
    pipeline, pool = chain(batch_size=len(pictures), num_threads=threads), ThreadPoolExecutor(threads)
    pipeline.build()

    def fed():  # it has nothing to do while others are measured
        pipeline.feed_input("pictures", pictures)
        pipeline.feed_input("masks", masks)
        return pipeline.run()

    def inside():
        cv2.setNumThreads(threads)
        return [opencv(p, m) for p, m in zip(pictures, masks)]

    def beside():
        cv2.setNumThreads(1)
        return list(pool.map(opencv, pictures, masks))

    return {"Penstock": fed, "OpenCV": inside} | ({"OpenCV, a picture a thread": beside} if threads > 1 else {})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, nargs=2, default=[1280, 720])
    options = parser.parse_args()
    rng, (width, height) = np.random.default_rng(0), options.size
    pictures = [
        cv2.resize(rng.integers(0, 256, (36, 64, 3), np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
        for _ in range(options.batch)
    ]
    masks = [cv2.resize(rng.random((8, 8), np.float32), (example.SIZE,) * 2)[..., None] for _ in range(options.batch)]
    rows = []
    for threads in sorted({1, os.cpu_count()}):
        ways = contenders(pictures, masks, threads)
        theirs, (_, blurred) = ways["OpenCV"](), ways["Penstock"]()
        largest = max(int(np.abs(b.numpy().astype(int) - t).max()) for b, (_, t) in zip(blurred, theirs))
        times = {name: [] for name in ways}
        for _ in range(options.rounds + 2):
            for name, work in ways.items():
                begin = time.perf_counter()
                work()
                times[name].append((time.perf_counter() - begin) / options.batch * 1e3)
        medians = {name: statistics.median(rounds[2:]) for name, rounds in times.items()}
        ratio = min(v for k, v in medians.items() if k != "Penstock") / medians["Penstock"]
        rows.append({"threads": threads, "ms_a_picture": medians, "ratio": ratio, "largest_difference": largest})
        print(
            f"{threads} thread{'s' * (threads > 1)}: "
            + "; ".join(f"{name} {ms:.2f} ms a picture" for name, ms in medians.items())
            + f"; {ratio:.2f} x OpenCV; at most {largest} of 255 apart"
        )
    if options.json:
        Path(options.json).write_text(
            json.dumps(
                {
                    "command": sys.argv,
                    "size": options.size,
                    "batch": options.batch,
                    "rounds": options.rounds,
                    "opencv": cv2.__version__,
                    "rows": rows,
                },
                indent=1,
            )
            + "\n"
        )


if __name__ == "__main__":
    main()
