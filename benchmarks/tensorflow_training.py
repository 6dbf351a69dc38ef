# SPDX-License-Identifier: Apache-2.0
"""Steps of training Keras' ResNet-50 from a PenstockDataset, beside tensors over the batches of `run()`; and single small batches.

usage: .venv-frameworks/bin/python benchmarks/tensorflow_training.py [--steps N] [--rounds N] [--batch N] [--size PIXELS]

Both ways train the same compiled model on the same pipeline: JPEG files, a random crop, 64 x 64. They take turns of --steps steps in random
order. "run()" wraps the memory of the batch by DLPack, which copies nothing. A third way gives the model one batch that is made
before, which is what training costs without any data. Threads of the pipeline work ahead beside TensorFlow's, as in a real program, so that
milliseconds of the processor are those of the whole process.
The last rows are a small batch (4 x 8 float32) inside a tf.function, alone and beside a thread that holds Python's lock."""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from eager_iteration import Busy

from penstock import fn, pipeline_def
from penstock.plugin.tf import PenstockDataset

sys.path.append(str(Path(__file__).resolve().parent.parent / "examples" / "frameworks"))
from resnet50_tensorflow import make_model, training
from textures import write_folder


@pipeline_def(batch_size=4, num_threads=1, seed=5)
def small():
    return fn.random.uniform(range=[0.0, 1.0], shape=[8])


def tensors(outputs):
    """The memory of a batch as tensors of TensorFlow."""
    return [tf.experimental.dlpack.from_dlpack(output.as_tensor().__dlpack__()) for output in outputs]


def endless(take):
    while True:
        yield take()


def trained(model, batches, steps):
    """(wall, processor) milliseconds of each step."""
    found = []
    for _ in range(steps):
        wall, cpu = time.perf_counter(), time.process_time()
        images, labels = next(batches)
        float(model.train_on_batch(images, labels))
        found.append(((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3))
    return found


def train(options, folder):
    """{way: what `trained` says, a list for each round}"""
    pipe = training(folder, options.size, batch_size=options.batch)
    data = iter(PenstockDataset(training(folder, options.size, batch_size=options.batch)))
    ready = tensors(pipe.run())
    ways = {
        "PenstockDataset": data,
        "run()": endless(lambda: tensors(pipe.run())),
        "one batch, made before": endless(lambda: ready),
    }
    model, found = make_model(4, options.size), {name: [] for name in ways}
    for batches in ways.values():
        trained(model, batches, 5)
    for _ in range(options.rounds):
        for name, batches in random.sample(list(ways.items()), len(ways)):
            found[name].append(trained(model, batches, options.steps))
    return found


def graph_of_small_batches():
    """A function that takes `count` batches inside TensorFlow and gives microseconds of each."""
    data = iter(PenstockDataset(small()))

    @tf.function
    def loop(count):
        total = 0.0
        for _ in tf.range(count):
            total += next(data)[0, 0]
        return total

    def taken(count):
        start = time.perf_counter()
        loop(tf.constant(count))
        return (time.perf_counter() - start) * 1e6 / count

    taken(10)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = train(options, write_folder(folder, 256))
    print(
        f"load {os.getloadavg()[0]:.1f}\n| data | ms a step, median of rounds | least | processor ms | rate / that of run() |"
    )
    print("|---|---:|---:|---:|---:|")
    middle = {
        name: [statistics.median(wall for wall, _ in steps) for steps in rounds] for name, rounds in found.items()
    }
    for name, rounds in middle.items():
        walls, cpus = zip(*(step for steps in found[name] for step in steps))
        rate = statistics.median(base / own for base, own in zip(middle["run()"], rounds))
        print(
            f"| {name} | {statistics.median(rounds):.1f} | {min(walls):.1f} | {statistics.median(cpus):.1f} | {rate:.3f} |"
        )
    taken, alone, beside = graph_of_small_batches(), [], []
    for _ in range(options.rounds):
        alone.append(taken(2000))
        with Busy():
            beside.append(taken(2000))
    for name, rounds in (("alone", alone), ("beside a busy Python thread", beside)):
        print(f"a small batch in a tf.function, {name}: {statistics.median(rounds):.0f} us, least {min(rounds):.0f}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
