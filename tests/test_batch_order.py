# SPDX-License-Identifier: Apache-2.0
"""Samples of a batch in another order, and random orders."""

import itertools

import dali_oracle
import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def

XS = [np.full((k + 1, 2), k, np.int16) for k in range(5)]


def orders(**arguments):
    return [int(t.numpy()) for t in fn.batch_permutation(**arguments)]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_permutes_a_batch_in_a_pipeline(device):
    @pipeline_def(batch_size=5, num_threads=2, device_id=None, seed=3)
    def pipe():
        x = fn.external_source(lambda: XS)
        order = fn.batch_permutation()
        y = x.gpu() if device == "gpu" else x
        return order, fn.permute_batch(y, indices=order), fn.permute_batch(y, indices=[4, 4, 0, 1, 2])

    p = pipe()
    seen = set()
    for _ in range(4):
        order, random, given = p.run()
        order = [int(t.numpy()) for t in order]
        assert sorted(order) == list(range(5))
        seen.add(tuple(order))
        for out, wanted in ((random, order), (given, [4, 4, 0, 1, 2])):
            for t, k in zip(out.cpu(), wanted):
                np.testing.assert_array_equal(np.array(t.numpy()), XS[k])
    assert len(seen) > 1


def test_equals_dali(oracle):
    for indices in ([2, 0, 0, 4, 1], [4, 3, 2, 1, 0]):
        want = oracle.call("permute_batch", XS, indices=indices)
        for given in (indices, penstock.batch([np.int32(k) for k in indices])):
            got = fn.permute_batch(penstock.batch(XS), indices=given)
            assert [np.array(t.numpy()).tolist() for t in got] == [w.tolist() for w in want]


@pytest.mark.parametrize("indices", [[0, 1], [0, 1, 2, 3, 5], [0, 1, 2, 3, -1]])
def test_wrong_indices_are_refused_as_in_dali(oracle, indices):
    with pytest.raises(ValueError, match="indices for|out of range"):
        fn.permute_batch(penstock.batch(XS), indices=indices)
    with pytest.raises(dali_oracle.DaliError):
        oracle.call("permute_batch", XS, indices=indices)


def test_messages_name_the_file_that_a_sample_came_from(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.jpg").write_bytes(b"no picture %d" % k)

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def pipe():
        files, _ = fn.readers.file(files=[str(tmp_path / f"{k}.jpg") for k in range(3)])
        moved = fn.permute_batch(files, indices=[2, 0, 1])
        return moved, fn.get_property(moved, key="source_info"), fn.get_property(files, key="source_info")

    moved, sources, before = [[np.array(t.numpy()).tobytes().decode() for t in b] for b in pipe().run()]
    assert moved == ["no picture 2", "no picture 0", "no picture 1"]
    assert [s.rpartition("/")[2] for s in sources] == ["2.jpg", "0.jpg", "1.jpg"]
    assert [s.rpartition("/")[2] for s in before] == ["0.jpg", "1.jpg", "2.jpg"]


def test_orders_follow_the_seed():
    assert orders(batch_size=8, seed=1) == orders(batch_size=8, seed=1) != orders(batch_size=8, seed=2)
    assert fn.batch_permutation(batch_size=2).dtype == penstock.types.INT32
    assert orders(batch_size=1) == orders(batch_size=1, no_fixed_points=True) == [0]


def test_every_order_is_as_likely():
    """2,400 seeds, fixed: the counts of the 24 orders of four samples, 100 each, deviate by less than five times their root."""
    count = dict.fromkeys(itertools.permutations(range(4)), 0)
    for seed in range(2400):
        count[tuple(orders(batch_size=4, seed=seed))] += 1
    assert max(abs(c - 100) for c in count.values()) < 50
    for seed in range(300):
        order = orders(batch_size=5, seed=seed, no_fixed_points=True)
        assert sorted(order) == list(range(5)) and all(k != i for i, k in enumerate(order))
    repeated = [orders(batch_size=5, seed=s, allow_repetitions=True) for s in range(300)]
    assert {k for o in repeated for k in o} == set(range(5)) and any(len(set(o)) < 5 for o in repeated)
    assert all(
        k != i
        for s in range(300)
        for i, k in enumerate(orders(batch_size=5, seed=s, allow_repetitions=True, no_fixed_points=True))
    )
