# SPDX-License-Identifier: Apache-2.0
"""What a sample costs on its way from a worker process: Penstock's and DALI's external_source(parallel=True), Penstock's
readers.dataset(processes=True) and torch's DataLoader, in one run.

    python benchmarks/worker_processes.py [--json FILE] [--rounds N] [--workers N] [--batches N] [--start fork|spawn]

The user's function does next to nothing (it fills an array), so that what is measured is the way from it to a batch in the
trainer's process. Samples of 224x224x3 uint8 and of 1 MiB float32; batches of 64 and 16. All methods get the same number of
processes and two batches ahead. Medians of rounds that take turns; CPU is that of all processes together.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
SIZES = {"224x224x3 uint8": ((224, 224, 3), np.uint8, 64), "1 MiB float32": ((512, 512), np.float32, 16)}
METHODS = {
    "Penstock": "penstock",
    "Penstock, whole batches": "penstock",
    "Penstock dataset": "penstock",
    "DALI": "dali",
    "DALI, whole batches": "dali",
    "torch DataLoader": "penstock",
}
AHEAD = 2


class Samples:
    """A data set."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def __len__(self):
        return 1 << 40

    def __getitem__(self, index):
        return np.full(self.shape, index % 251, self.dtype)


class Calls:
    """The same as a callable: by SampleInfo, or a batch by its number."""

    def __init__(self, samples, batch=0):
        self.samples, self.batch = samples, batch

    def __call__(self, info):
        if not self.batch:
            return self.samples[info.idx_in_epoch]
        return [self.samples[info * self.batch + i] for i in range(self.batch)]


def pipeline_batches(method, samples, size, workers, start):
    """Endless batches: the first byte of each sample is read, so that all of it has come."""
    if method.startswith("DALI"):
        from nvidia.dali import Pipeline, fn

        device = {"device_id": None}
    else:
        from penstock import Pipeline, fn

        device = {}
    pipe = Pipeline(size, 1, py_num_workers=workers, py_start_method=start, prefetch_queue_depth=AHEAD, **device)
    with pipe:
        if "dataset" in method:
            out = fn.readers.dataset(samples, num_outputs=1, num_workers=workers, processes=True)
        else:
            whole = "whole" in method
            source = Calls(samples, size if whole else 0)
            out = fn.external_source(source, parallel=True, batch=whole, prefetch_queue_depth=AHEAD)
        pipe.set_outputs(out)
    pipe.build()
    while True:
        (batch,) = pipe.run()
        yield [np.asarray(batch.at(i)).flat[0] for i in range(size)]


def torch_batches(samples, size, workers, start):
    import torch

    loader = torch.utils.data.DataLoader(
        samples, batch_size=size, num_workers=workers, prefetch_factor=AHEAD, multiprocessing_context=start
    )
    for batch in loader:
        yield batch.flatten(1)[:, 0].tolist()


def serve(method, size_name, workers, batches, start):
    from race import serve as answer

    shape, dtype, size = SIZES[size_name]
    samples = Samples(shape, dtype)
    if method.startswith("torch"):
        made = torch_batches(samples, size, workers, start)
    else:
        made = pipeline_batches(method, samples, size, workers, start)
    first = next(made)
    if [int(v) for v in first] != [i % 251 for i in range(size)]:
        raise SystemExit(f"{method} gives other samples: {first}")

    def one_pass():
        for _ in range(2 * AHEAD + workers):  # what was made before
            next(made)
        begin = time.perf_counter()
        for _ in range(batches):
            next(made)
        return batches, time.perf_counter() - begin

    answer(one_pass, {"processes": workers})


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--json", type=Path)
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--workers", type=int, default=2)
    words.add_argument("--batches", type=int, default=60)
    words.add_argument("--start", choices=["fork", "spawn"], default="fork")
    words.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.serve:
        return serve(*given.serve, given.workers, given.batches, given.start)
    import race
    from environments import python_of

    results = {"machine": race.machine_facts(), "workers": given.workers, "start": given.start, "rows": []}
    for size_name, (_, _, size) in SIZES.items():
        commands = {}
        for method, peer in METHODS.items():
            python = python_of(peer)
            if python is None:
                print(f"{method}: no environment")
                continue
            commands[method] = (
                [
                    python,
                    str(ROOT / "worker_processes.py"),
                    "--serve",
                    method,
                    size_name,
                    "--workers",
                    str(given.workers),
                    "--batches",
                    str(given.batches),
                    "--start",
                    given.start,
                ],
                {},
            )
        rows, _ = race.race(commands, ROOT / "logs", given.rounds)
        for row in sorted(rows, key=lambda r: -r["rate"]):
            row |= {"samples": size_name, "batch": size, "cpu_ms_a_batch": row["cpu_percent"] * 10 / row["rate"]}
            results["rows"].append(row)
            print(
                f"{size_name}, batches of {size}: {row['method']:24} {row['rate']:8.1f} batches/s, "
                f"{row['cpu_ms_a_batch']:7.2f} ms of CPU a batch"
            )
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
