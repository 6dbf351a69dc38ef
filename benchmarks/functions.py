# SPDX-License-Identifier: Apache-2.0
"""What a server does with pictures: a compiled function, three calls and a pipeline beside OpenCV, on one thread.

    python benchmarks/functions.py [--rounds N] [--photos FOLDER] [--clock wall|cpu] [--threads 1,2,4]

It needs NumPy, Pillow and OpenCV. Rows: JPEG bytes to 224 x 224 float32 NCHW, one and eight; frames in a letterbox of 640 x 640, one and
eight; a flip of 8 x 8 pixels, which is the price of a call. All ways take turns in one process; they write into one array of the program.
Prints the median and the 99th percentile in microseconds, and both by OpenCV's. Without photographs, smooth noise with the weight of a
photograph is made. `--clock cpu` counts the processor's time of the process, for a machine that has other work.

`--threads` measures one JPEG alone, on each of these numbers of threads beside OpenCV on one: the first photograph of the folder, or three
pictures of noise, of 444 x 396, 640 x 480 and 4000 x 3000 pixels.
"""

import argparse
import io
import os
import random
import time
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

import penstock
from penstock import fn, pipeline_def, types

MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
SIDE = 640


def jpeg(draw, width, height):
    small = Image.fromarray(draw.integers(0, 256, (height // 6, width // 6, 3), np.uint8))
    image = np.asarray(small.resize((width, height), Image.BICUBIC)) + draw.normal(0, 6, (height, width, 3))
    file = io.BytesIO()
    Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=90)
    return np.frombuffer(file.getvalue(), np.uint8)


def jpegs(folder, count=8):
    if folder:
        return [np.fromfile(p, np.uint8) for p in sorted(Path(folder).rglob("*.jpg"))[:count]]
    draw = np.random.default_rng(1)
    return [jpeg(draw, 444, 396 - i) for i in range(count)]


def tables(mean, std):
    """What a value of each channel becomes: the fastest way that OpenCV has from Python to planes of floats."""
    return [((np.arange(256) - m) / s).astype(np.float32)[None] for m, s in zip(mean, std)]


PHOTO, FRAME = tables(MEAN, STD), tables([0.0] * 3, [255.0] * 3)


def to_tensor(image, out, channels):
    for plane, table, to in zip(cv2.split(image)[::-1], channels, out):
        cv2.LUT(plane, table, to)


def opencv_photo(file, out):
    image = cv2.resize(cv2.imdecode(file, cv2.IMREAD_COLOR), (224, 224), interpolation=cv2.INTER_LINEAR)
    to_tensor(image, out, PHOTO)


def opencv_letterbox(frame, out):
    height, width = frame.shape[:2]
    scale = SIDE / max(height, width)
    h, w = round(height * scale), round(width * scale)
    top, left = (SIDE - h) // 2, (SIDE - w) // 2
    frame = cv2.resize(frame, (w, h), interpolation=cv2.INTER_LINEAR)
    frame = cv2.copyMakeBorder(
        frame, top, SIDE - h - top, left, SIDE - w - left, cv2.BORDER_CONSTANT, value=(114, 114, 114)
    )
    to_tensor(frame, out, FRAME)


def photo(files):
    images = fn.resize(fn.decoders.image(files), size=(224, 224))
    return fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD)


def decoded(files):
    return fn.decoders.image(files)


def bits(files):
    """Almost the entropy decoding alone: all codes are read to their end, and one row of blocks becomes pixels."""
    return fn.decoders.image_slice(files, rel_start=[0.99], rel_end=[1.0], axis_names="H")


PARTS = {"its decoding alone": decoded, "its entropy decoding alone": bits}


def letterbox(frames):
    frames = fn.resize(frames, size=(SIDE, SIDE), mode="not_larger", antialias=False)
    frames = fn.crop(
        frames, crop=(SIDE, SIDE), out_of_bounds_policy="constant", fill_values=[114.0] * 3, rounding="truncate"
    )
    return fn.crop_mirror_normalize(frames, dtype=types.FLOAT, output_layout="CHW", scale=1 / 255)


def part(graph, given):
    """A part of the function's work: what cannot be saved by what follows it."""

    @pipeline_def(batch_size=len(given), num_threads=1)
    def alone():
        return graph(fn.external_source(name="x", dtype=types.UINT8, ndim=1))

    function = alone().compile()
    rooms = function(given)
    return lambda: function(given, into=list(rooms))


def ways(graph, opencv, samples, shape, layout="", parts={}):
    """What takes turns, each with the samples of a batch and the array of the results."""
    batch_size = len(samples)

    @pipeline_def(batch_size=batch_size, num_threads=1, prefetch_queue_depth=1)
    def piped():
        return graph(fn.external_source(name="x", dtype=types.UINT8, layout=layout or None))

    pipe = piped()
    function = pipe.compile()
    out = np.zeros((batch_size, *shape), np.float32)
    room, given = penstock.batch(out), penstock.batch(samples, layout=layout)

    def by_opencv():
        for sample, to in zip(samples, out):
            opencv(sample, to)

    def by_calls():
        for to, result in zip(out, graph(given)):
            to[...] = result.numpy()

    def by_pipeline():
        out[...] = pipe.run(x=given)[0].as_array()

    return {
        "OpenCV": by_opencv,
        "function": lambda: function(given, into=room),
        "three calls": by_calls,
        "pipeline": by_pipeline,
        **{name: part(graph, given) for name, graph in parts.items()},
    }


def on_threads(file, counts):
    """One JPEG by OpenCV and by functions that differ in their threads."""
    out = np.zeros((1, 3, 224, 224), np.float32)
    room, given = penstock.batch(out), penstock.batch([file])
    turns = {"OpenCV": lambda: opencv_photo(file, out[0])}
    for count in counts:

        @pipeline_def(batch_size=1, num_threads=1)
        def alone():
            return photo(fn.external_source(name="x", dtype=types.UINT8, ndim=1))

        function = alone().compile(num_threads=count)
        turns[f"function, {count} threads"] = lambda function=function: function(given, into=room)
    return turns


def measure(name, turns, rounds, clock):
    now = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}[clock]
    times = {way: [] for way in turns}
    order, draw = list(turns.items()), random.Random(1)
    for i in range(rounds + 3):
        draw.shuffle(order)  # whoever follows OpenCV finds caches full of its tables
        for way, run in order:
            begin = now()
            run()
            if i >= 3:
                times[way].append((now() - begin) / 1000)
    reference = np.percentile(times["OpenCV"], 50)
    for way, all in times.items():
        median, last = np.percentile(all, [50, 99])
        print(f"| {name} | {way} | {median:.0f} | {last:.0f} | {min(all):.0f} | {median / reference:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--photos")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--threads")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    head = "| row | way | p50 us | p99 us | least us | by OpenCV's p50 |\n|---|---|---|---|---|---|"
    if options.threads:
        counts, draw = [int(n) for n in options.threads.split(",")], np.random.default_rng(1)
        sizes = [(444, 396), (640, 480), (4000, 3000)]
        files = jpegs(options.photos, 1) if options.photos else [jpeg(draw, *size) for size in sizes]
        print(head)
        for file in files:
            rounds = max(10, options.rounds * 100_000 // max(100_000, len(file)))
            measure(f"JPEG of {len(file) // 1000} kB", on_threads(file, counts), rounds, options.clock)
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before the first call makes threads
    draw = np.random.default_rng(2)
    files = jpegs(options.photos)
    frames = [
        np.ascontiguousarray(cv2.GaussianBlur(draw.integers(0, 256, (h, w, 3), np.uint8), (5, 5), 0))
        for h, w in [(480, 640), (375, 500), (720, 1280), (640, 427), (500, 333), (1080, 1920), (396, 444), (600, 800)]
    ]
    print(head)
    for count in (1, 8):
        rounds = max(5, options.rounds // count)
        measure(
            f"JPEG x {count}",
            ways(photo, opencv_photo, files[:count], (3, 224, 224), parts=PARTS),
            rounds,
            options.clock,
        )
        turns = ways(letterbox, opencv_letterbox, frames[:count], (3, SIDE, SIDE), "HWC")
        measure(f"letterbox x {count}", turns, rounds, options.clock)
    tiny = [draw.integers(0, 256, (8, 8, 3), np.uint8)]
    turns = ways(
        lambda x: fn.cast(fn.flip(x), dtype=types.FLOAT),
        lambda x, out: np.copyto(out, cv2.flip(x, 1)),
        tiny,
        (8, 8, 3),
        "HWC",
    )
    measure("flip 8 x 8", turns, options.rounds, options.clock)


if __name__ == "__main__":
    main()
