# SPDX-License-Identifier: Apache-2.0
"""The tables of operators (benchmarks/operators_cpu.py and its like) have a row, or a reason without one, for every operator."""

import sys
from pathlib import Path

import pytest

import penstock
from penstock import _core, fn, math, types

BENCHMARKS = str(Path(__file__).resolve().parent.parent / "benchmarks")
sys.path.insert(0, BENCHMARKS)
import operator_data
import operator_peers
import operator_rows

sys.path.remove(BENCHMARKS)  # it has files with the names of examples and of tests


def test_every_operator_has_a_row_or_a_reason():
    operator_rows.check_registry(_core.operators(True))
    with pytest.raises(AssertionError, match="no row: .'binarize'."):
        operator_rows.check_registry([*_core.operators(True), "binarize"])


def test_peers_are_of_rows():
    assert set(operator_peers.PEERS) <= set(operator_rows.ROWS)
    assert set(operator_peers.NOTES) <= set(operator_peers.PEERS)


@pytest.mark.parametrize("row", operator_rows.ROWS.values(), ids=list(operator_rows.ROWS))
def test_a_row_runs(row):
    """Penstock's call and the peer's: a row that fails would be missing from a table."""
    count = 2
    f = operator_rows.modules(fn, types, math, count, {"batch_size": count})
    for dtype in row.dtypes:
        for ragged in row.shapes:
            arrays = [operator_data.samples(kind, dtype, count, ragged) for kind in row.kinds]
            layouts = [operator_data.LAYOUTS.get(kind.rstrip("'"), "") for kind in row.kinds]
            batches = [penstock.batch(a, layout=layout) for a, layout in zip(arrays, layouts)]
            assert operator_rows.prepared(row, f, batches)() is not None
            if row.name in operator_peers.PEERS:
                for sample in zip(*arrays):
                    operator_peers.PEERS[row.name](*sample)
