# SPDX-License-Identifier: Apache-2.0
"""Background blur (examples/background_blur.py) without its network, beside the same chain in OpenCV, in one run.

    python benchmarks/background_blur.py [--json FILE] [--rounds N] [--batch N] [--size WIDTH HEIGHT] [--gpu]

Both get pictures and masks and make the network's input and the blurred pictures. With one thread each, and with all: then
OpenCV works in both ways that it has, its own threads inside a call and a picture a thread; the better one counts.
Prints medians of rounds that take turns, and the ratio.

With --gpu two more take turns, with pictures and masks that lie on the GPU: Penstock's function, and where the package is installed the
same chain in CV-CUDA, whose masks are bytes. Ratios are then those of Penstock on the GPU.
"""

import argparse
import importlib.util
import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np

import penstock
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


@pipeline_def(device_id=0)
def chain_on_gpu():
    pictures = fn.external_source(name="pictures", layout="HWC", device="gpu")
    tensors, extents = example.to_network(pictures)
    masks = fn.external_source(name="masks", layout="HWC", device="gpu")
    return tensors, example.composite(pictures, masks, extents)


def penstock_on_gpu(pictures, masks):
    function = chain_on_gpu(batch_size=len(pictures), num_threads=1).compile()
    given = [penstock.batch(samples, layout="HWC").gpu() for samples in (pictures, masks)]
    try:
        import torch

        stream = torch.cuda.Stream()
    except (ImportError, RuntimeError):  # an emulated GPU: it has done its work when a call returns
        return lambda: function(*given)

    def call():
        made = function(*given, stream=stream.cuda_stream)
        stream.synchronize()
        return made

    return call


def cvcuda_on_gpu(pictures, masks):
    import cvcuda as cv
    import torch

    count, (height, width) = len(pictures), pictures[0].shape[:2]
    scale = example.SIZE / max(height, width)
    h, w = int(height * scale + 0.5), int(width * scale + 0.5)
    images, masks = (torch.as_tensor(np.stack(samples)).cuda() for samples in (pictures, masks))
    stream, sigma = torch.cuda.Stream(), 0.3 * ((example.WINDOW - 1) * 0.5 - 1) + 0.8
    torch.cuda.synchronize()

    def call():
        with torch.cuda.stream(stream), cv.as_stream(stream):
            x = cv.as_tensor(images, "NHWC")
            small = cv.resize(x, (count, h, w, 3), cv.Interp.LINEAR)
            borders = {"top": 0, "bottom": example.SIZE - h, "left": 0, "right": example.SIZE - w}
            square = cv.copymakeborder(
                small, border_mode=cv.Border.CONSTANT, border_value=[float(example.GRAY)] * 3, **borders
            )
            floats = cv.convertto(square, np.float32, scale=1 / example.STD, offset=-example.MEAN / example.STD)
            tensors = cv.reformat(floats, "NCHW")
            part = cv.as_tensor(masks[:, :h, :w].contiguous(), "NHWC")
            large = cv.convertto(cv.resize(part, (count, height, width, 1), cv.Interp.LINEAR), np.uint8, scale=255)
            blurred = cv.gaussian(x, (example.WINDOW,) * 2, (sigma, sigma), cv.Border.REFLECT101)
            made = cv.composite(x, blurred, large, 3)
        stream.synchronize()
        return tensors, made

    return call


def contenders(pictures, masks, threads, gpu):
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

    ways = {"Penstock": fed, "OpenCV": inside} | ({"OpenCV, a picture a thread": beside} if threads > 1 else {})
    if gpu:
        ways["Penstock on the GPU"] = penstock_on_gpu(pictures, masks)
        if importlib.util.find_spec("cvcuda"):
            ways["CV-CUDA"] = cvcuda_on_gpu(pictures, masks)
    return ways


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, nargs=2, default=[1280, 720])
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    rng, (width, height) = np.random.default_rng(0), options.size
    pictures = [
        cv2.resize(rng.integers(0, 256, (36, 64, 3), np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
        for _ in range(options.batch)
    ]
    masks = [cv2.resize(rng.random((8, 8), np.float32), (example.SIZE,) * 2)[..., None] for _ in range(options.batch)]
    rows = []
    for threads in sorted({1, os.cpu_count()}):
        ways = contenders(pictures, masks, threads, options.gpu and threads == os.cpu_count())
        ours = "Penstock on the GPU" if "Penstock on the GPU" in ways else "Penstock"
        theirs, (_, blurred) = ways["OpenCV"](), ways[ours]()
        blurred = blurred.cpu() if ours != "Penstock" else blurred
        largest = max(int(np.abs(b.numpy().astype(int) - t).max()) for b, (_, t) in zip(blurred, theirs))
        times = {name: [] for name in ways}
        for _ in range(options.rounds + 2):
            for name, work in ways.items():
                begin = time.perf_counter()
                work()
                times[name].append((time.perf_counter() - begin) / options.batch * 1e3)
        medians = {name: statistics.median(rounds[2:]) for name, rounds in times.items()}
        peers = [name for name in medians if not name.startswith("Penstock")]
        ratios = {name: medians[name] / medians[ours] for name in peers}
        best = min(peers, key=ratios.get)
        rows.append({"threads": threads, "ms_a_picture": medians, "ratios": ratios, "largest_difference": largest})
        print(
            f"{threads} thread{'s' * (threads > 1)}: "
            + "; ".join(f"{name} {ms:.3f} ms a picture" for name, ms in medians.items())
            + f"; {ours} {ratios[best]:.2f} x {best}; at most {largest} of 255 from OpenCV"
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
