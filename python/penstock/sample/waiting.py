# SPDX-License-Identifier: Apache-2.0
"""Moves of boxes and points that a pipeline adds when these parts are read (decision 41)."""

from .._graph import scope


class Waiting:
    """What is still to be done with the boxes and the points of a Sample, in the region of the pipeline where it was said."""

    def __init__(self, moves=(), region=None):
        self.moves, self.region = tuple(moves), region


def region_now():
    pipeline = scope.current()
    return None if pipeline is None else pipeline.definition.graph.current_region()
