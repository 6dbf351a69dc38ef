# SPDX-License-Identifier: Apache-2.0
"""What a service costs: batches of workers on this machine, through shared memory and through sockets as between machines, beside the
pipeline in the trainer itself, tf.data service and Ray Data, in turn.

    python benchmarks/service.py [--rounds 7] [--data FOLDER] [--out FILE.md]

"Ready" batches are 64 x 3 x 224 x 224 float32, 38.5 MB, which cost nothing to make: the rates are those of the way. "Training" is the
input of a ResNet-50 in uint8 from JPEG files: the pipeline with 2 threads in the trainer, and in one worker. Peers run where their
environments are: .venv-frameworks (make test), .venv-ray (python -m venv .venv-ray, pip install "ray[data]"). "Plain sockets" send the
same bytes through loopback without anything else, as a bound; of two raylets one makes the batches and the other one has them fetched.
Each begins after 30 batches that are not counted, so that the memory for batches is there: the last of it came with batch 15, and fresh
memory of one batch took as long as sending four. Medians over the rounds.
"""

import argparse
import json
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BYTES = 64 * 3 * 224 * 224 * 4
BEFORE = 30  # batches, of the peers below too
PIPELINES = """
import numpy as np
from penstock import fn, pipeline_def, types

@pipeline_def(batch_size=64, num_threads=1)
def ready():
    index = fn.readers.indices(size=1 << 30, name="reader")
    return types.Constant(np.ones((3, 224, 224), np.float32)), index

@pipeline_def(batch_size=128, num_threads=2, seed=1)
def training(folder):
    files, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="reader")
    images = fn.decoders.image_random_crop(files)
    return fn.flip(fn.resize(images, size=[224, 224]), horizontal=fn.random.coin_flip()), labels
"""
TENSORFLOW = """
import sys, time
import numpy as np
import tensorflow as tf
from tensorflow.data.experimental import service
dispatcher = service.DispatchServer(service.DispatcherConfig(port=0, protocol="grpc"))
address = dispatcher.target.split("://")[1]
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address, port=0, protocol="grpc"))
data = tf.data.Dataset.from_tensors(np.ones((64, 3, 224, 224), np.float32)).repeat()
data = data.apply(service.distribute("distributed_epoch", f"grpc://{address}", compression=None))
# Another process would be a worker on another machine: this keeps its transport, not the short way within a process.
batches = iter(data)
for _ in range(30): next(batches)
begin = time.perf_counter()
for _ in range(int(sys.argv[1])): next(batches).numpy()[:, 0, 0, 0].sum()
print(time.perf_counter() - begin)
"""
RAY = """
import logging, sys, time
import numpy as np
import ray
ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False
count = int(sys.argv[1])
def make(rows):
    return {"x": np.ones((len(rows["id"]), 3, 224, 224), np.float32)}
data = ray.data.range((count + 30) * 64, override_num_blocks=count + 30).map_batches(make, batch_size=64)
for i, batch in enumerate(data.iter_batches(batch_size=64, batch_format="numpy", prefetch_batches=2)):
    if i == 29: begin = time.perf_counter()
    batch["x"][:, 0, 0, 0].sum()
print(time.perf_counter() - begin)
"""
# Batches that one raylet makes and another one takes, each with an object store of its own: as between two machines.
TWO_RAYLETS = RAY.replace(
    "ray.init(num_cpus=2, include_dashboard=False, ",
    """from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
cluster.add_node(num_cpus=1, resources={"other": 1000})
ray.init(address=cluster.address, """,
).replace("batch_size=64)\nfor", 'batch_size=64, resources={"other": 1})\nfor')
TWO_RAYLETS += "ray.shutdown()\ncluster.shutdown()\n"


def seconds(pipe, count):
    for _ in range(BEFORE):
        pipe.run()
    begin = time.perf_counter()
    for _ in range(count):
        pipe.run()[0].at(0)[0, 0, 0]
    return time.perf_counter() - begin


class Worker:
    """A process that makes the batches of a pipeline."""

    def __init__(self, pipeline, *options):
        call = [sys.executable, "-m", "penstock", "serve", pipeline, "--port", "0", *options]
        self.process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def served(script, name, arguments, count, *options):
    from penstock import service

    with Worker(f"{script}:{name}", "--arguments", json.dumps(arguments), *options) as worker:
        loader = service.loader([worker.address], pipeline_of(script, name, arguments), without_workers="wait")
        took = seconds(loader, count)
        loader.close()
    return took


def pipeline_of(script, name, arguments):
    return runpy.run_path(str(script))[name](**arguments)


def alone(script, name, arguments, count):
    pipe = pipeline_of(script, name, arguments)
    took = seconds(pipe, count)
    pipe.close()
    return took


def peer(environment, text, count):
    done = subprocess.run([environment / "bin" / "python", "-c", text, str(count)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    return float(done.stdout.split()[-1])


def plain_sockets(count):
    """The same bytes between two processes, without frames, sums or a pipeline: what the way itself can do."""
    from service_network import plain

    call = [sys.executable, HERE / "service_network.py", "send", "127.0.0.1", "0"]
    sender = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
    try:
        batches = plain("127.0.0.1", sender.stdout.readline().split()[-1], 0)
        for _ in range(BEFORE):
            next(batches)
        begin = time.perf_counter()
        for _ in range(count):
            next(batches)
        return time.perf_counter() - begin
    finally:
        sender.kill()
        sender.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "pipelines.py"
        script.write_text(PIPELINES)
        rows = {
            "ready, in the trainer": lambda n: alone(script, "ready", {}, n),
            "ready, shared memory": lambda n: served(script, "ready", {}, n),
            "ready, sockets": lambda n: served(script, "ready", {}, n, "--no-shared-memory"),
            "ready, plain sockets": plain_sockets,
        }
        peers = {"tf.data service": TENSORFLOW, "Ray Data": RAY, "Ray Data, two raylets": TWO_RAYLETS}
        for name, text in peers.items():
            environment = ROOT / (".venv-frameworks" if text is TENSORFLOW else ".venv-ray")
            if (environment / "bin" / "python").exists():
                rows[f"ready, {name}"] = lambda n, e=environment, t=text: peer(e, t, n)
        if options.data:
            folder = {"folder": str(options.data.resolve())}
            rows["training, in the trainer"] = lambda n: alone(script, "training", folder, n)
            rows["training, shared memory"] = lambda n: served(script, "training", folder, n)
            rows["training, sockets"] = lambda n: served(script, "training", folder, n, "--no-shared-memory")
        rates = {name: [] for name in rows}
        for _ in range(options.rounds):
            for name, row in rows.items():
                rates[name].append(options.batches / row(options.batches))
                print(f"{name}: {rates[name][-1]:.1f} batches/s", file=sys.stderr, flush=True)
    lines = ["| batches | batches/s, median | GB/s |", "|---|---|---|"]
    for name, of_rounds in rates.items():
        rate = statistics.median(of_rounds)
        gigabytes = f"{rate * BYTES / 1e9:.2f}" if name.startswith("ready") else ""
        lines.append(f"| {name} | {rate:.1f} | {gigabytes} |")
    text = "\n".join(lines)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
