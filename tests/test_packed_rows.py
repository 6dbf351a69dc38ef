# SPDX-License-Identifier: Apache-2.0
"""readers.packed: each element of each sample once, with the number of its sample and its place; shards and states."""

import json

import numpy as np
import pytest

from penstock import fn, pipeline_def
from penstock.torch import DataLoader

COUNT, ROW = 150, 64
LENGTHS = np.random.default_rng(2).integers(1, ROW + 1, COUNT)


def tokens(k):
    return np.arange(LENGTHS[k], dtype=np.int32) + 1000 * (k + 1)


class Tokens:
    def __init__(self, form="array"):
        self.form = form

    def __len__(self):
        return COUNT

    def __getitem__(self, k):
        if k == "size":
            return LENGTHS
        if self.form == "dict":
            return {"tokens": tokens(k), "frames": np.repeat(tokens(k)[:, None], 3, axis=1).astype(np.float32)}
        if self.form == "tuple":
            return tokens(k), tokens(k) % 7
        return tokens(k).tolist() if self.form == "list" else tokens(k)


def rows(form="array", batch_size=4, **arguments):
    given = {"lengths": LENGTHS, "row_length": ROW, "random_shuffle": True, **arguments}

    @pipeline_def(batch_size=batch_size, num_threads=1, seed=1)
    def read():
        values = fn.readers.packed(Tokens(form), name="reader", **given)
        return tuple(values.values()) if isinstance(values, dict) else tuple(values)

    return read()


def unpacked(values, segments, positions):
    """{number of a sample: its elements} of rows, which are checked."""
    found = {}
    for row, numbers, places in zip(values, segments, positions):
        last = int(numbers.max())
        assert set(numbers.tolist()) - {0} == set(range(1, last + 1))
        assert not numbers[(numbers > 0).sum() :].any() and not places[numbers == 0].any()
        for k in range(1, last + 1):
            part = row[numbers == k]
            assert places[numbers == k].tolist() == list(range(len(part)))
            sample = int(part.reshape(len(part), -1)[0, 0]) // 1000 - 1
            assert sample not in found
            found[sample] = part
    return found


def read(loader):
    batches = [[np.asarray(v) for v in batch] for batch in loader]
    return [np.concatenate(v) for v in zip(*batches)]


@pytest.mark.parametrize("form", ["array", "list", "tuple", "dict"])
@pytest.mark.parametrize("window", [1, 16, 4096])
def test_each_sample_once(form, window):
    loader = DataLoader(rows(form, window=window, pad=-1))
    for _ in range(2):
        *values, segments, positions = read(loader)
        assert segments.dtype == positions.dtype == np.int32 and segments.shape == (len(segments), ROW)
        found = unpacked(values[0], segments, positions)
        assert sorted(found) == list(range(COUNT))
        for k, part in found.items():
            np.testing.assert_array_equal(part, tokens(k))
        assert (values[0][segments == 0] == -1).all()
        if form == "tuple":
            np.testing.assert_array_equal(values[1][segments > 0], values[0][segments > 0] % 7)
        if form == "dict":
            assert values[1].shape == (*segments.shape, 3) and (values[1][..., 0] == values[0]).all()
        if window == 4096:
            assert (segments > 0).mean() > 0.93 > 0.6 > LENGTHS.sum() / (COUNT * ROW)


def test_lengths_may_be_a_column_or_a_function():
    want = read(DataLoader(rows()))
    for lengths in ("size", lambda k: LENGTHS[k], LENGTHS.tolist()):
        for a, b in zip(want, read(DataLoader(rows(lengths=lengths)))):
            np.testing.assert_array_equal(a, b)


def test_rows_are_the_same_on_all_ranks_and_after_resuming():
    alone = {tuple(r) for r in read(DataLoader(rows()))[0].tolist()}
    parts = [read(DataLoader(rows(shard_id=r, num_shards=2), uneven=True))[0].tolist() for r in range(2)]
    assert {tuple(r) for r in sum(parts, [])} == alone and abs(len(parts[0]) - len(parts[1])) <= 1
    whole = [b[0].tolist() for b in DataLoader(rows())]
    first = DataLoader(rows())
    next(iter(first))
    second = DataLoader(rows())
    state = json.loads(json.dumps(first.state_dict()))
    second.load_state_dict(state)
    assert [b[0].tolist() for b in second] == whole[1:]
    with pytest.raises(ValueError, match="cannot be resumed"):
        DataLoader(rows(window=8)).load_state_dict(state)


@pytest.mark.parametrize(
    "arguments, kind, said",
    [
        ({"row_length": 10}, ValueError, "more than row_length = 10"),
        ({"lengths": LENGTHS[:3]}, ValueError, r"lengths has the shape \(3,\), but the data set has 150 samples"),
        ({"lengths": LENGTHS + 0.5}, ValueError, "not a whole number"),
        ({"lengths": "words"}, ValueError, r"lengths='words' names a column"),
        ({"window": 0}, ValueError, "window must be at least 1"),
        ({"max_cost": 3}, TypeError, "no argument 'max_cost'"),
        ({"bucket_by": "size"}, TypeError, "no argument 'bucket_by'"),
    ],
)
def test_wrong_arguments(arguments, kind, said):
    with pytest.raises(kind, match=said):
        rows(**arguments)


def test_a_sample_of_another_length_says_so():
    with pytest.raises(ValueError, match=r"value 0 of sample \d+ has the shape .*, but lengths says 64 elements"):
        rows(lengths=np.full(COUNT, ROW))  # the first row is read when the pipeline is defined
    wrong = LENGTHS.copy()
    wrong[LENGTHS.argmin()] += 1  # at the end of its window, not in the first row
    with pytest.raises(RuntimeError, match="but lengths says"):
        for _ in DataLoader(rows(lengths=wrong)):
            pass
