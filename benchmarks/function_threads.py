# SPDX-License-Identifier: Apache-2.0
"""Several threads that call one compiled function, beside as many functions, one for each thread.

    python benchmarks/function_threads.py [--threads 16] [--seconds 2] [--rounds 5] [--files 4]

A call decodes --files pictures to 224 x 224 float32 NCHW, into memory of the program; Python's lock is free meanwhile. Both ways and one
thread alone take turns. Prints calls a second (the best round) and ratios.
"""

import argparse
import threading
import time

import numpy as np
from functions import jpegs, photo

import penstock
from penstock import fn, pipeline_def, types


@pipeline_def(num_threads=1)
def photos():
    return photo(fn.external_source(name="x", dtype=types.UINT8, ndim=1))


def rate(functions, files, seconds):
    """Calls a second of a thread for each function, which may be the same one."""
    counts, begin = [0] * len(functions), threading.Barrier(len(functions) + 1)
    end = [float("inf")]

    def call(k):
        given = penstock.batch(files)
        room = penstock.batch(np.zeros((len(files), 3, 224, 224), np.float32))
        for _ in range(3):
            functions[k](given, into=room)
        begin.wait()
        while time.perf_counter() < end[0]:
            functions[k](given, into=room)
            counts[k] += 1

    threads = [threading.Thread(target=call, args=(k,)) for k in range(len(functions))]
    for t in threads:
        t.start()
    begin.wait()
    started = time.perf_counter()
    end[0] = started + seconds
    for t in threads:
        t.join()
    return sum(counts) / (time.perf_counter() - started)


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("threads", 16), ("rounds", 5), ("files", 4)):
        parse.add_argument(f"--{name}", type=int, default=value)
    parse.add_argument("--seconds", type=float, default=2.0)
    a = parse.parse_args()
    files = jpegs(None, a.files)
    one = photos(batch_size=a.files).compile()
    own = [photos(batch_size=a.files).compile() for _ in range(a.threads)]
    ways = {"one thread": own[:1], "one function": [one] * a.threads, "a function for each": own}
    best = dict.fromkeys(ways, 0.0)
    for _ in range(a.rounds):
        for way, functions in ways.items():
            best[way] = max(best[way], rate(functions, files, a.seconds))
    print(f"{a.threads} threads, {a.files} files a call")
    print("| way | calls/s | by one thread's | by a function for each |\n|---|---|---|---|")
    for way, calls in best.items():
        print(f"| {way} | {calls:.0f} | {calls / best['one thread']:.2f} | {calls / best['a function for each']:.2f} |")


if __name__ == "__main__":
    main()
