# SPDX-License-Identifier: Apache-2.0
"""How many workers there should be, and which are started and ended: decisions alone, without Ray and without a clock."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

WAITS = 0.02  # share of its time that a trainer waits: above it, more workers help
IDLE = 0.005  # below it for a long time, one worker fewer may be enough
_PAUSES = (
    0.0,
    0.0,
    0.5,
    1.0,
    2.0,
    5.0,
    10.0,
    30.0,
)  # seconds before a start, after so many workers in a row that ended soon
_STEADY = 10.0  # seconds after which a worker has not ended soon
_SILENT = 30.0  # seconds after which a trainer that says nothing has gone


class Supervision:
    """Keeps a number of workers, between two bounds, by what trainers report.

    Args:
        least, most: Numbers of workers; equal ones: their number stays.
        interval: Seconds from a change of the number to the next one; six times as many before there are fewer.
    """

    def __init__(self, least: int, most: int, interval: float = 10.0) -> None:
        self.least, self.most, self.interval, self.wanted = least, most, interval, least
        self.workers: dict[Hashable, list] = {}  # when it started, its address or None
        self.reports: dict[str, tuple[float, float, int]] = {}  # of each trainer: when, its waits, the workers it wants
        self.restarts = self.ended_soon = 0
        self.trouble, self.not_before, self.ended_at = "", 0.0, None
        self.changed_at, self.calm_since, self.calm, self.fewer_at = None, None, 6 * interval, None

    # --- what happens -----------------------------------------------------------------------------------------------

    def started(self, worker: Hashable, now: float) -> None:
        """A worker was started; it does not serve yet."""
        self.workers[worker] = [now, None]

    def serves(self, worker: Hashable, address: str, now: float) -> None:
        """A worker listens."""
        if worker in self.workers:
            self.workers[worker] = [now, address]
            self.trouble = ""

    def ended(self, worker: Hashable, why: str, now: float) -> None:
        """A worker has ended without being told to, or could not be started."""
        begun, address = self.workers.pop(worker, (now, None))
        self.restarts += 1
        self.trouble = why
        soon = address is None or now - begun < _STEADY
        alone = self.ended_at is None or now - self.ended_at > 2 * _PAUSES[-1]
        self.ended_soon = (1 if alone else self.ended_soon + 1) if soon else 0
        self.ended_at = now
        self.not_before = now + _PAUSES[min(self.ended_soon, len(_PAUSES) - 1)]

    def reported(self, trainer: str, waited: float, wanted: int, now: float) -> None:
        """A trainer says which share of its time it waited, and how many workers it wants."""
        self.reports[trainer] = (now, waited, wanted)

    # --- what follows -----------------------------------------------------------------------------------------------

    def addresses(self) -> list[str]:
        """Of those that serve."""
        return [address for _, address in self.workers.values() if address is not None]

    def tick(self, now: float) -> tuple[int, list[Hashable]]:
        """Time has passed.

        Returns:
            How many workers to start, and which to end: they are forgotten.
        """
        self._decide(now)
        surplus = max(0, len(self.workers) - self.wanted)
        order = sorted(self.workers, key=lambda w: (self.workers[w][1] is not None, -self.workers[w][0]))
        leaving = order[:surplus]  # first those that do not serve, then the youngest
        for worker in leaving:
            del self.workers[worker]
        missing = self.wanted - len(self.workers)
        return (missing if missing > 0 and now >= self.not_before else 0), leaving

    def _decide(self, now):
        """Changes the number that is wanted."""
        if self.least == self.most:
            return
        self.reports = {k: v for k, v in self.reports.items() if now - v[0] < _SILENT}
        if self.changed_at is None:
            self.changed_at = now
        waited = max((share for _, share, _ in self.reports.values()), default=0.0)
        if waited >= IDLE:
            self.calm_since = None
        elif self.calm_since is None:
            self.calm_since = now
        if now - self.changed_at < self.interval or len(self.addresses()) < self.wanted:
            return
        if waited >= WAITS and self.wanted < self.most:
            wanted = max(wanted for _, _, wanted in self.reports.values())
            # Twice as many at most: what trainers report is of some time ago.
            self._change(min(max(wanted, self.wanted + 1), 2 * max(self.wanted, 1), self.most), now)
        elif self.calm_since is not None and now - self.calm_since >= self.calm and self.wanted > self.least:
            self._change(self.wanted - 1, now)

    def _change(self, wanted, now):
        if wanted > self.wanted and self.fewer_at is not None and now - self.fewer_at < 2 * self.calm:
            self.calm = min(2 * self.calm, 96 * self.interval)  # that one was needed: try it less often
        if wanted < self.wanted:
            self.fewer_at = now
        self.wanted, self.changed_at, self.calm_since = wanted, now, None
