# SPDX-License-Identifier: Apache-2.0
"""Feeding several GPUs of one host: a process for each GPU.

    python benchmarks/gpu/several.py FOLDER [--gpus 1 2] [--threads 2 4 8] [--seconds S] [--rounds N] [--peer] [--start] [--beside]

FOLDER has JPEG files. A row is a number of GPUs and of threads for each. In each round each process works alone, then all at once; the
processes live on, since the rates of two processes that do the same differ by up to a third on a virtual machine. The row has the medians
of the rounds: images a second of all, and their ratio to the sum of what each reached alone. "near" pipelines have set_affinity=True.
--peer measures DALI too, where it is installed. --start measures the time from the begin of the process to its first batch with an empty
cache of kernels. The first line is the rate at which as many processes as cores copy memory.

--beside asks what processes share: one GPU in turns alone and beside as many processes as threads that do something else on other cores.
"arithmetic" needs neither memory nor a GPU; "copies" read and write memory; "transfers" copy page-locked memory to the last GPU; "launches"
start small kernels there.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

WARM = 6.0  # seconds: the first epochs make the index, compile and take memory


def photographs(folder):
    found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    files = sorted(name for name in found if name.endswith((".jpg", ".jpeg", ".JPEG")))
    return files * -(-4096 // len(files))  # a few files are read many times: a process has full batches in each epoch


def definition(library, body):
    if library == "dali":
        from nvidia.dali import fn, pipeline_def, types
    else:
        from penstock import fn, pipeline_def, types

    def resnet(files, shard_id=0, num_shards=1):
        jpegs, labels = fn.readers.file(
            files=files, random_shuffle=True, name="reader", shard_id=shard_id, num_shards=num_shards
        )
        images = fn.decoders.image_random_crop(jpegs, device="mixed", random_area=[0.08, 1.0])
        images = fn.resize(images, size=[224, 224])
        images = fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT16,
            output_layout="CHW",
            mean=[123.0, 116.0, 103.0],
            std=[58.0, 57.0, 57.0],
            mirror=fn.random.coin_flip(),
        )
        return images, labels.gpu()

    def yolo(files):
        jpegs, labels = fn.readers.file(files=files, random_shuffle=True, name="reader")
        images = fn.decoders.image(jpegs, device="mixed")
        images = fn.resize(images, size=[640, 640], mode="not_larger")
        images = fn.crop(images, crop=(640, 640), out_of_bounds_policy="pad", fill_values=114.0)
        images = fn.crop_mirror_normalize(
            images, dtype=types.FLOAT16, output_layout="CHW", std=[255.0] * 3, mirror=fn.random.coin_flip()
        )
        return images, labels.gpu()

    return pipeline_def({"resnet": resnet, "yolo": yolo}[body])


def child(spec):
    begin = time.time()
    near = {"set_affinity": True} if spec["near"] else {}
    batch = {"resnet": 256, "yolo": 64}[spec["body"]]
    pipe = definition(spec["library"], spec["body"])(
        spec["files"], batch_size=batch, num_threads=spec["threads"], device_id=spec["gpu"], **near
    )
    pipe.build()
    pipe.run()[0].as_cpu() if spec["library"] == "dali" else pipe.run()[0].cpu()
    first = time.time() - spec["begin"]
    print(json.dumps({"first": first, "from_import": time.time() - begin}), flush=True)
    end = time.time() + spec["warm"]
    while time.time() < end:
        pipe.run()
    print("ready", flush=True)
    for _ in sys.stdin:
        for _ in range(4):  # the batches that were ready
            pipe.run()
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < spec["seconds"]:
            pipe.run()
            count += batch
        print(count / (time.perf_counter() - begin), flush=True)
    os._exit(0)


class Feeders:
    """Processes that each feed a GPU when they are told to."""

    def __init__(self, specs, cache=None):
        env = dict(os.environ, **({"PENSTOCK_CACHE": cache} if cache else {}))
        began = time.time()
        self.running = []
        for spec in specs:
            command = [sys.executable, __file__, "--child"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
            tell(process, json.dumps(spec | {"begin": began}))
            self.running.append(process)
        self.begun = [json.loads(process.stdout.readline() or "{}") for process in self.running]
        self.ready = all(self.begun) and all(process.stdout.readline() == "ready\n" for process in self.running)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.running:
            process.kill()
            process.wait()

    def turn(self, which=None):
        """Images a second of each of these processes, which work at once."""
        chosen = [self.running[k] for k in which] if which is not None else self.running
        for process in chosen:
            tell(process, "go")
        return [float(process.stdout.readline() or 0) for process in chosen]


def tell(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


COPIES = """
import numpy as np, sys, time
a, b = np.ones(1 << 27, np.uint8), np.ones(1 << 27, np.uint8)
sys.stdin.readline()
n, begin = 0, time.perf_counter()
while time.perf_counter() - begin < 2:
    np.copyto(b, a)
    n += 1
print(2 * n * a.nbytes / (time.perf_counter() - begin))
"""


def copies():
    """Gigabytes a second that all cores read and write together."""
    cores = len(os.sched_getaffinity(0))
    command = [sys.executable, "-c", COPIES]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(cores)
    ]
    time.sleep(2)
    for process in running:
        tell(process, "go")
    return cores, sum(float(process.stdout.readline()) for process in running) / 1e9


ARITHMETIC = """
import sys
sys.stdin.readline()
x = 1
while True:
    for _ in range(1000):
        x = (x * 5 + 1) % 65537
"""
ON_A_GPU = """
import sys, torch
torch.cuda.set_device(GPU)
here, there = torch.ones(1 << 26, dtype=torch.uint8).pin_memory(), torch.empty(1 << 26, dtype=torch.uint8, device="cuda")
small = torch.zeros(256, device="cuda")
sys.stdin.readline()
while True:
    for _ in range(16):
        WORK
    torch.cuda.synchronize()
"""


def works_beside(gpu):
    on_gpu = ON_A_GPU.replace("GPU)", f"{gpu})")
    return {
        "arithmetic": ARITHMETIC,
        "copies": COPIES.replace("perf_counter() - begin < 2", "perf_counter() > 0"),
        "transfers": on_gpu.replace("WORK", "there.copy_(here, non_blocking=True)"),
        "launches": on_gpu.replace("WORK", "small.add_(1)"),
    }


def beside(options, files):
    """The rate of one GPU in turns alone and with something else on other cores."""
    print("| input | threads | beside it | images/s alone | with it | ratio |\n|---|---|---|---|---|---|", flush=True)
    for body in options.bodies:
        for threads in options.threads:
            spec = {"body": body, "threads": threads, "library": "penstock", "near": False, "files": files, "gpu": 0}
            with Feeders([spec | {"seconds": options.seconds, "warm": options.warm}]) as feeder:
                for what, text in works_beside(max(options.gpus) - 1).items():
                    turns = [turn_beside(feeder, text, threads) for _ in range(options.rounds)]
                    alone, both = (statistics.median(column) for column in zip(*turns))
                    ratio = statistics.median(b / a for a, b in turns)
                    print(f"| {body} | {threads} | {what} | {alone:.0f} | {both:.0f} | {ratio:.2f} |", flush=True)


def turn_beside(feeder, text, threads):
    alone = feeder.turn()[0]
    others = [
        subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for _ in range(threads)
    ]
    time.sleep(4 if "torch" in text else 1)  # until they have what they work on
    for other in others:
        tell(other, "go")
    both = feeder.turn()[0]
    for other in others:
        other.kill()
        other.wait()
    return alone, both


def rows(options, files):
    for body in options.bodies:
        for threads in options.threads:
            for gpus in options.gpus:
                for library, near in [("penstock", False), ("penstock", True), *([("dali", False)] * options.peer)]:
                    if library == "dali" and gpus not in (1, max(options.gpus)):
                        continue
                    spec = {"body": body, "threads": threads, "library": library, "near": near, "files": files}
                    spec |= {"seconds": options.seconds, "warm": options.warm}
                    name = f"{body} | {gpus} | {threads} | {library}{', near' if near else ''}"
                    print(f"| {name} | {row(spec, gpus, options.rounds)} |", flush=True)


def row(spec, gpus, rounds):
    with Feeders([spec | {"gpu": gpu} for gpu in range(gpus)]) as feeders:
        if not feeders.ready:
            return "failed | | "
        ratios, rates, spreads = [], [], []
        for _ in range(rounds):
            alone = [feeders.turn([k])[0] for k in range(gpus)] if gpus > 1 else None
            together = feeders.turn()
            rates.append(sum(together))
            ratios.append(sum(together) / sum(alone or together))
            spreads.append(min(together) / max(together))
    middle = statistics.median
    return f"{middle(rates):.0f} | {middle(ratios):.2f} | {middle(spreads):.2f}"


def starts(options, files):
    """Seconds to the first batch with an empty cache of kernels, of one process and of one for each GPU."""
    for gpus in options.gpus:
        times = []
        for _ in range(3):
            spec = {"body": "resnet", "threads": 4, "library": "penstock", "near": False, "files": files}
            specs = [spec | {"gpu": g, "seconds": 0.1, "warm": 0.1} for g in range(gpus)]
            with tempfile.TemporaryDirectory() as cache, Feeders(specs, cache) as feeders:
                if feeders.ready:
                    times.append(max(one["first"] for one in feeders.begun))
        if times:
            print(f"first batch with a cold cache, {gpus} processes: {statistics.median(times):.2f} s", flush=True)


def main():
    if sys.argv[1:] == ["--child"]:
        return child(json.loads(sys.stdin.readline()))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--gpus", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--threads", nargs="*", type=int, default=[2, 4, 8])
    parser.add_argument("--bodies", nargs="*", default=["resnet", "yolo"])
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=float, default=WARM)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--start", action="store_true")
    parser.add_argument("--beside", action="store_true")
    options = parser.parse_args()
    files = photographs(options.folder)
    cores, rate = copies()
    print(f"{cores} cores read and write {rate:.0f} GB/s together; {len(set(files))} files\n", flush=True)
    if options.start:
        starts(options, files)
    if options.beside:
        return beside(options, files)
    print("| input | GPUs | threads each | library | images/s | ratio to each alone | slowest / fastest |")
    print("|---|---|---|---|---|---|---|", flush=True)
    rows(options, files)


if __name__ == "__main__":
    main()
