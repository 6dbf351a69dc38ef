# SPDX-License-Identifier: Apache-2.0
"""Records per second of an epoch whose files are not in memory, beside DALI, in one run; 2 threads.

    python benchmarks/cold_reading.py [--rounds 5] [--data FOLDER] [--medium TEXT]

Writes benchmarks/results/cold_reading.json and cold_reading.md. Before each epoch every file of the data set is evicted
from the page cache (posix_fadvise) and mincore says of each page that it is absent; then a process that has imported its
library builds the pipeline and takes one epoch. Loose files, TFRecord and LMDB take turns within a round; ratios are
medians of the rounds' ratios. "disk reads" counts the requests that the disk got. Directories and inodes stay cached, and so does whatever the machine below this one keeps.
Uses the data of benchmarks/containers.py.
"""

import argparse
import ctypes
import json
import mmap
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import containers
from environments import python_of

KINDS = ["files", "tfrecord", "lmdb"]
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def resident_pages(descriptor, size):
    address = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "mmap")
    pages = (ctypes.c_ubyte * ((size + mmap.PAGESIZE - 1) // mmap.PAGESIZE))()
    failed = LIBC.mincore(address, size, pages)
    LIBC.munmap(address, size)
    if failed:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(p & 1 for p in bytes(pages))


def evict(path):
    """Drops a file's pages; the number of pages that stayed."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        os.fsync(descriptor)  # dirty pages are not dropped
        for _ in range(20):  # a page that another core has just touched stays for a moment
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            left = resident_pages(descriptor, size) if size else 0
            if not left:
                break
            time.sleep(0.05)
        return left
    finally:
        os.close(descriptor)


def disk_reads(folder):
    """Requests that the disk below a folder has read for so far; other programs' are among them."""
    device = os.stat(folder).st_dev
    try:
        return int(Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text().split()[0])
    except OSError:  # no disk of its own
        return 0


def files_of(kind, folder):
    if kind == "files":
        return [p for p in (folder / "files").rglob("*") if p.is_file()]
    if kind == "lmdb":
        return [folder / "lmdb" / "data.mdb"]
    return [folder / "a.tfrecord"]


def epoch(library, kind, folder, shuffle):
    """Runs in the library's interpreter: an epoch after a line on the standard input."""
    __import__("nvidia.dali" if library == "dali" else "penstock")
    print("ready", flush=True)
    sys.stdin.readline()
    begin, cpu = time.perf_counter(), time.process_time()
    pipe = containers.pipeline(library, kind, folder, shuffle)
    count = next(iter(pipe.reader_meta().values()))["epoch_size"]
    for _ in range(-(-count // containers.BATCH)):
        pipe.run()
    print(
        count / (time.perf_counter() - begin), (time.process_time() - cpu) / (time.perf_counter() - begin), flush=True
    )


def measure(library, kind, folder, shuffle):
    child = subprocess.Popen(
        [python_of(library), __file__, "epoch", library, kind, str(folder), str(int(shuffle))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while (line := child.stdout.readline()) and line != "ready\n":
        pass
    left = sum(evict(p) for p in files_of(kind, folder))
    if left:
        raise SystemExit(f"{left} pages of {kind} stayed in the page cache: the files may be in use")
    before = disk_reads(folder)
    out, _ = child.communicate("\n")
    return [*(float(word) for word in out.split()), disk_reads(folder) - before]


def table(name, rates, order):
    lines = [
        f"| {order} | Penstock, records/s | of its loose files | cores | disk reads | DALI | disk reads | Penstock / DALI |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        ours, theirs = rates["penstock"][kind], rates["dali"][kind]
        loose = statistics.median(a[0] / b[0] for a, b in zip(ours, rates["penstock"]["files"]))
        beside = statistics.median(a[0] / b[0] for a, b in zip(ours, theirs))
        lines.append(
            f"| {kind} | {statistics.median(r[0] for r in ours):,.0f} | {loose:.2f} | "
            f"{statistics.median(r[1] for r in ours):.2f} | {statistics.median(r[2] for r in ours):,.0f} | "
            f"{statistics.median(r[0] for r in theirs):,.0f} | {statistics.median(r[2] for r in theirs):,.0f} | {beside:.2f} |"
        )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", required=True)
    parser.add_argument("--medium", default="not named")
    options = parser.parse_args()
    results, lines = {}, []
    for name, (bytes_each, count) in containers.SETS.items():
        folder = Path(options.data) / name.replace(" ", "_")
        if not folder.exists():
            containers.write_data(folder, bytes_each, count)
        lines += ["", f"## {name}: {count:,} of {bytes_each / 1000:.0f} KB on average"]
        for shuffle in (False, True):
            order = "shuffled" if shuffle else "in order"
            rates = {library: {kind: [] for kind in KINDS} for library in ("penstock", "dali")}
            for k in range(options.rounds):
                for library in sorted(rates, reverse=bool(k % 2)):
                    for kind in KINDS:
                        rates[library][kind].append(measure(library, kind, folder, shuffle))
            results.setdefault(name, {})[order] = rates
            lines += ["", *table(name, rates, order)]
            print("\n".join(table(name, rates, order)), flush=True)
    facts = {
        "medium": options.medium,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "threads": containers.THREADS,
        "batch": containers.BATCH,
        "rounds": options.rounds,
    }
    target = Path(__file__).parent / "results"
    (target / "cold_reading.json").write_text(json.dumps({"facts": facts, "results": results}, indent=1) + "\n")
    (target / "cold_reading.md").write_text(
        "\n".join(
            [
                "# An epoch from files that are not in memory, beside DALI 2.4",
                "",
                f"Medium: {options.medium}. {os.cpu_count()} cores, load {facts['load']:.1f} at the end; {containers.THREADS} threads, batches of "
                f"{containers.BATCH}, medians of {options.rounds} rounds. Every page was absent before each epoch (mincore). "
                "Made by `python benchmarks/cold_reading.py`.",
                *lines,
                "",
            ]
        )
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["epoch"]:
        epoch(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5] == "1")
    else:
        main()
