# SPDX-License-Identifier: Apache-2.0
"""Damaged pictures, sounds, videos and containers through Penstock with as many threads as users have, in separate processes.

    python tests/mutated_files/sweep.py COUNT [--kinds pictures sounds/mp3 ...] [--first N] [--workers N] [--seconds LIMIT]
    python tests/mutated_files/sweep.py --make FOLDER       writes the whole files: needs what the tests need
    python sweep.py COUNT --folder FOLDER                   tries them: needs an installed Penstock and NumPy alone

COUNT files of each group are tried. Its group's kinds and its number determine each: a whole file with flipped bits,
bytes zeroed, removed or inserted, or truncated. It must give samples of a sane shape and type or an error of the data
that names the operator and, of a file, the file. A process that dies, a file that takes longer than 5 seconds (twice) and any
other error or result are reported; then the exit status is 1. On a machine that others use too, 5 seconds are of computing, and
60 of waiting; the summary has the longest time by the clock.
"""

import argparse
import collections
import importlib
import os
import platform
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
import attempts  # noqa: E402

LONGEST, WAITING = 5.0, 60.0  # seconds for one file: of computing, and by the clock where it has not computed as long
GROUPS = ("pictures", "sounds", "videos", "containers")


def attempts_of(group):
    return getattr(importlib.import_module(group), group.capitalize())


def make(folder, group, **options):
    (Path(folder) / group).mkdir(parents=True)
    importlib.import_module(group).make(Path(folder) / group, **options)


def kinds_in(folder, group):
    return sorted(path.stem for path in (Path(folder) / group).iterdir())


def work(folder, group, kinds, numbers):
    """In a separate process: prints each number before it is tried and, after it, the result."""
    group_attempts = attempts_of(group)(Path(folder) / group, kinds)
    for number in numbers:
        print("try", number, flush=True)
        said = group_attempts.check(number).replace("\n", " | ")
        print("got", number, said, flush=True)


def computed(process):
    """Seconds of its threads so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process that tries numbers; the next one takes over if it dies or hangs."""

    def __init__(self, folder, group, kinds, numbers, own):
        """`own`: the folder for what it writes."""
        self.arguments, self.left, self.process = (str(folder), group, kinds), collections.deque(numbers), None
        self.environment = {**os.environ, "TMPDIR": str(own)}
        self.buffer, self.trying, self.since, self.again = b"", None, time.monotonic(), None
        self.computed, self.slowest = None, 0.0
        self.start()

    def start(self):
        self.trying, self.since, self.buffer = None, time.monotonic(), b""
        if self.left:
            folder, group, kinds = self.arguments
            step = self.left[1] - self.left[0] if len(self.left) > 1 else 1
            command = [
                sys.executable,
                __file__,
                "--folder",
                folder,
                "--kinds",
                *(f"{group}/{kind}" for kind in kinds),
                "--numbers",
                str(self.left[0]),
                str(self.left[-1] + 1),
                str(step),
            ]
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment
            )

    def stop(self):
        if self.left:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def hear(self):
        """The results of numbers since the last call: (number, text)."""
        ready, _, _ = select.select([self.process.stdout], [], [], 0.05)
        if ready:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                code = self.process.wait()
                if not self.left:
                    return
                number = self.left.popleft() if self.trying is not None else None
                if number is None:
                    raise SystemExit(f"a worker ended with {code} before it had tried a file")
                yield number, f"the process died: {signal.Signals(-code).name if code < 0 else code}"
                self.start()
                return
            *lines, self.buffer = (self.buffer + data).split(b"\n")
            for line in lines:
                word, number, *rest = line.decode(errors="replace").split(" ", 2)
                if word == "try":
                    self.trying, self.since, self.computed = int(number), time.monotonic(), None
                elif word == "got":
                    self.left.popleft()
                    self.trying, self.slowest = None, max(self.slowest, time.monotonic() - self.since)
                    yield int(number), rest[0]
        elif self.trying is not None and self.hangs():
            self.process.kill()
            self.process.wait()
            if self.again == self.trying:
                yield self.left.popleft(), f"more than {LONGEST:g} s"
            self.again = self.trying
            self.start()

    def hangs(self):
        if self.computed is None:
            self.computed = computed(self.process)
        passed = time.monotonic() - self.since
        return passed > LONGEST and (passed > WAITING or computed(self.process) - self.computed > LONGEST)


def sweep(folder, group, kinds, count, first=0, workers=2, seconds=None, said=None):
    """({kind: counts of results}, [(number, kind, way, what is wrong)], the longest time); `said` is called from time to time."""
    counts, wrong, what = {kind: collections.Counter() for kind in kinds}, [], attempts_of(group).what
    done, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as own:
        running = [
            Worker(folder, group, kinds, range(first + k, first + count, workers), own)
            for k in range(min(workers, count))
        ]
        try:
            while any(worker.left for worker in running) and (seconds is None or time.monotonic() - began < seconds):
                for worker in running:
                    for number, text in worker.hear() if worker.left else ():
                        kind, way, _ = what(kinds, number)
                        counts[kind][text if text in attempts.FINE else "wrong"] += 1
                        if text not in attempts.FINE:
                            wrong.append((number, kind, way, text))
                        done += 1
                        if said and (done % 5000 == 0 or text not in attempts.FINE):
                            said(counts, wrong if text not in attempts.FINE else [])
        finally:
            for worker in running:
                worker.stop()
    return counts, wrong, max((worker.slowest for worker in running), default=0.0)


def total(counts):
    return sum(counts.values(), collections.Counter())


def chosen(folder, given):
    """{group: kinds} of the names that were given: groups, or group/kind."""
    found = {group: kinds_in(folder, group) for group in GROUPS if (Path(folder) / group).is_dir()}
    kinds = {group: [kind for kind in found[group] if group in given or f"{group}/{kind}" in given] for group in found}
    unknown = set(given) - set(found) - {f"{group}/{kind}" for group in found for kind in found[group]}
    if unknown:
        raise SystemExit(f"no such kinds: {' '.join(sorted(unknown))}")
    return {group: kinds[group] for group in kinds if kinds[group]}


def keep(folder, source, group, kinds, number, kind):
    """Writes the damaged file of this number."""
    import numpy as np

    path = next(path for path in (Path(source) / group).iterdir() if path.stem == kind)
    Path(folder).mkdir(parents=True, exist_ok=True)
    attempts.mutated(np.fromfile(path, np.uint8), number).tofile(Path(folder) / f"{group}_{number}_{path.name}")


def run(options, folder):
    began, groups, failed = time.monotonic(), chosen(folder, options.kinds), False
    for n, (group, kinds) in enumerate(groups.items()):

        def said(counts, wrong):
            print(f"{group}: {sum(total(counts).values())} {dict(total(counts))}", flush=True)
            for number, kind, way, text in wrong[-1:]:
                print(f"WRONG {group} {number} {kind} {way}: {text}", flush=True)
                if options.keep:
                    keep(options.keep, folder, group, kinds, number, kind)

        start = time.monotonic()
        seconds = (options.seconds - (start - began)) / (len(groups) - n) if options.seconds else None
        counts, wrong, slowest = sweep(
            folder, group, kinds, options.count, options.first, options.workers, seconds, said
        )
        for kind, seen in counts.items():
            print(
                f"  {group}/{kind}: "
                + ", ".join(f"{seen[what]} {what}" for what in (*attempts.FINE, "wrong") if seen[what])
            )
        for number, kind, way, text in sorted(wrong):
            print(f"  WRONG {group} {number} {kind} {way}: {text}")
        all_counts = total(counts)
        tried = sum(all_counts.values())
        print(
            f"{group}: {tried} of {options.count} damaged files from {options.first}, {len(kinds)} kinds, {options.workers} workers, "
            f"{time.monotonic() - start:.0f} s, a file {slowest:.1f} s at most: "
            + ", ".join(f"{all_counts[what]} {what}" for what in (*attempts.FINE, "wrong")),
            flush=True,
        )
        failed |= bool(wrong)
    return int(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--kinds", nargs="+", default=list(GROUPS), help=f"{', '.join(GROUPS)}; or one kind, such as videos/h264"
    )
    parser.add_argument("--seconds", type=float, help="stop after so many, each group after its part")
    parser.add_argument("--folder", help="of the whole files that --make wrote; without it they are made anew")
    parser.add_argument("--make", metavar="FOLDER", help="write the whole files there, and end")
    parser.add_argument("--keep", metavar="FOLDER", help="write the damaged files there of which something wrong came")
    parser.add_argument("--numbers", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.numbers:
        ((group, kinds),) = chosen(options.folder, options.kinds).items()
        return work(options.folder, group, kinds, range(*options.numbers))
    if options.make:
        for group in GROUPS:
            if any(kind.split("/")[0] == group for kind in options.kinds):
                make(options.make, group)
        return 0
    import penstock

    print(
        f"penstock {penstock.__version__}, Python {platform.python_version()}, {len(os.sched_getaffinity(0))} cores",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as made:
        for group in GROUPS if not options.folder else ():
            if any(kind.split("/")[0] == group for kind in options.kinds):
                make(made, group)
        return run(options, options.folder or made)


if __name__ == "__main__":
    sys.exit(main())
