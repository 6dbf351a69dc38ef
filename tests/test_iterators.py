# SPDX-License-Identifier: Apache-2.0
"""Iterators over lists of pipelines: DALI's epochs if DALI returns each sample once, several GPUs, ragged outputs."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from iterator_epochs import counts_of, epochs_of

from penstock import fn, pipeline_def
from penstock.plugin.numpy import NumpyIterator
from penstock.plugin.pytorch import DALIGenericIterator, DALIRaggedIterator, LastBatchPolicy
from penstock.torch import DataLoader

HERE = Path(__file__).parent
COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "0"))
EMULATED = HERE.parent / "build" / "libpenstock_emulated_gpu.so"


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return epochs_of(
        fn, pipeline_def, DALIGenericIterator, LastBatchPolicy.__members__, str(tmp_path_factory.mktemp("files"))
    )


def test_epochs_are_dalis(ours):
    """dali_iterators.json is what DALI 2.4.0 does. It starts an epoch where the last one stopped reading, so without
    pad_last_batch, and with DROP, later epochs drift there: the first ones are compared, with FILL all."""
    theirs = json.loads((HERE / "dali_iterators.json").read_text())
    assert list(theirs) == list(ours)
    for setting, want in theirs.items():
        got = ours[setting]
        if want == "error" or got == "error":
            assert got == want, setting
        elif "FILL" in setting or ("PARTIAL" in setting and "pad" in setting):
            assert got == want, setting
        else:
            assert got[0] == want[0], setting


def test_every_rank_has_as_many_batches_as_in_dali(tmp_path):
    """dali_iterator_counts.json is what DALI 2.4.0 does for random sizes, shards, policies and shuffles: what len() says, and the
    samples of each batch, over five epochs of each rank."""

    class Sizes(NumpyIterator):
        def __init__(self, pipeline, policy):
            super().__init__([pipeline], ["n"], reader_name="reader", last_batch_policy=policy, auto_reset=True)

        def convert_all(self, outputs, keeps):
            ((batch,),), (keep,) = outputs, keeps
            return len(batch) if keep is None else min(keep, len(batch))

    for given, want in json.loads((HERE / "dali_iterator_counts.json").read_text())[: None if COUNT else 100]:
        got = counts_of(fn, pipeline_def, Sizes, LastBatchPolicy.__members__, str(tmp_path), given)
        batches = lambda found: [e if e == "error" else [(n, len(sizes)) for n, sizes in e] for e in found]
        assert batches(got) == batches(want), given
        if not given["shuffle"]:  # else DALI's shards are contiguous, and ours are dealt
            assert got == json.loads(json.dumps(want)), given


def test_no_epoch_drifts(ours):
    """PARTIAL: every epoch of all shards together holds each sample once. DROP: the ranks have as many full batches."""
    for setting, epochs in ours.items():
        if epochs == "error" or "FILL" in setting:
            continue
        for length, batches in epochs:
            if "shard all" in setting or "DROP" in setting:
                assert len(batches) == length, setting
            seen = [n for batch in batches for part in batch for n in part]
            assert len(set(seen)) == len(seen), setting
            if "PARTIAL" in setting and "shard all" in setting:
                assert sorted(seen) == list(range(int(setting[0]))), setting
            if "DROP" in setting:
                size = int(setting.partition("batches of ")[2][0])
                assert all(len(part) == size for batch in batches for part in batch), setting


def test_shuffled_readers_that_repeat_samples(tmp_path):
    for i in range(11):
        (tmp_path / f"{i}").write_bytes(b"x")
    files = [str(tmp_path / f"{i}") for i in range(11)]

    @pipeline_def(batch_size=2, num_threads=1, seed=9)
    def pipe(shard):
        return fn.readers.file(
            files=files, random_shuffle=True, pad_last_batch=True, shard_id=shard, num_shards=4, name="reader"
        )[1]

    epochs = DALIGenericIterator(
        [pipe(k) for k in range(4)],
        ["n"],
        reader_name="reader",
        auto_reset=True,
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    for _ in range(3):
        assert sorted(n for batch in epochs for part in batch for n in part["n"].flatten().tolist()) == list(range(11))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("count", [7, 9, 10])
def test_an_uneven_loader_ends_where_its_shard_ends(tmp_path, count, shuffle):
    """Not shuffled, ranks change shards in each epoch, and one of them may have a batch more."""
    files = [str(tmp_path / f"{i}") for i in range(count)]
    for name in files:
        Path(name).write_bytes(b"x")

    @pipeline_def(batch_size=3, num_threads=1, seed=9)
    def pipe(shard):
        return fn.readers.file(files=files, random_shuffle=shuffle, shard_id=shard, num_shards=2)[1]

    loaders = [DataLoader(pipe(k), uneven=True) for k in range(2)]
    for _ in range(4):
        assert sorted(n for loader in loaders for (batch,) in loader for n in batch.flatten().tolist()) == list(
            range(count)
        )


def ragged(*shapes):
    @pipeline_def(batch_size=len(shapes), num_threads=1)
    def pipe():
        return fn.external_source(lambda: [np.arange(np.prod(s), dtype=np.float32).reshape(s) for s in shapes])

    return pipe()


def test_the_ragged_iterators_forms_over_a_list_of_pipelines():
    """Dense, lists and sparse tensors; a sparse one holds each sample's elements at its own place, also those that are 0."""
    one, other = ((2, 3), (1, 2)), ((1, 1), (3, 1))
    it = DALIRaggedIterator(
        [ragged(*one), ragged(*other)], ["x"], size=4, output_types=[DALIRaggedIterator.SPARSE_LIST_TAG]
    )
    for part, shapes in zip(next(it), (one, other)):
        assert [tuple(t.shape) for t in part["x"]] == list(shapes)
    it = DALIRaggedIterator(
        [ragged(*one), ragged(*other)], ["x"], size=4, output_types=[DALIRaggedIterator.SPARSE_COO_TAG]
    )
    for part, shapes in zip(next(it), (one, other)):
        sparse = part["x"].coalesce()
        assert sparse.values().numel() == sum(h * w for h, w in shapes)
        for k, (h, w) in enumerate(shapes):
            assert torch.equal(sparse.to_dense()[k, :h, :w], torch.arange(h * w, dtype=torch.float32).reshape(h, w))
    with pytest.raises(RuntimeError, match="representable as a tensor"):
        next(DALIRaggedIterator(ragged(*one), ["x"]))
    dense = DALIRaggedIterator(ragged((2, 2), (2, 2)), ["x"])
    assert next(dense)[0]["x"].shape == (2, 2, 2)


TWO_GPUS = """
    import sys
    import numpy as np
    from penstock import fn, pipeline_def
    from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    @pipeline_def(batch_size=2, num_threads=2)
    def pipe(files, shard):
        data, number = fn.readers.file(files=files, shard_id=shard, num_shards=2, name="reader")
        picture = fn.reshape(data, shape=[2, 3, 1], layout="HWC").gpu()
        return fn.flip(picture).cpu(), number

    files = sys.argv[1:]
    batches = DALIGenericIterator([pipe(files, gpu, device_id=gpu) for gpu in range(2)], ["picture", "number"],
                                  reader_name="reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True)
    for _ in range(2):
        seen = {}
        for batch in batches:
            for part in batch:
                for picture, number in zip(part["picture"], part["number"].flatten().tolist()):
                    assert picture.flatten().tolist() == [10 * number + v for v in (2, 1, 0, 5, 4, 3)]
                    seen[number] = seen.get(number, 0) + 1
        assert seen == dict.fromkeys(range(len(files)), 1), seen
"""


@pytest.mark.skipif(not EMULATED.exists(), reason="the emulated GPU is not built")
def test_one_pipeline_a_gpu(tmp_path):
    files = []
    for i in range(7):
        files.append(str(tmp_path / f"{i}.bin"))
        Path(files[-1]).write_bytes(bytes(range(10 * i, 10 * i + 6)))
    script, log = tmp_path / "program.py", tmp_path / "log"
    script.write_text(textwrap.dedent(TWO_GPUS))
    environment = dict(
        os.environ, PENSTOCK_GPU_LIBRARY=str(EMULATED), PENSTOCK_REQUIRE_GPU="1", PENSTOCK_EMULATED_LOG=str(log)
    )
    done = subprocess.run(
        [sys.executable, str(script), *files], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    for gpu in range(2):
        assert f"gpu {gpu}: launch" in log.read_text() or f"gpu {gpu}: copy" in log.read_text()


def indices(policy, checkpoint=None, shard=0, shards=1, size=None, **options):
    """An iterator over 10 numbers in batches of 3."""

    @pipeline_def(batch_size=3, num_threads=1, seed=5, enable_checkpointing=True, checkpoint=checkpoint)
    def numbers():
        return fn.readers.indices(size=10, name="reader", shard_id=shard, num_shards=shards)

    counts = {"reader_name": "reader"} if size is None else {"size": size}
    return NumpyIterator([numbers()], ["n"], last_batch_policy=LastBatchPolicy[policy], **counts, **options)


def epoch_of(batches):
    found = [batch["n"].tolist() for (batch,) in batches]
    batches.reset()
    return found


@pytest.mark.parametrize("policy", ["FILL", "DROP", "PARTIAL"])
@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("first", [True, False])
def test_checkpoints_go_on_in_the_same_epoch(policy, shards, first):
    """An iterator that resumes gives what the other one gives from there: where its epochs end, too. Before the first batch, in the
    middle of an epoch, after its last batch and in later epochs."""
    for taken in range(8):
        for shard in range(shards):
            whole = indices(policy, None, shard, shards, prepare_first_batch=first)
            for _ in range(taken):
                if next(whole, None) is None:
                    whole.reset()
            again = indices(policy, whole.checkpoints()[0], shard, shards, prepare_first_batch=first)
            assert [epoch_of(again) for _ in range(3)] == [epoch_of(whole) for _ in range(3)], (taken, shard)


def test_counters_of_another_iterator_are_not_taken():
    """With another policy the checkpoint says where the data go on, and a whole epoch follows; damaged ones are refused."""
    whole = indices("FILL")
    next(whole)
    (checkpoint,) = whole.checkpoints()
    assert epoch_of(indices("PARTIAL", checkpoint))[0] == [3, 4, 5]
    saved = json.loads(checkpoint)
    for counters in (
        {"taken": 1},
        5,
        {**saved["iterator"]["counters"], "over": 3},
        {**saved["iterator"]["counters"], "batches": -1},
    ):
        saved["iterator"]["counters"] = counters
        with pytest.raises(ValueError, match="counters of the iterator in the checkpoint are damaged"):
            indices("FILL", json.dumps(saved))


@pytest.mark.parametrize(
    "size, want",
    [
        (7, [[[0, 1, 2], [3, 4, 5]], [[9, 0, 1], [2, 3, 4]], [[8, 9, 0], [1, 2, 3]]]),
        (10, [[[0, 1, 2], [3, 4, 5], [6, 7, 8]], [[2, 3, 4], [5, 6, 7], [8, 9, 0]], [[4, 5, 6], [7, 8, 9], [0, 1, 2]]]),
        (9, [[[0, 1, 2], [3, 4, 5], [6, 7, 8]], [[9, 0, 1], [2, 3, 4], [5, 6, 7]], [[8, 9, 0], [1, 2, 3], [4, 5, 6]]]),
    ],
)
def test_the_batch_that_a_size_drops_is_taken(size, want):
    """What DALI 2.4.0 does: the next epoch begins after the batch that was dropped."""
    batches = indices("DROP", size=size)
    assert [epoch_of(batches) for _ in range(3)] == want


def test_a_source_that_ends_with_the_epoch_may_end_at_the_dropped_batch():
    def batches_of_an_epoch():
        yield from (np.arange(3), np.arange(3, 6), np.arange(6, 7))

    @pipeline_def(batch_size=3, num_threads=1)
    def fed():
        return fn.external_source(batches_of_an_epoch, cycle="raise")

    batches = NumpyIterator([fed()], ["n"], size=7, last_batch_policy=LastBatchPolicy.DROP)
    assert [epoch_of(batches) for _ in range(3)] == [[[0, 1, 2], [3, 4, 5]]] * 3
