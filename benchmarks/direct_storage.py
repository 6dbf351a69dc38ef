# SPDX-License-Identifier: Apache-2.0
"""readers.numpy(device="gpu") through cuFile, beside reading and copying, and DALI's where it is given; for a machine with a GPU.

usage: direct_storage.py FOLDER [--files 512] [--megabytes 8] [--batch 16] [--threads 8] [--rounds 5] [--dali PYTHON] [--json FILE]

Makes the files in FOLDER where they are not there. Each way is a process of its own; before each round the files are dropped from the
page cache (posix_fadvise). Prints the median of the rounds, in GB/s.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time


def files_of(options):
    return [pathlib.Path(options.folder) / f"{k:05}.npy" for k in range(options.files)]


def evict(files):
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def measure(options):
    if options.way == "dali":
        from nvidia.dali import Pipeline, fn
    else:
        from penstock import Pipeline, fn
    files = files_of(options)
    pipe = Pipeline(batch_size=options.batch, num_threads=options.threads, device_id=0)
    with pipe:
        pipe.set_outputs(fn.readers.numpy(device="gpu", files=[str(f) for f in files], name="Reader"))
    pipe.build()
    rates = []
    for _ in range(options.rounds + 1):
        evict(files)
        begin = time.perf_counter()
        for _ in range(options.files // options.batch):
            pipe.run()[0].as_cpu()[0]  # waits for the batch
        rates.append(options.files * options.megabytes / 1e3 / (time.perf_counter() - begin))
    print(json.dumps(rates[1:]))  # the first round makes memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    for name, value in (("files", 512), ("megabytes", 8), ("batch", 16), ("threads", 8), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--dali", help="a Python that has DALI")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        return measure(options)
    if missing := [f for f in files_of(options) if not f.exists()]:
        import numpy as np

        pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
        for f in missing:
            np.save(f, np.random.default_rng(0).integers(0, 255, (options.megabytes * 1000, 1000), np.uint8))
    ways = {"cuFile": (sys.executable, {}), "read and copied": (sys.executable, {"PENSTOCK_CUFILE": "off"})}
    if options.dali:
        ways["dali"] = (options.dali, {})
    results = {}
    for name, (python, environment) in ways.items():
        way = "dali" if name == "dali" else "penstock"
        done = subprocess.run(
            [python, __file__, *sys.argv[1:], "--way", way],
            env=dict(os.environ, **environment),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            print(f"{name}: {done.stderr.strip().splitlines()[-1:]}")
            continue
        results[name] = json.loads(done.stdout.splitlines()[-1])
        print(
            f"{name}: {statistics.median(results[name]):.2f} GB/s, {min(results[name]):.2f} to {max(results[name]):.2f}"
        )
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"command": sys.argv, "GB/s": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
