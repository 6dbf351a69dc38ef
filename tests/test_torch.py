# SPDX-License-Identifier: Apache-2.0
"""The ways to a training loop: DataLoader, and the plugins' iterators with their policies."""

import numpy as np
import pytest
import torch

import penstock
from penstock import Pipeline, fn, pipeline_def
from penstock.plugin import pytorch as plugin
from penstock.plugin.numpy import NumpyIterator
from penstock.plugin.pytorch import DALIClassificationIterator, DALIGenericIterator, LastBatchPolicy


@pytest.fixture
def files(tmp_path):
    """n files whose only byte is their number."""

    def make(n):
        for i in range(n):
            (tmp_path / f"{i}.bin").write_bytes(bytes([i]))
        return [str(tmp_path / f"{i}.bin") for i in range(n)]

    return make


def reading(names, batch_size, checkpoint=None, enable_checkpointing=False, **reader):
    @pipeline_def(
        batch_size=batch_size, num_threads=2, seed=5, checkpoint=checkpoint, enable_checkpointing=enable_checkpointing
    )
    def pipe():
        data, label = fn.readers.file(files=names, name="Reader", **reader)
        return data, label

    return pipe()


def numbers(batch):
    return batch["label"].ravel().tolist() if isinstance(batch, dict) else batch[1].ravel().tolist()


def test_an_epoch_holds_every_sample_once(files):
    loader = penstock.torch.DataLoader(reading(files(7), 2, random_shuffle=True), ["data", "label"])
    assert len(loader) == 4
    epochs = [[numbers(b) for b in loader] for _ in range(3)]
    for epoch in epochs:
        assert [len(b) for b in epoch] == [2, 2, 2, 1]
        assert sorted(sum(epoch, [])) == list(range(7))
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize("last_batch, sizes", [("partial", [2, 2, 2, 1]), ("drop", [2, 2, 2]), ("fill", [2, 2, 2, 2])])
def test_the_last_batch(files, last_batch, sizes):
    loader = penstock.torch.DataLoader(reading(files(7), 2), last_batch=last_batch)
    batches = list(loader)
    assert [len(b[1]) for b in batches] == sizes and len(loader) == len(sizes)
    assert isinstance(batches[0], tuple) and isinstance(batches[0][0], torch.Tensor)


def test_all_shards_together_hold_every_sample_once(files):
    names = files(10)
    for shuffle in (False, True):
        loaders = [
            penstock.torch.DataLoader(reading(names, 2, num_shards=3, shard_id=k, random_shuffle=shuffle))
            for k in range(3)
        ]
        for _ in range(2):
            seen = sum((numbers(b) for loader in loaders for b in loader), [])
            assert sorted(seen) == list(range(10))


def test_resume_in_the_middle_of_an_epoch(files):
    names = files(11)
    whole = [numbers(b) for b in penstock.torch.DataLoader(reading(names, 2, random_shuffle=True))]
    first = penstock.torch.DataLoader(reading(names, 2, random_shuffle=True))
    it = iter(first)
    got = [numbers(next(it)) for _ in range(2)]
    state = first.state_dict()
    again = penstock.torch.DataLoader(reading(names, 2, random_shuffle=True))
    next(iter(again))
    again.load_state_dict(state)
    rest = [numbers(b) for b in again]
    assert got + rest == whole
    second = [numbers(b) for b in again]
    for loader in (first,):
        list(it)
        assert [numbers(b) for b in loader] == second
    smaller = penstock.torch.DataLoader(reading(names, 3, random_shuffle=True))  # another batch size
    smaller.load_state_dict(state)
    assert sum([numbers(b) for b in smaller], []) == sum(rest, [])
    assert sum([numbers(b) for b in smaller], []) == sum(second, [])
    after = smaller.state_dict()  # at the end of an epoch that began in the middle
    smaller.load_state_dict(after)


def test_resume_with_another_number_of_shards(files):
    names = files(12)
    ranks = [
        penstock.torch.DataLoader(reading(names, 2, random_shuffle=True, num_shards=2, shard_id=k)) for k in range(2)
    ]
    seen = sum((numbers(next(iter(r))) for r in ranks), [])
    state = ranks[0].state_dict()
    wider = [
        penstock.torch.DataLoader(reading(names, 2, random_shuffle=True, num_shards=4, shard_id=k)) for k in range(4)
    ]
    for r in wider:
        r.load_state_dict(state)
        seen += sum((numbers(b) for b in r), [])
    assert sorted(seen) == list(range(12))


def test_tensors_share_the_batch_and_keep_it(files):
    @pipeline_def(batch_size=4, num_threads=2)
    def pipe():
        return fn.flip(fn.external_source(lambda i: np.full((4, 8, 8, 3), i, np.uint8), layout="HWC"))

    p = pipe()
    batch = p.run()[0]
    tensor = batch.torch()
    assert tensor.data_ptr() == batch.data_ptr() and tensor.shape == (4, 8, 8, 3)
    del batch
    kept = [p.run()[0].torch() for _ in range(8)]
    assert [int(t.max()) for t in kept] == list(range(1, 9)) and int(tensor.max()) == 0
    del p
    assert int(kept[3].min()) == 4


def test_ragged_batches_are_lists():
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return fn.external_source([[np.zeros((2, 3), np.float32), np.ones((1, 3), np.float32)]])

    batches = list(penstock.torch.DataLoader(pipe()))
    assert [tuple(t.shape) for t in batches[0][0]] == [(2, 3), (1, 3)]
    with pytest.raises(RuntimeError, match="representable as a tensor"):
        next(DALIGenericIterator(pipe(), ["x"]))
    ragged = plugin.DALIRaggedIterator(pipe(), ["x"], output_types=[plugin.DALIRaggedIterator.SPARSE_LIST_TAG])
    assert len(next(ragged)[0]["x"]) == 2


def test_an_external_source_ends_the_epoch():
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        def source(i):
            if i == 3:
                raise StopIteration
            return np.full((2, 1), i, np.int32)

        return fn.external_source(source)

    loader = penstock.torch.DataLoader(pipe(), ["x"])
    for _ in range(2):
        assert [int(b["x"][0]) for b in loader] == [0, 1, 2]
    with pytest.raises(TypeError, match="no reader"):
        len(loader)


def test_wrong_loaders(files):
    with pytest.raises(ValueError, match="names 1 outputs, the pipeline has 2"):
        penstock.torch.DataLoader(reading(files(3), 2), ["x"])
    with pytest.raises(ValueError, match="twice"):
        penstock.torch.DataLoader(reading(files(3), 2), ["x", "x"])
    with pytest.raises(ValueError, match="last_batch"):
        penstock.torch.DataLoader(reading(files(3), 2), last_batch="some")


EPOCHS = {  # 7 samples, batches of 2, three epochs
    (LastBatchPolicy.FILL, False): ["01 23 45 60", "12 34 56", "01 23 45 60"],
    (LastBatchPolicy.FILL, True): ["01 23 45 66"] * 3,
    (LastBatchPolicy.DROP, False): ["01 23 45"] * 3,  # no drift: each epoch begins with its first sample
    (LastBatchPolicy.DROP, True): ["01 23 45"] * 3,
    (LastBatchPolicy.PARTIAL, False): ["01 23 45 6"] * 3,
    (LastBatchPolicy.PARTIAL, True): ["01 23 45 6"] * 3,
}


@pytest.mark.parametrize("policy, padded", EPOCHS)
@pytest.mark.parametrize("prepare", [True, False])
def test_epochs_of_the_generic_iterator(files, policy, padded, prepare):
    it = DALIGenericIterator(
        reading(files(7), 2, pad_last_batch=padded),
        ["data", "label"],
        reader_name="Reader",
        last_batch_policy=policy,
        auto_reset=True,
        prepare_first_batch=prepare,
    )
    epochs = [" ".join("".join(map(str, numbers(b[0]))) for b in it) for _ in range(3)]
    assert epochs == EPOCHS[policy, padded]


def test_size_without_a_reader():
    def make(policy):
        @pipeline_def(batch_size=2, num_threads=1)
        def pipe():
            return fn.external_source(lambda i: np.full((2, 1), i, np.int32))

        return DALIGenericIterator(pipe(), ["x"], size=5, last_batch_policy=policy, auto_reset=True)

    sizes = {p: [len(b[0]["x"]) for b in make(p)] for p in LastBatchPolicy}
    assert sizes == {LastBatchPolicy.FILL: [2, 2, 2], LastBatchPolicy.DROP: [2, 2], LastBatchPolicy.PARTIAL: [2, 2, 1]}
    assert [len(make(p)) for p in (LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL)] == [3, 2, 3]


def test_until_stop_iteration_and_reset(files):
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        def source(i):
            if i == 2:
                raise StopIteration
            return np.full((2, 1), i, np.int32)

        return fn.external_source(source)

    it = DALIGenericIterator(pipe(), ["x"])
    assert len(list(it)) == 2
    with pytest.raises(StopIteration):
        next(it)
    it.reset()
    assert len(list(it)) == 2
    auto = DALIGenericIterator(pipe(), ["x"], auto_reset="yes")
    assert [len(list(auto)) for _ in range(3)] == [2, 2, 2]


def test_several_pipelines_and_classification(files):
    names = files(6)
    pipes = [reading(names, 2, num_shards=2, shard_id=k) for k in range(2)]
    it = DALIClassificationIterator(pipes, reader_name="Reader", auto_reset=True)
    batches = list(it)
    assert len(batches) == 2 and [set(d) for d in batches[0]] == [{"data", "label"}] * 2
    one = NumpyIterator(reading(names, 2), ["data", "label"], reader_name="Reader")
    assert isinstance(next(one)[0]["label"], np.ndarray) and len(one) == 3


@pytest.mark.parametrize("n, shards, batch_size", [(5, 2, 2), (5, 2, 1), (7, 3, 2), (11, 3, 4), (6, 2, 3)])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("stick", [False, True])
def test_several_pipelines_hold_each_sample_once(files, n, shards, batch_size, shuffle, stick):
    """PARTIAL: a pipeline whose shard has ended gives empty batches. DROP: all give as many full ones."""
    make = lambda policy: DALIGenericIterator(
        [
            reading(files(n), batch_size, num_shards=shards, shard_id=k, random_shuffle=shuffle, stick_to_shard=stick)
            for k in range(shards)
        ],
        ["data", "label"],
        reader_name="Reader",
        auto_reset=True,
        last_batch_policy=policy,
    )
    it = make(LastBatchPolicy.PARTIAL)
    for _ in range(4):
        length, batches = len(it), list(it)
        assert sorted(v for b in batches for entry in b for v in numbers(entry)) == list(range(n))
        assert len(batches) == length and all(len(b) == shards for b in batches)
    if n // shards >= batch_size:
        it = make(LastBatchPolicy.DROP)
        for _ in range(4):
            seen = [numbers(entry) for b in it for entry in b]
            assert {len(s) for s in seen} == {batch_size} and len(set(sum(seen, []))) == len(sum(seen, []))
            assert len(seen) == shards * (n // shards // batch_size)


def ragged_pipe(*shapes):
    @pipeline_def(batch_size=len(shapes), num_threads=1)
    def pipe():
        made = lambda i: [np.full(s, k + 1, np.float32) for k, s in enumerate(shapes if i % 2 else shapes[::-1])]
        return fn.external_source(made), fn.external_source(lambda i: [np.int64([k]) for k in range(len(shapes))])

    return pipe()


def test_ragged_outputs_padded_or_as_lists():
    shapes = (2, 3), (1, 3), (0, 3), (4, 2)
    it = DALIGenericIterator(ragged_pipe(*shapes), ["boxes", "number"], size=8, ragged={"boxes": -1})
    for batch, order in zip(it, (shapes[::-1], shapes)):
        boxes, lengths = batch[0]["boxes"], batch[0]["boxes_lengths"]
        assert (
            boxes.shape == (4, 4, 3) and lengths.tolist() == [list(s) for s in order] and lengths.dtype == torch.int64
        )
        for k, (one, (h, w)) in enumerate(zip(boxes, lengths)):
            assert (one[:h, :w] == k + 1).all() and one.sum() == (k + 1) * h * w - (12 - h * w)
        assert batch[0]["number"].ravel().tolist() == [0, 1, 2, 3] and set(batch[0]) == {
            "boxes",
            "boxes_lengths",
            "number",
        }
    (batch,) = next(DALIGenericIterator(ragged_pipe((2,), (3,)), ["values", "number"], ragged="pad"))
    assert batch["values"].tolist() == [[1, 1, 1], [2, 2, 0]] and batch["values_lengths"].tolist() == [3, 2]
    assert batch["number_lengths"].tolist() == [1, 1]  # requested by name or not, it is in each batch
    (batch,) = next(DALIGenericIterator(ragged_pipe((2,), (3,)), ["values", "number"], ragged={"values": "list"}))
    assert [t.tolist() for t in batch["values"]] == [[1, 1, 1], [2, 2]]
    partial = DALIGenericIterator(
        ragged_pipe((2,), (3,)),
        ["values", "number"],
        size=3,
        ragged={"values": "pad"},
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    assert [b[0]["values_lengths"].tolist() for b in partial] == [[3, 2], [2]]
    for wrong in ({"other": "pad"}, "dense", {"number": [1]}):
        with pytest.raises(ValueError, match="ragged"):
            DALIGenericIterator(ragged_pipe((2,), (3,)), ["values", "number"], ragged=wrong)
    with pytest.raises(ValueError, match="where the lengths of 'a' belong"):
        DALIGenericIterator(ragged_pipe((2,), (3,)), ["a", "a_lengths"], ragged={"a": "pad"})


def test_features_of_any_length_from_tfrecord(tmp_path):
    """VarLenFeature, padded with lengths, and in the ragged iterator's three forms."""
    import container_files
    from penstock import tfrecord

    values = [np.arange(n, dtype=np.float32) for n in (3, 0, 2, 5)]
    container_files.write_tfrecord(tmp_path / "x", [container_files.example({"v": v}) for v in values])

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return fn.readers.tfrecord(
            path=str(tmp_path / "x"), features={"v": tfrecord.VarLenFeature(tfrecord.float32, 0.0)}, name="r"
        )["v"]

    got = list(DALIGenericIterator(pipe(), ["v"], reader_name="r", ragged="pad"))
    assert [b[0]["v_lengths"].tolist() for b in got] == [[3, 0], [2, 5]]
    assert got[1][0]["v"].tolist() == [[0, 1, 0, 0, 0], [0, 1, 2, 3, 4]]
    tags = plugin.DALIRaggedIterator
    lists = list(plugin.DALIRaggedIterator(pipe(), ["v"], reader_name="r", output_types=[tags.SPARSE_LIST_TAG]))
    assert [[t.tolist() for t in b[0]["v"]] for b in lists] == [[[0, 1, 2], []], [[0, 1], [0, 1, 2, 3, 4]]]
    by_text = next(plugin.DALIRaggedIterator(pipe(), ["v"], reader_name="r", output_types=["sparse_list"]))[0]["v"]
    assert [t.tolist() for t in by_text] == [[0, 1, 2], []]
    with pytest.raises(AssertionError, match="output_types are DENSE_TAG"):
        plugin.DALIRaggedIterator(pipe(), ["v"], reader_name="r", output_types=["list"])
    coo = next(plugin.DALIRaggedIterator(pipe(), ["v"], reader_name="r", output_types=[tags.SPARSE_COO_TAG]))[0][
        "v"
    ].coalesce()
    assert (
        coo.shape == (2, 3) and coo.indices().tolist() == [[0, 0, 0], [0, 1, 2]] and coo.values().tolist() == [0, 1, 2]
    )


def test_checkpoints_of_an_iterator(files):
    names = files(7)
    make = lambda **k: DALIGenericIterator(
        reading(names, 2, random_shuffle=True, enable_checkpointing=True, **k), ["data", "label"], reader_name="Reader"
    )
    it = make()
    next(it)
    rest = [numbers(b[0]) for b in it]
    again = make()
    next(again)
    restored = make(checkpoint=again.checkpoints()[0])
    assert [numbers(b[0]) for b in restored][: len(rest)] == rest


@pytest.mark.parametrize(
    "arguments, error",
    [
        (dict(size=0), AssertionError),
        (dict(size=4, reader_name="Reader"), AssertionError),
        (dict(reader_name="Reader", last_batch_padded=True), AssertionError),
        (dict(last_batch_policy="FILL"), ValueError),
        (dict(auto_reset="maybe"), ValueError),
        (dict(reader_name="Other"), RuntimeError),
    ],
)
def test_wrong_iterators(files, arguments, error):
    with pytest.raises(error):
        DALIGenericIterator(reading(files(4), 2), ["data", "label"], **arguments)


def test_feed_ndarray():
    target = torch.zeros(2, 3)
    plugin.feed_ndarray(penstock.tensor(np.ones((2, 3), np.float32)), target)
    assert target.sum() == 6


def test_pipeline_is_exported():
    assert Pipeline is penstock._pipeline.Pipeline
