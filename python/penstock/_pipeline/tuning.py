# SPDX-License-Identifier: Apache-2.0
"""num_threads="auto" and prefetch_queue_depth="auto": what is best is measured on the first batches of a pipeline."""

from __future__ import annotations

import json
import time

from .._base.log import INFO, log

AUTO = "auto"
MOST_DEPTH = 8  # batches: more smooths nothing, and each takes memory
_MOST_THREADS = 64
FIRST_DEPTH = 2
_WINDOW = 0.25  # seconds: a measurement is as many batches as fit, but at least
_LEAST = 6
_GAIN = 1.03  # what is less may be noise
_WAITS = 0.02  # the share of a window that the loop may wait before more is tried
_MOST_MISSES = 2  # that the machine was busy with something else looks like a loss
_DEPTH_GROWTH = 1.0  # of depths, which are doubled: what a few batches more gain is lost in noise
_SETTLES = 2  # batches after a change that were begun before it


def number(given, otherwise):
    """Returns an option that may be "auto".

    Args:
        given: The option.
        otherwise: What "auto" stands for.
    """
    return otherwise if given == AUTO else given


def most_threads(cores):
    """Returns the number of threads that a pipeline makes which tunes them: some sleep.

    Args:
        cores: The cores that the process may use.
    """
    return min(_MOST_THREADS, 2 * cores)


def tuner_of(options, tune, cores, made, depth):
    """Returns what tunes a pipeline, or None where nothing is "auto".

    Args:
        options: The options of the pipeline.
        tune: Takes a setting: tune(threads, depth).
        cores: The cores that the process may use.
        made: The threads that there are.
        depth: Batches that it may make ahead.
    """
    threads_too = options["num_threads"] == AUTO
    depth_too = options["prefetch_queue_depth"] == AUTO and depth >= FIRST_DEPTH
    if not threads_too and not depth_too:
        return None
    threads = cores if threads_too else made
    ways = []
    if threads_too:
        ways += [("threads", _steps(threads, most_threads(cores)), _steps(threads, 1))]
    if depth_too:
        ways += [("depth", _steps(FIRST_DEPTH, depth, _DEPTH_GROWTH), [1] if depth > FIRST_DEPTH else [])]
    return Tuner(tune, {"threads": threads, "depth": FIRST_DEPTH if depth_too else depth}, ways)


def saved(text, options):
    """Returns the saved form of a pipeline with the usual number for each "auto": what is best is of this machine.

    Args:
        text: The saved form.
        options: The options of the pipeline.
    """
    usual = {"threads": (options["num_threads"], 0), "prefetch": (options["prefetch_queue_depth"], FIRST_DEPTH)}
    chosen = {name: number for name, (given, number) in usual.items() if given == AUTO}
    return json.dumps({**json.loads(text), **chosen}, indent=1) if chosen else text


def _steps(first, last, growth=0.5):
    """Numbers from the first to the last, each larger by a share of the one before it, or smaller by a quarter."""
    found, at = [], first
    while at != last:
        at = min(last, at + max(1, int(growth * at))) if last > first else max(last, at - max(1, at // 4))
        found.append(at)
    return found


class Tuner:
    """Climbs to the setting with the best rate, between batches.

    A window of batches is measured with a setting, then with another; the better one stays. Where the loop never
    waits, nothing is tried.

    Args:
        tune: Takes a setting: tune(threads, depth).
        setting: The first one: {"threads": n, "depth": n}.
        ways: (name, numbers that are tried one after the other while they gain, those of the other direction).
        clock: Returns seconds.
    """

    def __init__(self, tune, setting, ways, clock=time.perf_counter):
        self.setting, self.windows, self.why, self.done = dict(setting), [], "", False
        self._tune, self._clock, self._ways = tune, clock, ways
        self._plan = self._climb()
        self._begin(next(self._plan))

    def _begin(self, setting):
        """Measures a setting from the next batches on."""
        self._tried = setting
        self._tune(setting["threads"], setting["depth"])
        self._left = _SETTLES + setting["depth"]
        self._since, self._samples, self._batches, self._waited = None, 0, 0, 0.0

    def took(self, samples, waited):
        """Counts a batch.

        Args:
            samples: Its samples.
            waited: Seconds that the loop waited for it.
        """
        now = self._clock()
        if self._left > 0:
            self._left -= 1
            self._since = now
            return
        self._samples, self._batches, self._waited = self._samples + samples, self._batches + 1, self._waited + waited
        seconds = now - self._since
        if self._batches < _LEAST or seconds < _WINDOW:
            return
        measured = {"rate": self._samples / seconds, "waits": self._waited / seconds, **self._tried}
        self.windows.append(measured)
        try:
            self._begin(self._plan.send(measured))
        except StopIteration as end:
            self._end(*end.value)

    def _end(self, setting, why):
        self.setting, self.why, self.done = setting, why, True
        self._tune(setting["threads"], setting["depth"])
        log(
            "pipeline",
            INFO,
            "tuned by %s measurements: %s threads, %s batches ahead: %s",
            len(self.windows),
            setting["threads"],
            setting["depth"],
            why,
        )

    def _climb(self):
        """Gives settings to measure and takes the measurements; returns (setting, why)."""
        first = best = yield dict(self.setting)
        for name, more, fewer in self._ways:
            best, gained = yield from self._walk(best, name, more)
            if not gained:
                best, _ = yield from self._walk(best, name, fewer)
        setting = {"threads": best["threads"], "depth": best["depth"]}
        if best["waits"] < _WAITS:
            return setting, f"the loop waits {100 * best['waits']:.0f} % of its time: the pipeline keeps up"
        return setting, (
            f"{best['rate']:.0f} samples/s, and no other setting was faster; the first one, {first['threads']} threads and "
            f"{first['depth']} batches ahead, gave {first['rate']:.0f} at its time"
        )

    def _walk(self, best, name, numbers):
        """Tries numbers in one direction until two in a row are not faster; returns (the best, whether any was)."""
        gained, missed = False, 0
        for tried in numbers:
            if missed == _MOST_MISSES or best["waits"] < _WAITS:
                break
            best, better = yield from self._compare(best, name, tried)
            gained, missed = gained or better, 0 if better else missed + 1
        return best, gained

    def _compare(self, best, name, number):
        """Measures another number, then the best one again: the machine may have become slower meanwhile."""
        setting = {"threads": best["threads"], "depth": best["depth"]}
        other = yield {**setting, name: number}
        again = yield setting
        if other["rate"] > _GAIN * max(best["rate"], again["rate"]):
            return other, True
        return again, False

    def report(self):
        """Returns what was chosen and why, as Pipeline.tuned() does."""
        why = self.why or "it is still being measured"
        return {**self.setting, "done": self.done, "why": why, "measured": list(self.windows)}
