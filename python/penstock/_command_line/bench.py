# SPDX-License-Identifier: Apache-2.0
"""penstock bench: how fast the pipelines of a script are."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time

from .scripts import found_in

_MOST_TUNING = 60  # seconds: a pipeline with num_threads="auto" measures first
_LEAST_BATCHES = 5  # where a batch takes longer than all of --seconds


def cpu_seconds():
    """Returns the processor time of this process, and of its worker processes."""
    own, mine = sum(os.times()[:2]), str(os.getpid())
    tick = os.sysconf("SC_CLK_TCK")
    for pid in filter(str.isdigit, os.listdir("/proc")) if os.path.isdir("/proc") else ():
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        if fields[1] == mine:
            own += (int(fields[11]) + int(fields[12])) / tick
    return own


def output_bytes(outputs):
    """Returns the bytes of the outputs of a pipeline or a loader.

    Args:
        outputs: Batches, tensors or arrays, in lists, tuples and dicts.
    """
    if isinstance(outputs, dict):
        outputs = tuple(outputs.values())
    if isinstance(outputs, (tuple, list)):
        return sum(map(output_bytes, outputs))
    if hasattr(outputs, "nbytes"):
        return outputs.nbytes
    return sum(map(output_bytes, outputs)) if hasattr(outputs, "__len__") and hasattr(outputs, "__getitem__") else 0


class Batches:
    """Gives the batches of a pipeline or a loader without end.

    Args:
        made: A Pipeline or a loader.

    Attributes:
        outputs: Those of the last batch.
    """

    def __init__(self, made):
        self._loader = made if hasattr(made, "pipeline") else None
        self.pipeline = made.pipeline if self._loader is not None else made
        self._iterator, self.outputs = None, ()
        self._driver = None if self._loader is not None else made.driver(restart_sources=not made.definition.built)

    def next(self):
        """Takes a batch.

        Returns:
            The number of its samples.

        Raises:
            ValueError: There are no data, or none any more.
        """
        for _ in range(2):  # an epoch may have just ended
            try:
                return self._next()
            except StopIteration:
                self._iterator = None
                if self._driver is not None:
                    self._driver.restart()
        raise ValueError("its source has ended and does not begin again, as a list or a generator function does")

    def _next(self):
        if self._driver is not None:
            step = self._driver.run()
            self.outputs = step.outputs
            return step.samples
        self._iterator = self._iterator or iter(self._loader)
        self.outputs = outputs = next(self._iterator)
        return len(next(iter(outputs.values() if isinstance(outputs, dict) else outputs)))


def settle(batches):
    """Runs a pipeline until it has tuned itself, and what it made ahead before is taken.

    Args:
        batches: The batches.

    Returns:
        What Pipeline.tuned() returns.
    """
    end = time.perf_counter() + _MOST_TUNING
    while (tuned := batches.pipeline.tuned()) is not None and not tuned["done"] and time.perf_counter() < end:
        batches.next()
    for _ in range(int(batches.pipeline.cpu_queue_size)):
        batches.next()
    return tuned


def refuse_fed(pipeline):
    """Raises where the program itself must feed the pipeline.

    Args:
        pipeline: The pipeline, built.

    Raises:
        ValueError: It has an external source without a source.
    """
    fed = list(pipeline.definition.fed)
    if fed:
        raise ValueError(
            f"the program feeds {', '.join(map(repr, fed))} (fn.external_source without a source): give it a source"
        )


def quantile(times, share):
    """Returns the smallest of the times that as large a share of them is not above.

    Args:
        times: Numbers.
        share: 0.5 for the median.
    """
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * share) - 1)]


def _bytes_read(stats):
    """For a sample. Stages work ahead of the loop: each has its own number of samples."""
    return sum(stage.get("bytes_read", 0) / max(1, stage["samples"]) for stage in stats["stages"])


def measure(found, threads, seconds):
    """Runs a pipeline and measures it.

    Args:
        found: What the script has.
        threads: The number of threads, or None.
        seconds: How long it runs after the first batches.

    Returns:
        A dict of numbers and texts.
    """
    begin = time.perf_counter()
    batches = Batches(found.make(threads))
    batches.pipeline.build()
    refuse_fed(batches.pipeline)
    batches.next()
    first = time.perf_counter() - begin
    tuned = settle(batches)
    times, samples = [], 0
    cpu, begin = cpu_seconds(), time.perf_counter()
    last = begin
    while last - begin < seconds or len(times) < _LEAST_BATCHES:
        samples += batches.next()
        now = time.perf_counter()
        times.append(now - last)
        last = now
    wall = last - begin
    stats = batches.pipeline.stats()
    cores = (cpu_seconds() - cpu) / wall
    last_samples = batches.next()
    batches.pipeline.close()
    return {
        "pipeline": found.name,
        "threads": tuned["threads"] if tuned else stats["threads"],
        "batch_size": batches.pipeline.max_batch_size,
        "samples_per_second": samples / wall,
        "median_ms": quantile(times, 0.5) * 1e3,
        "p99_ms": quantile(times, 0.99) * 1e3,
        "cores": cores,
        "samples_per_core_second": samples / wall / max(cores, 1e-6),
        "bytes_read_per_sample": _bytes_read(stats),
        "bytes_ready_per_sample": output_bytes(batches.outputs) / last_samples,
        "batches": len(times),
        "samples": samples,
        "seconds": wall,
        "first_batch_seconds": first,
        "verdict": stats["verdict"],
        "tuned": tuned and {name: tuned[name] for name in ("threads", "depth", "done", "why")},
    }


def text_of(row):
    """Returns a measurement as people read it.

    Args:
        row: What measure() returned.
    """
    tuned = row["tuned"]
    return (
        f"{row['pipeline']}: {row['threads']} threads, batches of {row['batch_size']}: "
        f"{row['samples_per_second']:.0f} samples/s\n"
        f"  a batch takes {row['median_ms']:.2f} ms (median), {row['p99_ms']:.2f} ms (p99); {row['cores']:.1f} cores used; "
        f"{row['batches']} batches in {row['seconds']:.1f} s, the first after {row['first_batch_seconds']:.2f} s\n"
        f"  {row['samples_per_core_second']:.0f} samples/s a core; a sample reads {row['bytes_read_per_sample'] / 1e3:.1f} kB and "
        f"is {row['bytes_ready_per_sample'] / 1e3:.1f} kB when it is ready\n"
        f"  {row['verdict']}" + (f"\n  tuned: {tuned['depth']} batches ahead: {tuned['why']}" if tuned else "")
    )


def bench(args):
    """Runs the pipelines and loaders that a script defines at its top level, and prints how fast they are."""
    rows, failed = [], 0
    for threads in args.threads:
        for found in found_in(args.script, args.pipeline):  # once for each: a pipeline of the script has its threads
            try:
                rows.append(measure(found, threads, args.seconds))
            except Exception as error:
                failed += 1
                print(f"penstock bench: {found.name}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            if not args.json:
                print(text_of(rows[-1]), flush=True)
    if args.json:
        print(json.dumps(rows, indent=2))
    return 1 if failed else 0


def thread_counts(text):
    """Returns the numbers of --threads.

    Args:
        text: Numbers with commas between them.

    Raises:
        argparse.ArgumentTypeError: They are none.
    """
    counts = [int(part) if part.strip().isdigit() else 0 for part in text.split(",")]
    if min(counts) < 1:
        raise argparse.ArgumentTypeError(f"numbers from 1 on with commas between them, got {text!r}")
    return counts


def positive_seconds(text):
    """Returns the number of --seconds.

    Args:
        text: A number.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"a number of seconds above 0, got {text!r}")
    return seconds


def add_bench(command):
    """Adds the command.

    Args:
        command: Adds a command to the program and returns its parser.
    """
    c = command(
        bench, threads=False, epilog="Ends with 1 where a pipeline fails. What stands below `__main__` does not run."
    )
    c.add_argument("script", help="a Python file")
    c.add_argument("--pipeline", metavar="NAME", help="only this one; default: all at the top level")
    c.add_argument("--seconds", type=positive_seconds, default=5.0, help="how long each runs; default 5")
    c.add_argument("--threads", type=thread_counts, default=[None], metavar="N,N", help="num_threads to try: 1,2,4")
    c.add_argument("--json", action="store_true", help="print JSON")
