# SPDX-License-Identifier: Apache-2.0
"""What control flow costs on the CPU, in one run: a data-dependent loop against straight-line code and against the form
unrolled to the greatest length, and an `if` around nothing. usage: control_flow.py [--json FILE] [--rounds N]"""

import argparse
import json
import statistics
import time

import numpy as np

from penstock import fn, pipeline_def, types

BATCH, TRIPS, SIZE = 64, 10, 256


def images(n):
    rng = np.random.default_rng(0)
    batch = [rng.integers(0, 255, (SIZE, SIZE), np.uint8) for _ in range(n)]
    return fn.external_source(lambda: batch, dtype=types.UINT8, layout="HW", no_copy=True)


def counts(values):
    given = [np.int32(v) for v in values]
    return fn.external_source(lambda: given, dtype=types.INT32, ndim=0)


def blurred(x):
    return fn.gaussian_blur(x, window_size=5)


def brighter(x):
    return fn.brightness_contrast(x, brightness=1.01)


def loop(body, trips):
    @pipeline_def(batch_size=BATCH, num_threads=2, seed=1, prefetch_queue_depth=1)
    def pipe():
        x, n = images(BATCH), counts(trips)
        for _ in range(n):
            x = body(x)
        return x

    return pipe()


def straight(body, trips):
    @pipeline_def(batch_size=BATCH, num_threads=2, seed=1, prefetch_queue_depth=1)
    def pipe():
        x = images(BATCH)
        for _ in range(TRIPS):
            x = body(x)
        return x

    return pipe()


def unrolled(body, trips):
    """Each sample makes each trip; a multiplication keeps the result of those that are its own."""

    @pipeline_def(batch_size=BATCH, num_threads=2, seed=1, prefetch_queue_depth=1)
    def pipe():
        x, n = images(BATCH), counts(trips)
        for k in range(TRIPS):
            more = fn.cast(n > k, dtype=types.UINT8)
            x = fn.cast(body(x) * more + x * (1 - more), dtype=types.UINT8)
        return x

    return pipe()


def around_nothing(with_if):
    """An `if` whose branches only choose: what splitting and merging cost."""

    @pipeline_def(batch_size=BATCH, num_threads=2, seed=1, prefetch_queue_depth=1)
    def pipe():
        n, m = counts([k % 2 for k in range(BATCH)]), counts(range(BATCH))
        c = n > 0
        y = m
        if with_if:
            if c:
                y = n
        return y, c

    return pipe()


def seconds(pipes, rounds, runs=4):
    """The median time of a run of each pipeline, taken in turn."""
    for p in pipes:
        p.run()
    times = [[] for _ in pipes]
    for _ in range(rounds):
        for p, t in zip(pipes, times):
            for _ in range(3):  # batches that were made ahead
                p.run()
            begin = time.perf_counter()
            for _ in range(runs):
                p.run()
            t.append((time.perf_counter() - begin) / runs)
    return [statistics.median(t) for t in times]


def processor_seconds(pipe, runs=200):
    """What a run takes of all threads together: waiting, and what else the machine does, is not in it."""
    begin = time.process_time()
    for _ in range(runs):
        pipe.run()
    return (time.process_time() - begin) / runs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    uniform = np.random.default_rng(1).integers(0, TRIPS + 1, BATCH).tolist()
    full, results = [TRIPS] * BATCH, {}
    for name, body in (("stencil", blurred), ("pixel", brighter)):
        a, b, c, d = seconds(
            [loop(body, full), straight(body, full), loop(body, uniform), unrolled(body, uniform)], options.rounds
        )
        results[name] = {
            "loop_full_ms": a * 1e3,
            "straight_ms": b * 1e3,
            "loop_uniform_ms": c * 1e3,
            "unrolled_ms": d * 1e3,
            "loop_over_straight": a / b,
            "loop_over_unrolled": c / d,
        }
    pipes = [around_nothing(True), around_nothing(False)]
    a, b = seconds(pipes, 4 * options.rounds, 200)
    counted = pipes[0].executor_statistics()
    results["if_us_a_batch"] = (
        sum(s["seconds"] for s in counted["stages"] if s["name"] == "if") / counted["iterations"] * 1e6
    )
    results["if_us_a_batch_of_wall_time"] = (a - b) * 1e6  # a difference of two times with queues in them
    pairs = [(processor_seconds(pipes[0]), processor_seconds(pipes[1])) for _ in range(4 * options.rounds)]
    results["if_us_a_batch_of_processor_time"] = statistics.median(x - y for x, y in pairs) * 1e6
    print(json.dumps(results, indent=1))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
