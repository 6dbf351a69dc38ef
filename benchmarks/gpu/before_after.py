# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of Penstock row by row on a GPU, in one run, interleaved:

    python benchmarks/gpu/before_after.py BEFORE AFTER [--rounds 15] [--data FOLDER] [--out FILE.md] [--seconds 540] [SUITE ...]

BEFORE and AFTER are folders where a wheel was installed with --target. Each build has one process, which stays; in each round
every suite runs once in both, in a random order, with Penstock's own methods alone. A row has failed when the median of
after/before over the rounds is under 0.95 and its upper quartile is under 1 (of times: before/after).
"""

import argparse
import datetime
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from judged import judged

SUITES = ("chain", "ragged", "filters", "host", "decode", "resnet50", "yolo")
PASS_SECONDS, CALL_MILLISECONDS = 0.35, 12.0
MARK = "RESULT "


def work(options):
    """In the process of one build: runs the suite that a line of the standard input names."""
    import gc
    import importlib

    import measure

    measure.own_stream()
    settings = measure.Settings(
        data=str(options.data),
        only="penstock",
        rounds=1,
        seconds=PASS_SECONDS,
        milliseconds=CALL_MILLISECONDS,
        smoke=options.smoke,
    )
    for line in sys.stdin:
        rows = []
        for table in importlib.import_module(f"suites.{line.strip()}").tables(settings):
            for row in table["rows"]:
                # A time is better when it is small; what is compared is work a second.
                speed = row["rate"] if "rate" in row else 1e6 / row["us"]
                rows.append((f"{table['title'].split('; copy')[0]}: {row['method']}", speed))
            rows += [
                (f"{table['title'].split('; copy')[0]}: {method}", why)
                for method, why in table.get("failed", {}).items()
            ]
        gc.collect()
        print(MARK + json.dumps(rows), flush=True)


class Build:
    def __init__(self, side, folder, options):
        command = [
            sys.executable,
            __file__,
            "-",
            "-",
            "--work",
            "--data",
            str(options.data),
            *(["--smoke"] if options.smoke else []),
        ]
        own = {"PYTHONPATH": str(Path(folder).resolve()), "PENSTOCK_CACHE": os.path.join(options.cache, side)}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **own},
            cwd=Path(__file__).parent,
        )

    def run(self, suite):
        self.process.stdin.write(suite + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith(MARK):
                return json.loads(line[len(MARK) :])
        raise SystemExit(f"a build ended in suite {suite} with status {self.process.wait()}")


def table_of(speeds):
    """Lines of Markdown, and how many rows have failed."""
    lines, lost = ["| row | after / before | quartiles | rounds | |", "|---|---|---|---|---|"], 0
    for row, sides in speeds.items():
        pairs = list(zip(sides["before"], sides["after"]))
        said = [str(x) for pair in pairs for x in pair if isinstance(x, str)]
        if said or len(pairs) < 2:
            lost += 1
            lines.append(f"| {row} | | | {len(pairs)} | not measured: {said[0] if said else 'too few rounds'} |")
            continue
        low, middle, high, worse = judged([after / before for before, after in pairs])
        lost += worse
        lines.append(
            f"| {row} | {middle:.3f} | {low:.3f} to {high:.3f} | {len(pairs)} | {'**slower**' if worse else ''} |"
        )
    return lines, lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=540, help="no round begins after them")
    parser.add_argument("--data", type=Path, default=Path("/dev/shm/penstock-device"))
    parser.add_argument("--cache", default="/tmp/penstock-before-after")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    if options.work:
        return work(options)
    builds = {side: Build(side, getattr(options, side), options) for side in ("before", "after")}
    for suite in options.suites or SUITES:  # untimed: kernels are compiled, memory is taken
        for build in builds.values():
            build.run(suite)
    speeds, begin = {}, time.monotonic()
    for number in range(options.rounds):
        if time.monotonic() - begin > options.seconds:
            break
        for suite in options.suites or SUITES:
            for side in random.sample(list(builds), 2):
                for row, speed in builds[side].run(suite):
                    speeds.setdefault(row, {"before": [], "after": []})[side].append(speed)
        lines, lost = table_of(speeds)
        print(f"round {number + 1}, {time.monotonic() - begin:.0f} s, {lost} rows failed", flush=True)
        if options.out:  # after every round: a run that is stopped keeps what it has
            head = f"`{Path(__file__).name}`, {number + 1} rounds, {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"
            options.out.write_text("\n".join([head, "", *lines]) + "\n")
    print("\n".join(lines))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
