# SPDX-License-Identifier: Apache-2.0
"""Readers of containers: what they have in common. Each kind writes the same payloads in its own format."""

import os
import shutil

import numpy as np
import pytest
import readers
from readers import payload

import penstock
from penstock import Pipeline

SIZE = 23
KINDS = readers.kinds()


@pytest.fixture(scope="module", params=list(KINDS))
def data(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    KINDS[request.param].write(folder, [payload(k) for k in range(SIZE)])
    return KINDS[request.param], folder


@pytest.fixture(scope="module", params=[name for name in KINDS if KINDS[name].checked])
def checked(request, tmp_path_factory):
    """Formats with checksums."""
    folder = tmp_path_factory.mktemp(request.param)
    KINDS[request.param].write(folder, [payload(k) for k in range(SIZE)])
    return KINDS[request.param], folder


def make(kind, folder, batch_size=4, threads=2, checkpoint=None, seed=3, pipeline=None, **arguments):
    pipe = Pipeline(
        batch_size=batch_size,
        num_threads=threads,
        seed=seed,
        enable_checkpointing=True,
        checkpoint=checkpoint,
        **(pipeline or {}),
    )
    with pipe:
        pipe.set_outputs(*kind.read(folder, name="reader", **arguments))
    pipe.kind = kind
    return pipe


def take(pipe, batches):
    """[(label, payload)]"""
    out = []
    for _ in range(batches):
        data, label = pipe.run()
        out += [
            (pipe.kind.label(label[i].numpy()), pipe.kind.payload(data[i].numpy().tobytes())) for i in range(len(data))
        ]
    return out


EXPECTED = [(k, payload(k)) for k in range(SIZE)]


def test_records_come_in_their_order(data):
    assert take(make(*data), 12)[: 2 * SIZE] == EXPECTED + EXPECTED


def test_a_shuffled_epoch_holds_each_record_once(data):
    got = take(make(*data, random_shuffle=True), 12)[:SIZE]
    assert got != EXPECTED and sorted(got) == EXPECTED


def test_threads_change_nothing(data):
    assert take(make(*data, threads=1, random_shuffle=True), 9) == take(make(*data, threads=5, random_shuffle=True), 9)


def test_shards_cut_the_data(data):
    for shuffle in (False, True):
        parts = [
            take(
                make(*data, batch_size=1, num_shards=3, shard_id=s, random_shuffle=shuffle),
                make(*data, num_shards=3, shard_id=s, random_shuffle=shuffle).reader_meta("reader")["epoch_size"] // 3,
            )
            for s in range(3)
        ]
        labels = [label for part in parts for label, _ in part]
        assert len(set(labels)) == len(labels) == SIZE // 3 * 3


def test_a_checkpoint_continues_on_another_number_of_ranks(data):
    pipe = make(*data, random_shuffle=True, batch_size=5)
    first = take(pipe, 2)
    state = pipe.checkpoint()
    rest = []
    for shard in range(2):
        other = make(*data, random_shuffle=True, batch_size=1, num_shards=2, shard_id=shard, checkpoint=state)
        larger = shard if pipe.kind.grouped else 1 - shard  # of two parts of an odd number
        rest += take(other, (SIZE - 10 + larger) // 2)
    assert sorted(first + rest) == EXPECTED


def test_files_that_the_pattern_does_not_match_are_not_read(data, tmp_path):
    kind, good = data
    folder = tmp_path / "data"
    shutil.copytree(good, folder)
    (folder / "part-0.other").write_bytes(bytes(range(256)))
    (folder / "notes.txt").write_text("not a record")
    assert take(make(kind, folder), 6)[:SIZE] == EXPECTED


def test_metadata_counts_records(data):
    meta = make(*data, num_shards=2, shard_id=1).reader_meta("reader")
    assert (meta["epoch_size"], meta["number_of_shards"], meta["shard_id"]) == (SIZE, 2, 1)


def test_a_damaged_record_is_an_error_with_its_place(checked, tmp_path):
    kind, good = checked
    folder = tmp_path / "data"
    shutil.copytree(good, folder)
    path, at = kind.file(folder)
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(bytes([payload(5)[10] ^ 1]))
    with pytest.raises(penstock.DataError, match=rf"(?s)\[{kind.name}\].*{os.path.basename(path)}, byte \d+"):
        take(make(kind, folder), 6)
    got = take(make(kind, folder, pipeline={"on_error": "replace"}), 6)[:SIZE]
    assert [g for k, g in enumerate(got) if k != 5] == EXPECTED[:5] + EXPECTED[6:] and got[5] in EXPECTED
    pipe = make(kind, folder, pipeline={"on_error": "skip"})
    got = take(pipe, 6)
    assert got[: SIZE - 1] == EXPECTED[:5] + EXPECTED[6:]
    left = {(position, os.path.basename(source).split(",")[0]) for _, position, source, _ in pipe.left_out()}
    assert left == {(5, os.path.basename(path))}


def test_a_file_cut_while_it_is_used_is_an_error(data, tmp_path):
    kind, good = data
    folder = tmp_path / "data"
    shutil.copytree(good, folder)
    pipe = make(kind, folder, batch_size=1, pipeline={"prefetch_queue_depth": 1})
    pipe.run()
    for name in os.listdir(folder):
        if os.path.isfile(folder / name):
            os.truncate(folder / name, 30)
    with pytest.raises((penstock.DataError, FileNotFoundError)):
        for _ in range(SIZE):
            pipe.run()


def test_an_index_is_kept_and_made_again_for_a_changed_file(tmp_path):
    kind = KINDS["tfrecord"]
    kind.write(tmp_path, [payload(k) for k in range(SIZE)])
    assert take(make(kind, tmp_path), 6)[:SIZE] == EXPECTED
    kept = os.path.join(os.environ["PENSTOCK_CACHE"], "containers")
    assert any(name.startswith("part-1.tfrecord-") for name in os.listdir(kept))
    kind.write(tmp_path, [payload(k + 1) for k in range(SIZE)])
    assert take(make(kind, tmp_path), 6)[:SIZE] == [(k, payload(k + 1)) for k in range(SIZE)]
    for name in os.listdir(kept):  # a damaged index is made again
        with open(os.path.join(kept, name), "r+b") as file:
            file.seek(60)
            file.write(b"\xff\xff")
    assert take(make(kind, tmp_path), 6)[:SIZE] == [(k, payload(k + 1)) for k in range(SIZE)]


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_end_in_typed_errors(data, tmp_path, seed):
    """Cuts, flipped bits and hostile numbers: every run ends well or in an error of the data."""
    kind, good = data
    rng = np.random.default_rng(seed)
    for trial in range(12):
        folder = tmp_path / str(trial)
        shutil.copytree(good, folder)
        names = sorted(n for n in os.listdir(folder) if os.path.isfile(folder / n))
        path = folder / names[rng.integers(len(names))]
        content = bytearray(path.read_bytes())
        for _ in range(rng.integers(1, 4)):
            way, at = rng.integers(4), int(rng.integers(max(1, len(content))))
            if way == 0:
                del content[at:]
            elif way == 1 and content:
                content[at] ^= 1 << int(rng.integers(8))
            elif way == 2:
                number = [0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, 4096, 24][rng.integers(8)]
                content[at : at + 8] = number.to_bytes(8, "little")
            else:
                content[at:at] = content[max(0, at - 40) : at]
        path.write_bytes(content)
        try:
            take(make(kind, folder), 7)
        except (penstock.DataError, FileNotFoundError) as error:
            assert kind.name in str(error)
