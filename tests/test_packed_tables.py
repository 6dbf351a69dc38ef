# SPDX-License-Identifier: Apache-2.0
"""Rows of several samples from a manifest: lists of a column, or what a function makes of a row."""

import json

import annotation_files
import numpy as np
import pytest

import penstock
from penstock import annotations, fn, pipeline_def
from penstock.torch import DataLoader


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("packed"), np.random.default_rng(7)
    names = annotation_files.recordings(folder, rng.integers(1, 40, 61) / 1000, rate=1000)
    tokens = [rng.integers(1, 99, rng.integers(1, 30)).tolist() for _ in names]
    rows = [{"audio_filepath": n, "tokens": t, "count": len(t)} for n, t in zip(names, tokens)]
    (folder / "m.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return annotations.manifest(str(folder / "m.jsonl"))


def packed(table, rank=0, ranks=1, batch_size=2, lengths="tokens", **more):
    @pipeline_def(batch_size=batch_size, num_threads=1)
    def rows():
        samples = table.samples("tokens")
        shard = {"shard_id": rank, "num_shards": ranks}
        made = fn.readers.packed(samples, lengths=lengths, row_length=32, random_shuffle=True, seed=3, **shard, **more)
        return made["tokens"], made["segments"], made["positions"]

    return DataLoader(rows(), ["tokens", "segments", "positions"], uneven=True)


def samples_of(batches):
    """The lists in all rows, by segments; positions count in each."""
    found = []
    for batch in batches:
        for tokens, segments, positions in zip(*(v.numpy() for v in batch.values())):
            assert not tokens[segments == 0].any()
            for s in range(1, segments.max() + 1):
                assert positions[segments == s].tolist() == list(range((segments == s).sum()))
                found.append(tuple(tokens[segments == s].tolist()))
    return sorted(found)


@pytest.mark.parametrize("lengths", ["tokens", "count"])
def test_rows_hold_each_list_of_a_manifest_once(table, lengths):
    expected = sorted(tuple(table.row(k)["tokens"].tolist()) for k in range(len(table)))
    assert samples_of(packed(table, lengths=lengths)) == expected


def test_a_state_continues_on_other_ranks(table):
    first, taken = packed(table), []
    for k, batch in enumerate(first):
        taken.append(batch)
        if k == 2:
            break
    state = first.state_dict()
    rest = []
    for rank in range(3):
        loader = packed(table, rank, 3, batch_size=1)
        loader.load_state_dict(state)
        rest += list(loader)
    assert samples_of([*taken, *rest]) == samples_of(packed(table))


def test_a_function_makes_samples_of_files(table):
    def load(row):
        sound, _ = fn.decoders.audio(np.fromfile(row["file"], np.uint8), downmix=True)
        return {"sound": np.asarray(sound)}

    lengths = [len(load(table.row(k))["sound"]) for k in range(len(table))]

    @pipeline_def(batch_size=1, num_threads=1)
    def rows():
        made = fn.readers.packed(table.samples(load=load), lengths=lengths, row_length=64)
        return made["sound"], made["segments"]

    total = 0
    for batch in DataLoader(rows(), ["sound", "segments"]):
        assert batch["sound"].shape == (1, 64)
        total += int((batch["segments"] > 0).sum())
    assert total == sum(lengths)


@pytest.mark.parametrize(
    "names, more, said",
    [
        (["token"], {}, "no column 'token': the columns are tokens, count"),
        ([], {}, "takes names of columns, or load="),
        (["tokens"], {"load": len}, "takes names of columns, or load="),
    ],
)
def test_wrong_samples(table, names, more, said):
    with pytest.raises(ValueError, match=said):
        table.samples(*names, **more)


def test_columns_that_are_no_lengths(tmp_path):
    annotation_files.coco(tmp_path)
    table = annotations.coco(str(tmp_path / "coco.json"), str(tmp_path / "images"), masks=True)
    for name in ("masks", "file"):
        with pytest.raises(ValueError, match=f"{name}.*raised TypeError"):
            fn_call = lambda n=name: fn.readers.packed(table.samples("labels"), lengths=n, row_length=9)  # noqa: E731
            pipeline_def(batch_size=1, num_threads=1)(lambda: fn_call())()
    assert penstock.annotations.Table(["a"], {"x": np.array([3])}).samples("x")[0] == {"x": 3}
