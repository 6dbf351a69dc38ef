# SPDX-License-Identifier: Apache-2.0
"""What each thread of the process spends on a call: microseconds of a core, and how often it is switched in.

    python benchmarks/gpu/threads.py [SECONDS]

Pipelines over 256 pictures that lie on the GPU: "callable" has a source that is called, "fed" is given its batch by run();
"depth 1" runs one iteration ahead. Linux alone: it reads /proc/self/task/*/schedstat. Threads that spend under half a
microsecond, and those of which nothing is known at the end, are left out.
"""

import os
import statistics
import sys
import time

import measure
import torch  # noqa: F401  (loads the libraries of CUDA)
from suites import host, images, ragged


def times_of_threads():
    found = {}
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/schedstat") as file:
                cpu, _, switched = map(int, file.read().split())
        except OSError:  # it has ended
            continue
        found[task] = cpu, switched
    return found


def spent(call, seconds):
    """Microseconds a call, and a list of those of its threads."""
    for _ in range(60):
        call()
    measure.synchronize()
    before, begin, count = times_of_threads(), time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        for _ in range(50):
            call()
        count += 50
    measure.synchronize()
    took = (time.perf_counter() - begin) / count * 1e6
    threads = []
    for task, (cpu, switched) in times_of_threads().items():
        was, had = before.get(task, (0, 0))
        if cpu - was > 500 * count:
            threads.append(((cpu - was) / count / 1e3, (switched - had) / count))
    return took, sorted(threads, reverse=True)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.25
    measure.own_stream()
    large = images.penstock_batch(images.ragged(256, 224, 512))
    small = images.penstock_batch(host.small(256))
    bodies = [
        ("copy", small, host.hues(0)),
        ("random_resized_crop", large, ragged.body(False)),
        ("hsv", small, host.hues(1)),
        ("8 hsv", small, host.hues(8)),
        ("gaussian_blur", small, host.blurs(1)),
        ("8 gaussian_blur", small, host.blurs(8)),
    ]
    for name, batch, body in bodies:
        for kind, how in (("callable", {}), ("callable, depth 1", {"depth": 1}), ("fed", {"fed": True})):
            call = images.penstock_pipeline(batch, body, **how)
            rounds = [spent(call, seconds) for _ in range(3)]
            took = statistics.median(r[0] for r in rounds)
            threads = next(r[1] for r in rounds if r[0] == took)
            print(
                f"{name + ', ' + kind:40s} {took:7.1f} us; a core: {sum(t[0] for t in threads):6.1f} us:",
                ", ".join(f"{cpu:.1f} ({switched:.1f} x)" for cpu, switched in threads),
                flush=True,
            )


main()
