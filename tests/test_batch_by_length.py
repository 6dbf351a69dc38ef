# SPDX-License-Identifier: Apache-2.0
"""Batches by length: every sample once, the cost of a batch within its bound, as many batches on all ranks."""

import json

import container_files
import cv2
import numpy as np
import pytest
from audio_files import recorded

import penstock
from penstock import Pipeline, fn, pipeline_def, tfrecord
from penstock.plugin.pytorch import DALIGenericIterator
from penstock.torch import DataLoader

COUNT = 203
LENGTHS = np.random.default_rng(4).uniform(0.4, 4, COUNT).astype(np.float32)


def numbers(batch_size=16, ranks=1, rank=0, **arguments):
    given = {"size": COUNT, "lengths": LENGTHS, "random_shuffle": True, **arguments}

    @pipeline_def(batch_size=batch_size, num_threads=1, seed=7)
    def indices():
        return fn.readers.indices(name="reader", num_shards=ranks, shard_id=rank, **given)

    return indices()


def epoch_of(pipeline, **options):
    return [batch.tolist() for (batch,) in DataLoader(pipeline, **options)]


def cost(batch):
    return len(batch) * LENGTHS[batch].max()


@pytest.mark.parametrize("batch_size", [1, 16, 300])
@pytest.mark.parametrize("max_cost", [0, 4, 30])
@pytest.mark.parametrize("shuffled", [False, True])
def test_each_sample_once_within_the_cost(batch_size, max_cost, shuffled):
    loader = DataLoader(numbers(batch_size, max_cost=max_cost, random_shuffle=shuffled))
    epochs = [[batch.tolist() for (batch,) in loader] for _ in range(3)]
    for epoch in epochs:
        assert sorted(sum(epoch, [])) == list(range(COUNT)) and len(epoch) == len(loader)
        assert all(len(batch) <= batch_size and (not max_cost or cost(batch) <= max_cost) for batch in epoch)
    assert (epochs[0] != epochs[1]) == shuffled
    if not shuffled:
        longest = [LENGTHS[batch].max() for batch in epochs[0]]
        assert longest == sorted(longest, reverse=True)


def padded_share(batches, lengths):
    return sum(lengths[b].sum() for b in batches) / sum(len(b) * lengths[b].max() for b in batches)


def test_little_of_a_batch_is_padding():
    lengths = np.random.default_rng(0).uniform(0.4, 4, 2000)
    common = {"size": 2000, "random_shuffle": True}
    by_length = numbers(256, **common, lengths=lengths, max_cost=40)
    batches = epoch_of(by_length)
    assert padded_share(batches, lengths) > 0.94
    assert 0.93 < by_length.reader_meta("reader")["real_share"] <= padded_share(batches, lengths)
    assert padded_share(epoch_of(numbers(32, **common, lengths=None)), lengths) < 0.6
    narrow = epoch_of(numbers(256, **common, lengths=lengths, max_cost=40, bucket_width=0.02))
    assert padded_share(narrow, lengths) > 0.97


def test_all_ranks_have_as_many_batches():
    alone = epoch_of(numbers(max_cost=20))
    for ranks in (2, 3, 4):
        loaders = [DataLoader(numbers(max_cost=20, ranks=ranks, rank=r, seed=7)) for r in range(ranks)]
        parts = [[batch.tolist() for (batch,) in loader] for loader in loaders]
        assert {len(part) for part in parts} == {len(loaders[0])} == {-(-len(alone) // ranks)}
        both = sorted(sum(parts, []))
        assert {tuple(b) for b in both} == {tuple(b) for b in alone}
        assert len(both) - len(alone) == -len(alone) % ranks
        exact = [epoch_of(numbers(max_cost=20, ranks=ranks, rank=r, seed=7), uneven=True) for r in range(ranks)]
        assert sorted(sum(exact, [])) == sorted(alone)
        dropped = [epoch_of(numbers(max_cost=20, ranks=ranks, rank=r, seed=7), last_batch="drop") for r in range(ranks)]
        assert {len(part) for part in dropped} == {len(alone) // ranks}
        filled = [epoch_of(numbers(max_cost=20, ranks=ranks, rank=r, seed=7), last_batch="fill") for r in range(ranks)]
        assert {len(part) for part in filled} == {-(-len(alone) // ranks)}


def test_resuming_is_exact():
    whole = DataLoader(numbers(max_cost=20))
    want = [[batch.tolist() for (batch,) in whole] for _ in range(2)]
    for stop in (1, 5, len(want[0]) - 1):
        first = DataLoader(numbers(max_cost=20))
        for k, _ in enumerate(first, 1):
            if k == stop:
                break
        second = DataLoader(numbers(max_cost=20))
        second.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert [[b.tolist() for (b,) in second] for _ in range(2)] == [want[0][stop:], want[1]]


@pytest.mark.parametrize(
    "before, after, said",
    [
        ({"max_cost": 20}, {"max_cost": 30}, "another max_cost"),
        ({"max_cost": 20}, {"max_cost": 20, "batch_size": 5}, "batch size"),
        ({"max_cost": 20}, {"lengths": None}, "those of this reader are not"),
        ({"lengths": None}, {"max_cost": 20}, "not formed by length"),
    ],
)
def test_a_state_of_other_batches_is_refused(before, after, said):
    loader = DataLoader(numbers(**before))
    next(iter(loader))
    with pytest.raises(ValueError, match=said):
        DataLoader(numbers(**after)).load_state_dict(loader.state_dict())


def test_samples_draw_different_numbers_also_where_a_batch_is_repeated():
    def pipeline(rank):
        @pipeline_def(batch_size=300, num_threads=1, seed=3)
        def drawn():
            index = fn.readers.indices(
                size=40, lengths=[1.0] * 40, max_cost=9, seed=1, num_shards=3, shard_id=rank, random_shuffle=True
            )
            return index, fn.random.uniform(index, range=[0, 1])

        return drawn()

    drawn = [float(x) for rank in range(3) for _, values in DataLoader(pipeline(rank)) for x in values.tolist()]
    assert len(drawn) > 40 and len(set(drawn)) == len(drawn)


def test_lengths_from_a_file(tmp_path):
    for dtype in (np.float32, np.float64, np.int32, np.uint16, np.float16):
        np.save(tmp_path / "lengths.npy", (LENGTHS * 100).astype(dtype))
        from_file = numbers(lengths=None, bucket_by=str(tmp_path / "lengths.npy"), max_cost=1000)
        given = numbers(lengths=(LENGTHS * 100).astype(dtype).astype(np.float64), max_cost=1000)
        assert epoch_of(from_file) == epoch_of(given)
    np.save(tmp_path / "lengths.npy", LENGTHS[:, None])
    with pytest.raises(penstock.DataError, match="lengths.npy.*one dimension|one dimension.*lengths.npy"):
        from_file = numbers(lengths=None, bucket_by=str(tmp_path / "lengths.npy")).build()


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speech")
    lines = []
    for k in range(60):
        samples = int(LENGTHS[k] * 500)
        path = folder / f"{k}.wav"
        path.write_bytes(recorded(np.zeros((samples, 1), np.float32), "WAV", "PCM_16"))
        lines.append({"audio_filepath": str(path), "duration": samples / 16000, "text": "x" * (k % 9)})
    (folder / "all.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "all.json"


def speech(manifest, **arguments):
    @pipeline_def(batch_size=32, num_threads=2, seed=1)
    def recordings():
        samples, place = fn.readers.nemo_asr(
            manifest_filepaths=[str(manifest)], read_sample_rate=False, read_text=False, read_idxs=True,
            random_shuffle=True, name="reader", **arguments,
        )  # fmt: skip
        return samples, place

    return recordings()


def test_a_manifest_by_duration_and_the_share_that_the_loader_reports(manifest):
    shares = {}
    for name, arguments in {"random": {}, "by length": {"bucket_by": "duration", "max_cost": 1.0}}.items():
        loader = DataLoader(speech(manifest, **arguments), ["samples", "place"], ragged={"samples": "pad"})
        real = padded = 0
        seen = []
        for batch in loader:
            real += int(batch["samples_lengths"].sum())
            padded += batch["samples"].numel()
            seen += batch["place"].flatten().tolist()
            if arguments:
                assert batch["samples"].numel() / 16000 <= 1.0 + 1e-6
        assert sorted(seen) == list(range(60))
        stats = loader.stats()
        assert stats["real_shares"] == {"samples": real / padded}
        assert f"{real / padded:.3f} of output 'samples'" in str(stats)
        shares[name] = real / padded
    assert shares["random"] < 0.65 < 0.9 < shares["by length"]
    by_text = DataLoader(speech(manifest, bucket_by="text", bucket_width=0), ["samples", "place"], ragged="pad")
    for batch in list(by_text):
        texts = [k % 9 for k in batch["place"].flatten().tolist()]  # fewer than a batch have one length
        assert 2 * min(texts) >= max(texts)


def test_a_manifest_without_durations(tmp_path, manifest):
    lines = manifest.read_text().splitlines()
    (tmp_path / "some.json").write_text(lines[0] + "\n" + json.dumps({"audio_filepath": "x.wav"}) + "\n")
    with pytest.raises(penstock.DataError, match="line 2 .*no duration"):
        speech(tmp_path / "some.json", bucket_by="duration").build()


def test_by_the_bytes_of_files_and_records(tmp_path):
    payloads = [bytes([k]) * (1 + k * 37 % 101) for k in range(90)]
    for k, payload in enumerate(payloads):
        (tmp_path / f"{k:02d}.bin").write_bytes(payload)
    container_files.write_tfrecord(tmp_path / "records", [container_files.example({"x": p}) for p in payloads])
    files = [str(tmp_path / f"{k:02d}.bin") for k in range(90)]

    @pipeline_def(batch_size=64, num_threads=1)
    def read(kind):
        common = {"bucket_by": "bytes", "max_cost": 400 if kind == "file" else 1000, "random_shuffle": True}
        if kind == "file":
            return fn.readers.file(files=files, **common)[0]
        feature = tfrecord.FixedLenFeature((), tfrecord.string, "")
        return fn.readers.tfrecord(path=str(tmp_path / "records"), features={"x": feature}, **common)["x"]

    for kind in ("file", "tfrecord"):
        got = [[bytes(t.numpy()) for t in batch] for (batch,) in DataLoader(read(kind), ragged=None, labels=False)]
        assert sorted(sum(got, [])) == sorted(payloads)
        for batch in got:
            assert max(map(len, batch)) * len(batch) <= (400 if kind == "file" else 1000)


class Column:
    """A data set that has columns, as those of Hugging Face."""

    def __len__(self):
        return COUNT

    def __getitem__(self, key):
        return list(LENGTHS) if key == "seconds" else np.full(int(LENGTHS[key] * 10), key)


@pytest.mark.parametrize(
    "by", ["seconds", LENGTHS, list(LENGTHS), lambda i: LENGTHS[i]], ids=lambda by: type(by).__name__
)
def test_data_sets_of_python(by):
    @pipeline_def(batch_size=64, num_threads=1, seed=2)
    def read():
        return fn.readers.dataset(Column(), bucket_by=by, max_cost=20, random_shuffle=True, name="reader")

    loader = DataLoader(read(), ["x"], ragged="pad")
    got = [batch["x"][:, 0].tolist() for batch in loader]
    assert sorted(sum(got, [])) == list(range(COUNT)) and len(got) == len(loader)
    assert all(cost(batch) <= 20 for batch in got)
    assert loader.stats()["real_shares"]["x"] > 0.9


def test_groups_do_not_meet():
    groups = np.arange(COUNT) % 3
    batches = epoch_of(numbers(lengths=np.ones(COUNT), bucket_groups=groups, batch_size=8))
    assert all(len({k % 3 for k in batch}) == 1 for batch in batches)
    assert sorted(sum(batches, [])) == list(range(COUNT)) and len(batches) == 3 * 9


def test_filter_makes_batches_smaller():
    @pipeline_def(batch_size=64, num_threads=1)
    def even():
        index = fn.readers.indices(size=COUNT, lengths=LENGTHS, max_cost=30)
        return fn.filter(index, index % 2 == 0)

    got = epoch_of(even())
    assert sorted(sum(got, [])) == list(range(0, COUNT, 2)) and all(cost(batch) <= 30 for batch in got if batch)


def test_a_damaged_sample_is_replaced_by_one_of_near_length(tmp_path):
    files = []
    for k in range(40):
        files.append(str(tmp_path / f"{k}.npy"))
        np.save(files[-1], np.full(10 + k, k, np.int32))
    lengths = np.arange(10, 50)
    for broken in (3, 30):
        (tmp_path / f"{broken}.npy").write_bytes(b"nothing")

    @pipeline_def(batch_size=64, num_threads=1, on_error="replace", error_budget=10)
    def read():
        return fn.readers.numpy(files=files, lengths=lengths, max_cost=150)

    count = 0
    for (batch,) in DataLoader(read(), pad=-1):
        count += len(batch)
        assert batch.numel() <= 150 and {3, 30}.isdisjoint(batch[:, 0].tolist())
    assert count == 40


def refused(said, kind=ValueError, **arguments):
    with pytest.raises(kind, match=said):
        numbers(**arguments).build()


def test_wrong_arguments_say_what_to_write():
    refused("max_cost needs the lengths", lengths=None, max_cost=3)
    refused("bucket_groups needs the lengths", lengths=None, bucket_groups=[1] * COUNT)
    refused("give one", bucket_by="bytes")
    refused("lengths has 2 numbers, but there are 203 samples", lengths=[1, 2])
    refused("bucket_groups has 1 numbers", bucket_groups=[1])
    refused("sample .* of the data set has the length .*more than max_cost = 1", max_cost=1)
    refused("sample 0 of the data set has the length -1", lengths=[-1.0] * COUNT)
    refused("stick_to_shard", stick_to_shard=True)
    refused("fewer than num_shards = 150", ranks=150, max_cost=20)
    refused('bucket_by must be "bytes" or the path', lengths=None, bucket_by="duration")

    @pipeline_def(batch_size=8, num_threads=1)
    def read(by):
        return fn.readers.dataset([1.0, 2.0], bucket_by=by)

    for by, kind, said in [
        ("length", ValueError, r"dataset\['length'\] raised TypeError: give an array"),
        ([1.0], ValueError, "shape .1,., but the data set has 2 samples"),
        (object(), TypeError, "bucket_by is an array with a number for each sample"),
    ]:
        with pytest.raises(kind, match=said):
            read(by)


def test_what_does_not_go_with_it_is_refused():
    @pipeline_def(batch_size=8, num_threads=1)
    def mixed():
        return fn.readers.mix([fn.readers.indices(size=9, lengths=[1.0] * 9), fn.readers.indices(size=9)])

    with pytest.raises(ValueError, match="which a mix would take apart"):
        mixed().build()

    @pipeline_def(batch_size=8, num_threads=1)
    def divided():
        return fn.rebatch(fn.readers.indices(size=9, lengths=[1.0] * 9), batch_size=3)

    with pytest.raises(ValueError, match="formed by length"):
        divided().build()
    with pytest.raises(ValueError, match="use penstock.torch.DataLoader"):
        DALIGenericIterator(numbers(), ["x"], reader_name="reader")


def test_a_saved_pipeline_has_the_same_batches():
    pipeline = numbers(max_cost=20)
    again = Pipeline.deserialize(pipeline.serialize())
    assert epoch_of(again) == epoch_of(numbers(max_cost=20))


SHAPES = [(48, 96), (64, 64), (96, 48)]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(1)
    sizes = random.integers(20, 200, (70, 2))
    for k, (height, width) in enumerate(sizes):
        cv2.imwrite(str(folder / f"{k:02d}.jpg"), random.integers(0, 255, (height, width, 3), np.uint8))
    np.save(folder / "sizes.npy", sizes)
    return [str(folder / f"{k:02d}.jpg") for k in range(70)], sizes, str(folder / "sizes.npy")


def nearest(size):
    return min(range(3), key=lambda k: abs(np.log(SHAPES[k][0] / SHAPES[k][1] * size[1] / size[0])))


@pytest.mark.parametrize("indexed", [False, True])
def test_pictures_by_aspect_ratio_have_one_shape_in_a_batch(pictures, indexed):
    files, sizes, index = pictures

    @pipeline_def(batch_size=16, num_threads=2, seed=3)
    def read():
        encoded, label, shape = fn.readers.file(
            files=files, bucket_shapes=[x for shape in SHAPES for x in shape], picture_sizes=index if indexed else "",
            max_cost=10 * 64 * 64, random_shuffle=True, name="reader",
        )  # fmt: skip
        return fn.resize(fn.decoders.image(encoded), size=shape), label, shape

    loader = DataLoader(read())
    seen = []
    for images, labels, shapes in loader:
        assert len({tuple(s) for s in shapes.tolist()}) == 1 and tuple(images.shape[1:3]) == tuple(shapes[0].tolist())
        assert len(images) * images.shape[1] * images.shape[2] <= 10 * 64 * 64
        for label in labels.tolist():
            assert SHAPES[nearest(sizes[label])] == tuple(shapes[0].tolist())
        seen += labels.tolist()
    assert sorted(seen) == list(range(70))


def test_wrong_shapes_of_pictures(pictures, tmp_path):
    files, sizes, index = pictures
    np.save(tmp_path / "few.npy", sizes[:3])
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    for arguments, kind, said in [
        ({"bucket_shapes": [3]}, ValueError, "height and width of each shape in turn, got 1"),
        ({"bucket_shapes": [0, 5]}, ValueError, "a shape of 0 x 5"),
        ({"picture_sizes": index}, ValueError, "picture_sizes needs bucket_shapes"),
        ({"bucket_shapes": [4, 4], "lengths": [1.0] * 70}, ValueError, "omit bucket_by, lengths and bucket_groups"),
        ({"bucket_shapes": [4, 4], "max_cost": 15}, ValueError, "more than max_cost = 15"),
        ({"bucket_shapes": [4, 4], "picture_sizes": str(tmp_path / "few.npy")}, penstock.DataError, "few.npy"),
        ({"bucket_shapes": [4, 4], "files": [str(tmp_path / "broken.jpg")]}, penstock.DataError, "broken.jpg"),
    ]:
        with pytest.raises(kind, match=said):

            @pipeline_def(batch_size=4, num_threads=1)
            def read():
                return tuple(fn.readers.file(**{"files": files, **arguments}))

            read().build()
