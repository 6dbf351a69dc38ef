# SPDX-License-Identifier: Apache-2.0
"""Milliseconds a batch of TensorFlow's eager iteration and of a loop in a graph, with and without a busy Python thread.

usage: .venv-frameworks/bin/python benchmarks/eager_iteration.py [BATCHES] [ROUNDS]

A data set of Penstock, one of tf.data's own operators, one that repeats a tensor, and a Python generator take turns. The batches are
small (8 x 3000 float32), so that nearly all of the time is what a step costs. The busy thread counts in Python and never
waits; it has the interval after which Python's lock changes hands as sys.setswitchinterval() says."""

import itertools
import os
import statistics
import sys
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
SHAPE = (8, 3000)


def datasets():
    import tensorflow as tf

    import numpy as np
    from penstock import fn, pipeline_def
    from penstock.plugin.tf import PenstockDataset

    @pipeline_def(batch_size=SHAPE[0], num_threads=1, seed=5)
    def numbers():
        return fn.random.uniform(range=[0.0, 1.0], shape=[SHAPE[1]])

    zeros, tensor = np.zeros(SHAPE, np.float32), tf.TensorSpec(SHAPE)
    random = tf.data.Dataset.range(2**40).map(lambda k: tf.random.stateless_uniform(SHAPE, [0, k]))
    return {
        "PenstockDataset": PenstockDataset(numbers()),
        "tf.data, `map` of random numbers": random,
        "tf.data, `from_tensors().repeat()`": tf.data.Dataset.from_tensors(zeros).repeat(),
        "tf.data, `from_generator`": tf.data.Dataset.from_generator(
            lambda: itertools.repeat(zeros), output_signature=tensor
        ),
    }


class Busy:
    """A thread that holds Python's lock as long as it may."""

    def __enter__(self):
        self.end = False
        self.thread = threading.Thread(target=self.count)
        self.thread.start()

    def count(self):
        while not self.end:
            sum(k for k in range(1000))

    def __exit__(self, *_):
        self.end = True
        self.thread.join()


def eager(dataset, count):
    """Milliseconds of each batch."""
    iterator, taken = iter(dataset), []
    next(iterator)
    for _ in range(count):
        start = time.perf_counter()
        next(iterator)
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


def loop_in_graph():
    import tensorflow as tf

    @tf.function
    def run(iterator, count):
        total = 0.0
        for _ in tf.range(count):
            total += next(iterator)[0, 0]
        return total

    def milliseconds(dataset, count):
        iterator = iter(dataset)
        run(iterator, tf.constant(1))
        start = time.perf_counter()
        run(iterator, tf.constant(count))
        return [(time.perf_counter() - start) * 1e3 / count]

    return milliseconds


def main():
    count, rounds = (int(given) for given in (sys.argv[1:] + ["200", "5"][len(sys.argv) - 1 :]))
    kinds, sets = {"eager": eager, "graph": loop_in_graph()}, datasets()
    taken = {}
    for _ in range(rounds):
        for interval in (None, 0.005, 0.0005, 0.0001):
            sys.setswitchinterval(interval or 0.005)
            for name, dataset in sets.items():
                for kind, measured in kinds.items():
                    if interval is None:
                        found = measured(dataset, count)
                    else:
                        with Busy():
                            found = measured(dataset, count)
                    taken.setdefault((interval, kind, name), []).extend(found)
    print("| busy thread | data set | eager mean | median | 99 % | in a graph |")
    print("|---|---|---:|---:|---:|---:|")
    for interval, name in itertools.product((None, 0.005, 0.0005, 0.0001), sets):
        steps = sorted(taken[interval, "eager", name])
        figures = statistics.mean(steps), statistics.median(steps), steps[len(steps) * 99 // 100]
        figures = [*figures, statistics.median(taken[interval, "graph", name])]
        beside = f"switch interval {interval * 1e3:g} ms" if interval else "none"
        print(f"| {beside} | {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
