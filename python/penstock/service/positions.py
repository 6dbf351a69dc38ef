# SPDX-License-Identifier: Apache-2.0
"""From the state of a pipeline to the number of its next batch."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._pipeline import Pipeline

_MOST = 1 << 48
_COUNTERS = ("epoch", "consumed", "iteration", "in_epoch", "samples")


def _progress(state):
    """Numbers that grow from batch to batch."""
    made = state["pipeline"]
    sources = [tuple(made["sources"][name].get(c, 0) for c in _COUNTERS) for name in sorted(made["sources"])]
    return sources, made.get("position", 0)


def number_of_state(pipeline: Pipeline[Any], state: dict[str, Any]) -> int:
    """The number of the batch that comes next in a state.

    Batch by batch the counters of a state grow, and seek() takes microseconds, so halving finds the number.

    Raises:
        ValueError: No batch begins there.
    """

    def at(number):
        return pipeline.seek(batch=number).state()

    wanted, above = _progress(state), 1
    while above < _MOST and _progress(at(above)) < wanted:
        above *= 2
    below = 0
    while below < above:
        middle = (below + above) // 2
        if _progress(at(middle)) < wanted:
            below = middle + 1
        else:
            above = middle
    if _progress(at(below)) != wanted:
        raise ValueError(
            "the state is not at the beginning of a batch: a service needs the batch size, the last_batch and the data "
            "with which the state was saved, and shards that all have made as many batches"
        )
    return below
