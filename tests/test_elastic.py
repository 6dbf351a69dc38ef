# SPDX-License-Identifier: Apache-2.0
"""Processes of torch.distributed that come and go in the middle of epochs read every sample of an epoch once."""

import json
import subprocess
import sys
from pathlib import Path

import container_files
import pytest

PROGRAM = Path(__file__).with_name("elastic_program.py")
COUNT = 37


@pytest.fixture
def data(tmp_path):
    """COUNT samples that hold their number, of each kind."""

    def make(kind):
        path, files = str(tmp_path / kind), []
        texts = [bytes([n]) for n in range(COUNT)]
        if kind == "file":
            for n, text in enumerate(texts):
                files.append(str(tmp_path / f"{n:02d}.bin"))
                Path(files[-1]).write_bytes(text)
        elif kind == "tfrecord":
            container_files.write_tfrecord(path, [container_files.example({"n": [n]}) for n in range(COUNT)])
        elif kind == "lmdb":
            lmdb = pytest.importorskip("lmdb")
            with lmdb.open(path, map_size=1 << 24) as database, database.begin(write=True) as transaction:
                for n, text in enumerate(texts):
                    transaction.put(b"%04d" % n, text)
        else:
            container_files.write_tar(path, [(f"{n:02d}.bin", text) for n, text in enumerate(texts)])
        return {"kind": kind, "path": path, "files": files}

    return make


def run(tmp_path, data, phases):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"data": data, "phases": phases}))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(plan), str(tmp_path)], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", ["file", "tfrecord", "lmdb", "webdataset"])
def test_one_then_three_then_two_processes(tmp_path, data, kind):
    """37 samples: 8 by one process, 18 by three, the remaining 11 by two, which also read a whole epoch and begin a third one
    with other batches; three processes end it."""
    shuffled = {"random_shuffle": True}
    results = run(
        tmp_path,
        data(kind),
        [
            {"ranks": 1, "batch_size": 2, "batches": [4], "reader": shuffled},
            {"ranks": 3, "batch_size": 2, "batches": [3], "reader": shuffled},
            {"ranks": 2, "batch_size": 2, "batches": [None, None, 2], "reader": shuffled},
            {"ranks": 3, "batch_size": 4, "batches": [None], "reader": shuffled},
        ],
    )
    parts = [
        [seen for rank in phase["seen"] for seen in [rank[k]]]
        for phase in results
        for k in range(len(phase["seen"][0]))
    ]
    assert [[len(seen) for seen in part] for part in parts] == [[8], [6] * 3, [6, 5], [19, 18], [4] * 2, [10, 10, 9]]
    first, second, third = sum(parts[0] + parts[1] + parts[2], []), sum(parts[3], []), sum(parts[4] + parts[5], [])
    for epoch in (first, second, third):
        assert sorted(epoch) == list(range(COUNT))
    assert len({tuple(e) for e in (first, second, third)}) == 3
    for phase in results[:-1]:  # in the middle of an epoch all ranks have the same state
        assert all(state == phase["states"][0] for state in phase["states"])


def test_files_in_their_order(tmp_path, data):
    """Not shuffled, ranks read contiguous shards: what is left of an epoch is divided anew."""
    results = run(
        tmp_path,
        data("file"),
        [
            {"ranks": 1, "batch_size": 2, "batches": [3]},
            {"ranks": 3, "batch_size": 2, "batches": [2]},
            {"ranks": 2, "batch_size": 3, "batches": [None, None]},
        ],
    )
    assert results[0]["seen"] == [[list(range(6))]]
    first = sum((rank[0] for phase in results for rank in phase["seen"]), [])
    assert sorted(first) == list(range(COUNT)) == sorted(sum((rank[1] for rank in results[2]["seen"]), []))


def test_each_epoch_of_several_processes_holds_each_sample_once(tmp_path, data):
    """penstock.torch.DataLoader, shuffled, and DALI's iterator with PARTIAL, without."""
    common = {"batch_size": 3, "batches": [None, None, None], "fresh": True}
    results = run(
        tmp_path,
        data("file"),
        [
            {"ranks": ranks, "iterator": iterator, "reader": {"random_shuffle": not iterator}, **common}
            for ranks in (2, 4)
            for iterator in (False, True)
        ],
    )
    for phase in results:
        for epoch in zip(*phase["seen"]):
            assert sorted(sum(epoch, [])) == list(range(COUNT))


def test_ranks_take_as_many_steps_by_default(tmp_path, data):
    """Also where what is left of an epoch is divided anew: all samples come, one of them twice if a rank would miss a step, and
    all ranks have the same state at the end."""
    common = {"even": True}
    results = run(
        tmp_path,
        data("file"),
        [
            {"ranks": 3, "batch_size": 2, "batches": [4], **common},
            {"ranks": 2, "batch_size": 3, "batches": [None, None], **common},
            {"ranks": 4, "batch_size": 3, "batches": [None], **common},
        ],
    )
    assert [[[len(part) for part in rank] for rank in phase["seen"]] for phase in results] == [
        [[8]] * 3,
        [[7, 19]] * 2,
        [[10]] * 4,
    ]
    epochs = [phase["seen"] for phase in results]
    first = sum((rank[0] for rank in epochs[0] + epochs[1]), [])
    for epoch in (first, sum((rank[1] for rank in epochs[1]), []), sum((rank[0] for rank in epochs[2]), [])):
        assert set(epoch) == set(range(COUNT))
    assert len(first) == COUNT + 1
    for phase in results:
        assert all(state == phase["states"][0] for state in phase["states"])


def test_dalis_iterator_resumes_with_other_processes(tmp_path, data):
    """DALIGenericIterator.checkpoints(), in the middle of an epoch."""
    results = run(
        tmp_path,
        data("file"),
        [
            {
                "ranks": ranks,
                "batch_size": 2,
                "batches": [batches],
                "reader": {"random_shuffle": True},
                "iterator": True,
            }
            for ranks, batches in ((1, 4), (3, 2), (2, None))
        ],
    )
    assert sorted(sum((rank[0] for phase in results for rank in phase["seen"]), [])) == list(range(COUNT))


@pytest.mark.parametrize("kind, window", [("file", 0), ("tfrecord", 16)])
def test_batches_by_length_are_the_same_on_other_processes(tmp_path, data, kind, window):
    """An epoch of one process has the same batches as one that one, three and two processes read."""
    lengths = [1 + n * 7 % 31 for n in range(COUNT)]
    reader = {"random_shuffle": True, "lengths": lengths, "max_cost": 60, "seed": 3, "packing_window": window}
    common = {"batch_size": 5, "reader": reader, "whole": True}
    source = data(kind)
    alone = run(tmp_path, source, [{"ranks": 1, "batches": [None, None], **common}])[0]["seen"][0]
    results = run(
        tmp_path,
        source,
        [{"ranks": ranks, "batches": batches, **common} for ranks, batches in ((1, [2]), (3, [2]), (2, [None, None]))],
    )
    parts = [[rank[0] for rank in phase["seen"]] for phase in results] + [[rank[1] for rank in results[-1]["seen"]]]
    first, second = sum(parts[0] + parts[1] + parts[2], []), sum(parts[3], [])
    assert sorted(first) == sorted(alone[0]) and sorted(second) == sorted(alone[1]) and first != second
    assert parts[0][0] == alone[0][:2]
    assert all(rank == alone[0][2 + k : 8 : 3] for k, rank in enumerate(parts[1]))
    for batch in first + second:
        cost = sum(lengths[n] for n in batch) if window else len(batch) * max(lengths[n] for n in batch)
        assert len(batch) <= 5 and cost <= 60
    assert sorted(sum(first, [])) == sorted(sum(second, [])) == list(range(COUNT))
