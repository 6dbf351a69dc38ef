# SPDX-License-Identifier: Apache-2.0
"""Feeding several GPUs of one host: a process for each GPU, all begin to measure at the same moment.

    python benchmarks/gpu/several.py FOLDER [--gpus 1 2] [--threads 2 4 8] [--seconds S] [--peer] [--start] [--beside]

FOLDER has JPEG files. A row is a number of GPUs and of threads for each: the sum of images a second, and its ratio to as many times the
rate of one GPU with as many threads. "near" pipelines have set_affinity=True. --peer measures DALI too, where it is installed. --start
measures the time from the begin of the process to its first batch with an empty cache of kernels. The first line is the rate at which as
many processes as cores copy memory.

--beside measures one GPU while as many processes as threads do something else on the other cores: "arithmetic" needs neither memory nor
a GPU, so what it costs is shared by cores; "copies" read and write memory. Then several GPUs with cores of their own for each process:
"halves" are neighbors, "stripes" are every n-th core.
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
    if spec.get("cores"):
        os.sched_setaffinity(0, spec["cores"])
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
    sys.stdin.readline()
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < spec["seconds"]:
        pipe.run()
        count += batch
    print(json.dumps({"rate": count / (time.perf_counter() - begin)}), flush=True)
    os._exit(0)


def measure(specs, cache=None):
    """What the processes print, which all measure at once."""
    env = dict(os.environ, **({"PENSTOCK_CACHE": cache} if cache else {}))
    began = time.time()
    running = []
    for spec in specs:
        text = json.dumps(spec | {"begin": began})
        command = [sys.executable, __file__, "--child"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        process.stdin.write(text + "\n")
        process.stdin.flush()
        running.append(process)
    found = [json.loads(process.stdout.readline() or "{}") for process in running]
    if not all(found) or any(process.stdout.readline() != "ready\n" for process in running):
        for process in running:
            process.kill()
        return None
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process, result in zip(running, found):
        result |= json.loads(process.stdout.readline() or '{"rate": 0}')
        process.wait()
    return found


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
        process.stdin.write("go\n")
        process.stdin.flush()
    return cores, sum(float(process.stdout.readline()) for process in running) / 1e9


ARITHMETIC = """
import sys
sys.stdin.readline()
x = 1
while True:
    for _ in range(1000):
        x = (x * 5 + 1) % 65537
"""
ENDLESS = COPIES.replace("perf_counter() - begin < 2", "perf_counter() > 0")


def beside(options, files):
    """The rate of one GPU with something else on other cores, and of several GPUs with cores of their own."""
    cores = sorted(os.sched_getaffinity(0))
    most = max(options.gpus)
    bound = {
        "": [None] * most,
        "halves": [cores[g * len(cores) // most : (g + 1) * len(cores) // most] for g in range(most)],
        "stripes": [cores[g::most] for g in range(most)],
    }
    for body in options.bodies:
        for threads in options.threads:
            spec = {"body": body, "threads": threads, "library": "penstock", "near": False, "files": files}
            spec |= {"seconds": options.seconds, "warm": options.warm}
            for what, text in {"nothing": None, "arithmetic": ARITHMETIC, "copies": ENDLESS}.items():
                command = [sys.executable, "-c", text]
                others = [
                    subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
                    for _ in range(threads if text else 0)
                ]
                for other in others:
                    other.stdin.write("go\n")
                    other.stdin.flush()
                found = measure([spec | {"gpu": 0}]) or [{"rate": 0}]
                for other in others:
                    other.kill()
                    other.wait()
                print(f"| {body} | 1 | {threads} | beside {what} | {found[0]['rate']:.0f} |", flush=True)
            for how, sets in bound.items():
                for gpus in sorted({1, most}):
                    found = measure([spec | {"gpu": g, "cores": sets[g]} for g in range(gpus)]) or [{"rate": 0}]
                    rate = sum(one["rate"] for one in found)
                    print(f"| {body} | {gpus} | {threads} | bound: {how or 'no'} | {rate:.0f} |", flush=True)


def rows(options, files):
    for body in options.bodies:
        for threads in options.threads:
            alone = {}
            for gpus in options.gpus:
                for library, near in [("penstock", False), ("penstock", True), *([("dali", False)] * options.peer)]:
                    if library == "dali" and gpus not in (1, max(options.gpus)):
                        continue
                    spec = {"body": body, "threads": threads, "library": library, "near": near, "files": files}
                    spec |= {"seconds": options.seconds, "warm": options.warm}
                    found = measure([spec | {"gpu": gpu} for gpu in range(gpus)])
                    name = f"{library}{', near' if near else ''}"
                    if found is None:
                        print(f"| {body} | {gpus} | {threads} | {name} | failed | | |", flush=True)
                        continue
                    rate = sum(one["rate"] for one in found)
                    alone.setdefault(name, rate / gpus)
                    spread = min(one["rate"] for one in found) / max(one["rate"] for one in found)
                    ratio = rate / gpus / alone[name]
                    print(
                        f"| {body} | {gpus} | {threads} | {name} | {rate:.0f} | {ratio:.2f} | {spread:.2f} |",
                        flush=True,
                    )


def starts(options, files):
    """Seconds to the first batch with an empty cache of kernels, of one process and of one for each GPU."""
    for gpus in options.gpus:
        times = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as cache:
                spec = {"body": "resnet", "threads": 4, "library": "penstock", "near": False, "files": files}
                found = measure([spec | {"gpu": g, "seconds": 0.1, "warm": 0.1} for g in range(gpus)], cache)
                if found:
                    times.append(max(one["first"] for one in found))
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
    print("| input | GPUs | threads each | library | images/s | ratio to as many times one GPU | slowest / fastest |")
    print("|---|---|---|---|---|---|---|", flush=True)
    rows(options, files)


if __name__ == "__main__":
    main()
