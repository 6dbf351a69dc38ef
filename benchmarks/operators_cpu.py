# SPDX-License-Identifier: Apache-2.0
"""Every operator of the registry that computes, on the CPU, beside OpenCV or else NumPy, SciPy.

    python benchmarks/operators_cpu.py [--threads N] [--rounds N] [--quick] [--only WORD ...] [--peers LIBRARY ...] [--json FILE]

It needs NumPy, OpenCV and Penstock. The process keeps to as many cores as threads; Penstock works with as many threads, and so many
threads call the peer for samples in turn. Both take turns, round after round; a time is the median of the rounds for one batch, and
the ratio is the peer's time by Penstock's. `--clock cpu` counts the seconds of the processor and takes the least, for a machine
that has other work; then take one thread. With PENSTOCK_TARGET=avx2 NumPy and OpenCV keep to AVX2 too: the row is that of a machine
without AVX-512. An operator that has neither a row nor a reason in operator_rows.py is an error.
"""

import argparse
import ctypes
import json
import os
import re
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LEVEL = 0.95  # a row with this ratio is not slower: less is noise
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # malloc.h


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--quick", action="store_true", help="uniform batches and 2 rounds")
    parser.add_argument("--only", nargs="*", metavar="REGEX", help="rows whose name one of these matches at its start")
    parser.add_argument("--dtypes", nargs="*", default=["uint8", "float32", "uint16"])
    parser.add_argument("--peers", nargs="*", default=["OpenCV", "NumPy", "SciPy"])
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--slice", type=float, default=0.02, help="least seconds of one turn")
    parser.add_argument("--seconds", type=float, default=1e9, help="rows that do not fit are left out")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.rounds = 2
    return options


def keep_to(threads):
    """Before Penstock and NumPy are imported: they take a thread for each core. The peers get one thread for each call."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    if os.environ.get("PENSTOCK_TARGET") == "avx2":
        os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR")
        os.environ.setdefault("OPENCV_CPU_DISABLE", "AVX512-SKX")
    libc = ctypes.CDLL(None)  # else malloc returns large results to the system, and a peer's next one has new pages
    libc.mallopt(_MMAP_THRESHOLD, 1 << 30)
    libc.mallopt(_TRIM_THRESHOLD, (1 << 31) - 1)
    cores = sorted(os.sched_getaffinity(0))
    if threads > len(cores):
        sys.exit(f"{threads} threads on {len(cores)} cores")
    os.sched_setaffinity(0, cores[:threads])


def variants(options):
    """(row, dtype, ragged) of all that is measured."""
    from operator_rows import ROWS

    for row in ROWS.values():
        if options.only and not any(re.match(word, row.name) for word in options.only):
            continue
        for dtype in row.dtypes:
            for ragged in row.shapes:
                if dtype in options.dtypes and not (ragged and options.quick):
                    yield row, dtype, ragged


class Peers:
    def __init__(self, options):
        import operator_peers

        self.known, self.threads, self.libraries = operator_peers, options.threads, options.peers
        self.pool = ThreadPoolExecutor(self.threads)

    def call(self, row, arrays):
        """What runs the row's peer over the batch, or None."""
        function = self.known.PEERS.get(row.name)
        if function is None or self.known.LIBRARIES[row.name] not in self.libraries:
            return None
        samples = list(zip(*arrays))

        def part(first):
            return [function(*sample) for sample in samples[first :: self.threads]]

        if self.threads == 1:
            return lambda: part(0)
        return lambda: list(self.pool.map(part, range(self.threads)))

    def named(self, row):
        note = self.known.NOTES.get(row.name)
        return self.known.LIBRARIES[row.name] + (f" ({note})" if note else "")


def turn(call, count, clock):
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def timed(calls, options):
    """Milliseconds of each call: they take turns."""
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    counts = []
    for call in calls:
        call()
        seconds = turn(call, 1, time.perf_counter)
        counts.append(max(1, int(options.slice / max(seconds, 1e-6))))
    slow = max(turn(call, 1, time.perf_counter) for call in calls) > 0.3
    rounds = [
        [turn(call, count, clock) for call, count in zip(calls, counts)]
        for _ in range(min(options.rounds, 2) if slow else options.rounds)
    ]
    chosen = min if options.clock == "cpu" else statistics.median
    return [1e3 * chosen(times) for times in zip(*rounds)]


def measure(row, dtype, ragged, modules, peers, options):
    import operator_data
    import operator_rows

    import penstock

    arrays = [operator_data.samples(kind, dtype, options.batch, ragged) for kind in row.kinds]
    layouts = [operator_data.LAYOUTS.get(kind.rstrip("'"), "") for kind in row.kinds]
    batches = [penstock.batch(a, layout=layout) for a, layout in zip(arrays, layouts)]
    found = {"row": row.name, "type": dtype, "ragged": ragged, "peer": None, "ratio": None}
    other = peers.call(row, arrays)
    times = timed([operator_rows.prepared(row, modules, batches), *([other] if other else [])], options)
    found["penstock_ms"] = times[0]
    if other:
        found |= {"peer": peers.named(row), "peer_ms": times[1], "ratio": times[1] / times[0]}
    return found


def shown(found):
    shape = "ragged" if found["ragged"] else "uniform"
    first = f"| {found['row']} | {found['type']} | {shape} "
    if "error" in found:
        return f"{first}| {found['error']} | | | |"
    if not found["peer"]:
        return f"{first}| {found['penstock_ms']:.3f} | | | |"
    mark = "**" if found["ratio"] < LEVEL else ""
    ratio = f"{mark}{found['ratio']:.2f}{mark}"
    return f"{first}| {found['penstock_ms']:.3f} | {found['peer_ms']:.3f} | {ratio} | {found['peer']} |"


def summary(rows):
    ratios = sorted(r["ratio"] for r in rows if r.get("ratio"))
    failed = [r["row"] for r in rows if "error" in r]
    if not ratios:
        return f"{len(rows)} rows, none with a peer; {len(failed)} failed {failed or ''}"
    share = sum(ratio >= LEVEL for ratio in ratios) / len(ratios)
    return (
        f"{len(rows)} rows, {len(ratios)} with a peer: {100 * share:.1f} % not slower than {LEVEL}, least {ratios[0]:.3f}, "
        f"median {statistics.median(ratios):.2f}; {len(failed)} failed {failed or ''}"
    )


def main():
    options = parse()
    keep_to(options.threads)
    import operator_rows
    import race

    from penstock import _core, fn, math
    from penstock import types as element_types

    operator_rows.check_registry(_core.operators(True))
    size = {"batch_size": options.batch}
    modules = operator_rows.modules(fn, element_types, math, options.batch, size)
    peers, rows, end, left_out = Peers(options), [], time.monotonic() + options.seconds, 0
    facts = {**race.machine_facts(), "target": os.environ.get("PENSTOCK_TARGET", "best"), "versions": race.versions()}
    facts |= {"threads": options.threads, "rounds": options.rounds, "batch": options.batch, "clock": options.clock}
    print("".join(f"- {key}: {value}\n" for key, value in facts.items()))
    print("| operator | type | batch | Penstock, ms | peer, ms | ratio | peer |\n|---|---|---|---|---|---|---|")
    for row, dtype, ragged in variants(options):
        if time.monotonic() > end:
            left_out += 1
            continue
        try:
            rows.append(measure(row, dtype, ragged, modules, peers, options))
        except Exception as e:
            text = f"{type(e).__name__}: {str(e).splitlines()[0][:140]}"
            rows.append({"row": row.name, "type": dtype, "ragged": ragged, "error": text})
        print(shown(rows[-1]), flush=True)
    print("\n" + summary(rows) + (f"; no time for {left_out}" if left_out else ""))
    if options.json:
        options.json.write_text(json.dumps({"facts": facts, "summary": summary(rows), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
