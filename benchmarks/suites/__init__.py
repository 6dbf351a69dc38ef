# SPDX-License-Identifier: Apache-2.0
"""One module a suite. Each has

    VARIANTS  {name of a variant: (what it is, target as a Target, methods that are not in it)}
    METHODS   {name of a method: (peer whose environment it needs, start)}; start(method context) makes a pass function
    UNIT      of a pass's items a second

Modules import only the standard library at their head: each environment has only its peer.
"""

import dataclasses
import time


@dataclasses.dataclass(frozen=True)
class Target:
    """What Penstock must reach: at least `ratio` times the base, or at most so many microseconds an item."""

    ratio: float | None = None
    most_us: float | None = None


@dataclasses.dataclass(frozen=True)
class Variant:
    title: str
    target: Target = Target()


@dataclasses.dataclass(frozen=True)
class Context:
    """The input of a worker: which variant, how many threads, and the files of each data set."""

    variant: str
    threads: int
    data: dict


def dali_api(peer):
    """pipeline_def, fn and types, of Penstock or of DALI: the same pipeline text runs on both."""
    if peer == "penstock":
        from penstock import fn, pipeline_def, types
    else:
        from nvidia.dali import fn, pipeline_def, types
    return pipeline_def, fn, types


def steady(step, items, steps, untimed=3):
    """A pass of `steps` calls of step(). The `untimed` first empty the queues that filled up before the pass."""

    def one_pass():
        for _ in range(untimed):
            step()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        return steps * items, time.perf_counter() - start

    return one_pass
