# SPDX-License-Identifier: Apache-2.0
"""How long a trainer waited for batches: the one number that says whether more workers would help."""

from __future__ import annotations

import math
from collections import deque

_LATELY, _SECONDS = 64, 30.0  # batches, and their time at most


class Waits:
    """The times of the last requests."""

    def __init__(self) -> None:
        self.requests, self.seconds = deque(maxlen=_LATELY), 0.0
        self.since = None  # when a request began that has no answer yet

    def add(self, begin: float, end: float) -> None:
        """The trainer asked for a batch at `begin` and had it at `end`."""
        self.requests.append((begin, end))
        self.seconds += end - begin
        self.since = None

    def share(self, now: float | None = None) -> float:
        """The part of the time in which the trainer waited, from 0 to 1: of the last batches, or of the last half minute where they
        took longer. `now`: until then, else until the last batch."""
        waits = list(self.requests)
        if now is not None and self.since is not None:
            waits.append((self.since, now))
        if not waits:
            return 0.0
        end = waits[-1][1] if now is None else now
        begin = max(waits[0][0], end - _SECONDS)
        waited = sum(max(0.0, last - max(first, begin)) for first, last in waits)
        return min(1.0, waited / (end - begin)) if end > begin else 0.0

    def wanted(self, workers: int, now: float | None = None) -> int:
        """How many workers would make batches as fast as the trainer takes them; eight times as many at most."""
        share = self.share(now)
        if share < 0.02:
            return workers
        return max(workers + 1, math.ceil(max(workers, 1) * min(8.0, 1 / max(1 - share, 1e-9))))
