# SPDX-License-Identifier: Apache-2.0
"""How fast a folder of pictures becomes shards: penstock.conversion beside MosaicML's MDSWriter and WebDataset's ShardWriter, which read the
files one after another in Python. They run in turn; the ratio is the median of those of the rounds.

    python benchmarks/conversion.py [--pictures 2000] [--bytes 100000] [--rounds 5]

Needs mosaicml-streaming and webdataset (pip install); what is not installed is omitted.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import tempfile
import time

import numpy as np

from penstock import conversion


def write_pictures(folder, count, size):
    """Bytes that begin as JPEG files: nothing decodes them."""
    rng = np.random.default_rng(1)
    for k in range(count):
        path = folder / f"{k % 10}" / f"{k:06d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff\xd8\xff" + rng.bytes(int(size * rng.uniform(0.5, 1.5))))


def pictures(folder):
    for label, name in enumerate(sorted(os.listdir(folder))):
        for file in sorted(os.listdir(folder / name)):
            yield name, file, (folder / name / file).read_bytes(), label


def by_streaming(folder, target):
    from streaming import MDSWriter

    columns = {"__key__": "str", "image": "bytes", "label": "int"}
    with MDSWriter(out=str(target), columns=columns, size_limit=64 << 20) as writer:
        for name, file, content, label in pictures(folder):
            writer.write({"__key__": f"{name}/{file}", "image": content, "label": label})


def by_webdataset(folder, target):
    from webdataset import ShardWriter

    target.mkdir()
    with ShardWriter(str(target / "%06d.tar"), maxsize=64 << 20, verbose=0) as writer:
        for name, file, content, label in pictures(folder):
            writer.write({"__key__": f"{name}/{file[:-4]}", "jpg": content, "cls": label})


def by_penstock(to, **options):
    return lambda folder, target: conversion.convert(folder, target, to, **options)


ROWS = {
    "mds": [by_streaming, by_penstock("mds", check=False), by_penstock("mds")],
    "tar": [by_webdataset, by_penstock("tar", check=False), by_penstock("tar")],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--bytes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root = pathlib.Path(made)
        write_pictures(root / "pictures", args.pictures, args.bytes)
        for to, runs in ROWS.items():
            times = [[] for _ in runs]
            for _ in range(args.rounds):
                for run, took in zip(runs, times):
                    begin = time.perf_counter()
                    try:
                        run(root / "pictures", root / "out")
                    except ImportError as error:
                        print(f"{run.__name__}: {error}")
                        took.append(float("nan"))
                    else:
                        took.append(time.perf_counter() - begin)
                    shutil.rmtree(root / "out", ignore_errors=True)
            peer, plain, checked = times
            ratios = [statistics.median(p / o for p, o in zip(peer, ours)) for ours in (plain, checked)]
            print(
                f"{to}: {args.pictures / statistics.median(plain):.0f} pictures/s, {ratios[0]:.2f} times the peer's; "
                f"with the check at the end {ratios[1]:.2f}; load {os.getloadavg()[0]:.1f}"
            )


if __name__ == "__main__":
    main()
