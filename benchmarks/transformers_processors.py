# SPDX-License-Identifier: Apache-2.0
"""Image processors of transformers beside penstock.plugin.transformers: differences and images a second, from JPEG bytes.

    python benchmarks/transformers_processors.py [--device cpu|gpu] [--peer cpu|gpu|none] [--threads N] [--photos FOLDER]
        [--count 200] [--rounds 9] [--only CLASS ...] > benchmarks/results/transformers_processors.md

Theirs: Pillow decodes, the processor on torchvision (their default) prepares, on the device that --peer names. With `--peer gpu` a
second column of theirs decodes the files of a batch on as many threads as ours have; the ratio is to the faster one. Both take the files of a
batch of 32 from memory, in turn. The differences are those of files of all kinds (tests/varied_photographs.py), or of --photos. On
a CPU the time is that of the processor, of all threads together, and the least of the rounds counts: so a loaded machine can measure.
With `--device gpu` it is time by the clock, of a call, and of batches from a pipeline that prepares ahead. `--peer none` needs NumPy and Penstock alone, if --photos names a folder of JPEG files.
"""

import argparse
import concurrent.futures
import io
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from transformers_classes import CLASSES  # noqa: E402

import penstock  # noqa: E402
from penstock import fn, pipeline_def, types  # noqa: E402
from penstock.plugin.transformers import processor  # noqa: E402

BATCH = 32
CALLS = 8  # on a GPU before one waits for it
AHEAD = 3  # batches that a pipeline for a GPU prepares


class Peer:
    """Theirs, on a device."""

    def __init__(self, device, threads):
        import torch
        import transformers_oracle as oracle
        from PIL import Image

        torch.set_num_threads(threads)
        self.oracle, self.image, self.torch, self.device = oracle, Image, torch, device
        self.version = oracle.transformers.__version__
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)

    def decoded(self, files, each=map):
        return list(each(lambda file: np.array(self.image.open(io.BytesIO(file)).convert("RGB")), files))

    def call(self, theirs, files, each=map):
        if self.device == "cpu":
            return self.oracle.prepared(theirs, self.decoded(files))
        made = theirs(self.decoded(files, each), return_tensors="pt", device="cuda")
        self.torch.cuda.synchronize()
        return made


def differences(peer, name, theirs, ours, files):
    """(largest difference in steps of 255, part of the elements that differ by more than one)"""
    largest, beyond, count = 0.0, 0, 0
    for begin in range(0, len(files), 8):
        part = files[begin : begin + 8]
        expected, made = peer.oracle.prepared(theirs, peer.decoded(part)), ours(part)
        for key, array in expected.items():
            got = on_host(made[key])
            assert got.shape == array.shape, (name, key, got.shape, array.shape)
            if key != "pixel_values":
                assert (got == array).all(), (name, key)
                continue
            steps = np.abs(got - array) * 255 * min(theirs.image_std)
            largest = max(largest, float(steps.max()))
            beyond, count = beyond + int((steps > 1.1).sum()), count + steps.size
    return largest, beyond / count


def on_host(made):
    return np.asarray(made.cpu() if hasattr(made, "cpu") else made)


def batches(files):
    """Lists of BATCH files, again and again."""
    endless = itertools.cycle(files)
    while True:
        yield [next(endless) for _ in range(BATCH)]


def times(calls, files, rounds, clock):
    """The least seconds of each call, in turn with the others."""
    given, least = batches(files), [float("inf")] * len(calls)
    for k in range(rounds + 1):
        part = next(given)
        for i, call in enumerate(calls):
            begin = clock()
            call(part)
            if k:  # the first round compiles and allocates
                least[i] = min(least[i], clock() - begin)
    return least


def of_calls(ours):
    """CALLS calls, and a copy of the last result to the host, which waits for the device."""

    def calls(part):
        for _ in range(CALLS):
            made = ours(part)["pixel_values"]
        on_host(made[0] if isinstance(made, penstock.Batch) else made)

    return calls


def of_pipeline(ours, files, rounds, threads):
    """Images a second of a pipeline for a GPU."""
    arrays = ([np.frombuffer(file, np.uint8) for file in part] for part in batches(files))

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=0, prefetch_queue_depth=AHEAD)
    def prepare():
        return ours(fn.external_source(source=arrays, dtype=types.UINT8, ndim=1))["pixel_values"]

    pipe = prepare()
    pipe.build()
    for _ in range(2 * AHEAD):
        (last,) = pipe.run()
    on_host(last[0])  # waits for the device
    begin = time.perf_counter()
    for _ in range(8 * rounds):
        (last,) = pipe.run()
    on_host(last[0])
    return 8 * rounds * BATCH / (time.perf_counter() - begin)


def jpeg_files(given, count):
    if given:
        return [path.read_bytes() for path in sorted(Path(given).rglob("*.jpg"))[:count]]
    import photos

    with tempfile.TemporaryDirectory() as folder:
        return [path.read_bytes() for path in photos.write_folder(folder, "coco", count)]


def varied_files(count):
    import varied_photographs

    return [file for _, file in varied_photographs.photographs(count)]


def row(name, options, peer, files, varied):
    gpu = options.device == "gpu"
    ours = processor({"image_processor_type": name} | CLASSES[name], device=options.device, num_threads=options.threads)
    theirs = peer and peer.oracle.fast(name)
    prepare = of_calls(ours) if gpu else ours
    cells, calls = [], [prepare]
    if peer:
        largest, beyond = differences(peer, name, theirs, ours, varied)
        cells, calls = [f"{largest:.2f}", f"{beyond:.2g}"], [prepare, lambda part: peer.call(theirs, part)]
        if peer.device == "gpu":
            calls.append(lambda part: peer.call(theirs, part, peer.pool.map))
    speeds = [BATCH / t for t in times(calls, files, options.rounds, time.perf_counter if gpu else time.process_time)]
    if gpu:
        speeds[0] *= CALLS
    if gpu:
        speeds.insert(1, of_pipeline(ours, files, options.rounds, options.threads))
    cells += [f"{speed:.0f}" for speed in speeds]
    if peer:
        ours_end = 2 if gpu else 1
        cells.append(f"{max(speeds[:ours_end]) / max(speeds[ours_end:]):.1f}")
    return [name, *cells]


def columns(options):
    unit = "images/s" if options.device == "gpu" else "images/s of a core"
    found = ["class"] + ["largest difference, steps", "elements beyond 1 step"] * (options.peer != "none")
    found.append(f"ours, {unit}")
    if options.device == "gpu":
        found.append("ours in a pipeline, images/s")
    if options.peer != "none":
        found.append(f"theirs on {options.peer}, {unit}")
        if options.peer == "gpu":
            found.append(f"theirs, {options.threads} threads decode")
        found.append("ratio")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--peer", choices=["cpu", "gpu", "none"], default="cpu")
    parser.add_argument("--threads", type=int, help="default: 1 on a CPU, all for a GPU")
    parser.add_argument("--photos", help="a folder of JPEG files; default: generated ones")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="+", choices=list(CLASSES), default=list(CLASSES), metavar="CLASS")
    options = parser.parse_args()
    options.threads = options.threads or (1 if options.device == "cpu" else len(os.sched_getaffinity(0)))
    peer = None if options.peer == "none" else Peer(options.peer, options.threads)
    files = jpeg_files(options.photos, options.count)
    varied = varied_files(options.count) if peer and not options.photos else files
    print(f"# Image processors of transformers{' ' + peer.version if peer else ''}\n")
    if peer:
        print(f"Differences: {len(varied)} JPEG files of all kinds. Times:")
    print(f"{len(files)} JPEG files of random sizes; on the {options.device.upper()}, {options.threads} threads,")
    print(f"batches of {BATCH}. A step is 1 of 255 before normalization.\n")
    print("| " + " | ".join(columns(options)) + " |\n" + "|---" * len(columns(options)) + "|")
    for name in options.only:
        print("| " + " | ".join(row(name, options, peer, files, varied)) + " |", flush=True)


if __name__ == "__main__":
    main()
