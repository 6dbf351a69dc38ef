# SPDX-License-Identifier: Apache-2.0
"""Which of several ranks the others wait for."""

from __future__ import annotations

_ALIKE = 0.2  # shares of the time that ranks wait differ by chance


def _waits(stats):
    return stats["loop_waits"] / stats["seconds"] if stats["seconds"] else 0.0


def _differences(slow, others):
    """What the rank has less of than all others."""
    found = []
    for name, what in (("threads", "thread"), ("cores", "core")):
        least = min(other[name] for other in others)
        if slow[name] < least:
            found.append(f"it has {slow[name]} {what}{'s' * (slow[name] != 1)} where others have {least} or more")
    return found


def compare(ranks):
    """One or two sentences on the slowest rank.

    Args:
        ranks: The Statistics of all ranks, in their order.
    """
    if not ranks:
        raise ValueError("Statistics.compare() needs the statistics of at least one rank, got an empty list")
    waits = [_waits(stats) for stats in ranks]
    slow = max(range(len(ranks)), key=waits.__getitem__)
    if waits[slow] < 0.05:
        return "No rank waits for data: the step of the loop is the slow part."
    parts = [f"{ranks[slow]['verdict']}."]
    if ranks[slow].get("advice"):
        parts.append(ranks[slow]["advice"])
    if len(ranks) == 1 or waits[slow] - min(waits) < _ALIKE:
        return " ".join(
            [f"All ranks wait alike ({100 * min(waits):.0f} to {100 * waits[slow]:.0f} % of their time):", *parts]
        )
    others = [stats for rank, stats in enumerate(ranks) if rank != slow]
    least = min(waits)
    head = (
        f"Rank {slow} holds up the others: its loop waits {100 * waits[slow]:.0f} % of its time for data, that of rank "
        f"{waits.index(least)} {100 * least:.0f} %"
    )
    return " ".join(["; ".join([head, *_differences(ranks[slow], others)]) + ".", *parts])
