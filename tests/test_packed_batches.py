# SPDX-License-Identifier: Apache-2.0
"""Batches whose samples fit into one row: those of first fit, each sample once, as many rows on all ranks; offsets and
positions as attention of variable length takes them."""

import json

import container_files
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from audio_files import recorded

import penstock
from penstock import Pipeline, fn, pipeline_def, tfrecord
from penstock.torch import DataLoader

COUNT, ROW = 157, 64
LENGTHS = np.random.default_rng(6).integers(1, ROW + 1, COUNT)
TOKENS = [np.arange(n, dtype=np.int64) + 1000 * k for k, n in enumerate(LENGTHS)]


def first_fit(lengths, order, row, window, most):
    """The rows of first fit: the longest of a window first, each into the first row that has room."""
    rows = []
    for at in range(0, len(order), window):
        opened = []
        for k in sorted(order[at : at + window], key=lambda k: -lengths[k]):
            for r in opened:
                if len(r) < most and sum(lengths[j] for j in r) + lengths[k] <= row:
                    r.append(k)
                    break
            else:
                opened.append([k])
        rows += opened
    return rows


def numbers(batch_size=50, ranks=1, rank=0, **arguments):
    given = {"lengths": LENGTHS, "max_cost": ROW, "packing_window": 4096, "random_shuffle": True, **arguments}

    @pipeline_def(batch_size=batch_size, num_threads=1, seed=7)
    def indices():
        return fn.readers.indices(size=COUNT, name="reader", num_shards=ranks, shard_id=rank, **given)

    return indices()


def rows_of(pipeline, **options):
    return [row.tolist() for (row,) in DataLoader(pipeline, **options)]


@pytest.mark.parametrize("window", [1, 10, 4096])
@pytest.mark.parametrize("batch_size", [3, 50])
def test_rows_are_those_of_first_fit(window, batch_size):
    want = first_fit(LENGTHS, range(COUNT), ROW, window, batch_size)
    pipeline = numbers(batch_size, packing_window=window, random_shuffle=False)
    assert rows_of(pipeline) == want
    meta = pipeline.reader_meta("reader")
    assert meta["batches"] == len(want)
    assert meta["real_share"] == pytest.approx(LENGTHS.sum() / (len(want) * ROW))
    loader = DataLoader(numbers(batch_size, packing_window=window))
    epochs = [[row.tolist() for (row,) in loader] for _ in range(3)]
    for epoch in epochs:
        assert sorted(sum(epoch, [])) == list(range(COUNT)) and len(epoch) == len(loader)
        assert all(LENGTHS[row].sum() <= ROW and len(row) <= batch_size for row in epoch)
        if window == 4096:  # which of two samples of one length comes first changes no row's lengths
            assert sorted(LENGTHS[row].tolist() for row in epoch) == sorted(LENGTHS[row].tolist() for row in want)
    assert epochs[0] != epochs[1] != epochs[2]
    if window > 1:
        assert {frozenset(r) for r in epochs[0]} != {frozenset(r) for r in epochs[1]}


def test_all_ranks_have_as_many_rows():
    alone = rows_of(numbers())
    for ranks in (2, 3, 4):
        parts = [rows_of(numbers(ranks=ranks, rank=r, seed=7)) for r in range(ranks)]
        assert {len(part) for part in parts} == {-(-len(alone) // ranks)}
        assert {tuple(row) for part in parts for row in part} == {tuple(row) for row in alone}
        exact = [rows_of(numbers(ranks=ranks, rank=r, seed=7), uneven=True) for r in range(ranks)]
        assert sorted(sum(exact, [])) == sorted(alone)


def test_resuming_is_exact_on_other_ranks_and_with_the_seed_of_the_state():
    whole = DataLoader(numbers())
    want = [[row.tolist() for (row,) in whole] for _ in range(2)]
    first = DataLoader(numbers())
    taken = [row.tolist() for _, (row,) in zip(range(9), first)]
    assert taken == want[0][:9]
    state = json.loads(json.dumps(first.state_dict()))
    second = DataLoader(numbers())
    second.load_state_dict(state)
    assert [[row.tolist() for (row,) in second] for _ in range(2)] == [want[0][9:], want[1]]
    parts = []
    for rank in range(3):
        loader = DataLoader(numbers(ranks=3, rank=rank), uneven=True)
        loader.load_state_dict(state)
        parts.append([row.tolist() for (row,) in loader])
    assert sorted(sum(parts, [])) == sorted(want[0][9:]) and max(map(len, parts)) - min(map(len, parts)) <= 1
    for other in ({"packing_window": 8}, {"packing_window": 0}, {"max_cost": 80}, {"random_shuffle": False}):
        with pytest.raises(ValueError, match="cannot be resumed"):
            DataLoader(numbers(**other)).load_state_dict(state)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"lengths": None}, "packing_window needs the lengths"),
        ({"max_cost": 0}, "packing_window needs max_cost"),
        ({"max_cost": 30}, "more than max_cost = 30"),
        ({"bucket_groups": LENGTHS}, "mutually exclusive"),
        ({"stick_to_shard": True}, "stick_to_shard"),
        ({"lengths": LENGTHS[:5]}, "lengths has 5 numbers, but there are 157 samples"),
        ({"packing_window": -1}, "packing_window must be at least 0"),
    ],
)
def test_wrong_arguments(arguments, said):
    with pytest.raises(ValueError, match=said):
        numbers(**arguments).build()


def reader_of(kind, folder):
    """A function that reads the tokens."""
    if kind == "tfrecord":
        path = folder / "records"
        container_files.write_tfrecord(path, [container_files.example({"tokens": t}) for t in TOKENS])
        feature = tfrecord.VarLenFeature(tfrecord.int64, 0)
        return lambda **given: fn.readers.tfrecord(path=str(path), features={"tokens": feature}, **given)["tokens"]
    if kind == "numpy":
        for k, tokens in enumerate(TOKENS):
            np.save(folder / f"{k:03d}.npy", tokens)
        return lambda **given: fn.readers.numpy(file_root=str(folder), **given)
    if kind == "dataset":
        return lambda **given: fn.readers.dataset(TOKENS, bucket_by=given.pop("lengths"), **given)
    table = pa.table({"tokens": pa.array(TOKENS, pa.list_(pa.int64()))})
    path = folder / f"tokens.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=50)
        return lambda **given: fn.readers.parquet(path=str(path), columns=["tokens"], **given)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return lambda **given: fn.readers.arrow(str(path), columns=["tokens"], **given)


@pytest.mark.parametrize("kind", ["tfrecord", "parquet", "arrow", "numpy", "dataset"])
def test_rows_of_readers_as_attention_of_variable_length_takes_them(kind, tmp_path):
    read = reader_of(kind, tmp_path)

    @pipeline_def(batch_size=50, num_threads=2)
    def texts():
        return read(lengths=LENGTHS, max_cost=ROW, packing_window=40)

    loader = DataLoader(texts(), ["tokens"], ragged="packed")
    want = first_fit(LENGTHS, range(COUNT), ROW, 40, 50)
    for row, batch in zip(want, loader, strict=True):
        assert set(batch) == {"tokens", "tokens_offsets", "tokens_positions", "tokens_longest"}
        assert batch["tokens"].tolist() == np.concatenate([TOKENS[k] for k in row]).tolist()
        assert batch["tokens_offsets"].tolist() == np.cumsum([0, *LENGTHS[row]]).tolist()
        assert batch["tokens_positions"].tolist() == [p for k in row for p in range(LENGTHS[k])]
        assert batch["tokens_longest"] == max(LENGTHS[k] for k in row)
        assert batch["tokens_offsets"].dtype == batch["tokens_positions"].dtype == torch.int32


def test_a_manifest_by_duration(tmp_path):
    lines = []
    for k in range(40):
        path = tmp_path / f"{k}.wav"
        path.write_bytes(recorded(np.zeros((100 * LENGTHS[k], 1), np.float32), "WAV", "PCM_16"))
        lines.append(json.dumps({"audio_filepath": str(path), "duration": LENGTHS[k] / 100}) + "\n")
    (tmp_path / "all.json").write_text("".join(lines))

    @pipeline_def(batch_size=50, num_threads=1)
    def speech():
        samples, place = fn.readers.nemo_asr(
            manifest_filepaths=[str(tmp_path / "all.json")], read_sample_rate=False, read_text=False, read_idxs=True,
            bucket_by="duration", max_cost=0.8, packing_window=40,
        )  # fmt: skip
        return samples, place

    loader = DataLoader(speech(), ["samples", "place"], ragged={"samples": "packed"})
    for row, batch in zip(first_fit(LENGTHS, range(40), 80, 40, 50), loader, strict=True):
        assert batch["place"].flatten().tolist() == row
        assert batch["samples_offsets"].tolist() == np.cumsum([0, *(100 * LENGTHS[row])]).tolist()


def test_steps_of_the_pipeline_come_before_the_row():
    """Frames of two channels, changed sample by sample."""

    @pipeline_def(batch_size=50, num_threads=1)
    def frames():
        frames = [np.float32(t)[:, None] * np.float32([1, 10]) for t in TOKENS]
        return fn.readers.dataset(frames, bucket_by=LENGTHS, max_cost=ROW, packing_window=64) * 2.0

    pipe = frames()
    for row in first_fit(LENGTHS, range(COUNT), ROW, 64, 50)[:3]:
        (batch,) = pipe.run()
        values, offsets, positions, longest = batch.packed()
        want = np.concatenate([np.float32(TOKENS[k])[:, None] * np.float32([2, 20]) for k in row])
        np.testing.assert_array_equal(values.numpy(), want)
        np.testing.assert_array_equal(offsets.numpy(), np.cumsum([0, *LENGTHS[row]]))
        np.testing.assert_array_equal(positions.numpy(), np.concatenate([np.arange(n) for n in LENGTHS[row]]))
        assert longest == max(LENGTHS[row])


def test_what_is_not_one_row():
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source([[np.zeros((2, 3)), np.zeros((2, 4))]]))
    (batch,) = pipe.run()
    with pytest.raises(TypeError, match="first extent alone"):
        batch.packed()
    with pytest.raises(TypeError, match="without dimensions"):
        penstock.batch([1, 2]).packed()
    with pytest.raises(ValueError, match="'x_offsets', where the offsets of 'x' belong"):
        DataLoader(two_outputs(), ["x", "x_offsets"], ragged={"x": "packed"})


@pipeline_def(batch_size=2, num_threads=1)
def two_outputs():
    return fn.readers.indices(size=4), fn.readers.indices(size=4)


def test_a_bad_sample_is_replaced_by_one_that_fits(tmp_path):
    for k, tokens in enumerate(TOKENS):
        np.save(tmp_path / f"{k:03d}.npy", tokens)
    bad = int(np.argsort(LENGTHS)[COUNT // 2])
    (tmp_path / f"{bad:03d}.npy").write_bytes(b"no array")

    @pipeline_def(batch_size=50, num_threads=1, on_error="replace")
    def texts():
        return fn.readers.numpy(
            file_root=str(tmp_path), lengths=LENGTHS, max_cost=ROW, packing_window=4096, random_shuffle=True
        )

    loader = DataLoader(texts(), ["x"], ragged="packed")
    seen = [int(v) // 1000 for batch in loader for v, place in zip(batch["x"], batch["x_positions"]) if place == 0]
    assert len(seen) == COUNT and bad not in seen and len(set(seen)) == COUNT - 1
    loader = DataLoader(texts(), ["x"], ragged="packed")
    assert all(len(batch["x"]) <= ROW for batch in loader)
