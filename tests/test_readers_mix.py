# SPDX-License-Identifier: Apache-2.0
"""readers.mix: samples of several readers by weight, in the order, shards, checkpoints and error policies of a reader."""

import json

import container_files
import cv2
import mix_model
import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def, tfrecord
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

SIZES = [11, 30, 19]
SEED = 5


def text(j, n):
    return bytes([j, n]) + b"x" * (n % 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files, a TFRecord file and a tar; each sample is text(source, number), with its number as a label."""
    at = tmp_path_factory.mktemp("mixed")
    for n in range(SIZES[0]):
        (at / f"{n:02d}.bin").write_bytes(text(0, n))
    container_files.write_tfrecord(
        at / "records", [container_files.example({"x": text(1, n), "label": np.array([n])}) for n in range(SIZES[1])]
    )
    container_files.write_tar(
        at / "archive.tar",
        [
            (f"{n:02d}.{ext}", data)
            for n in range(SIZES[2])
            for ext, data in (("bin", text(2, n)), ("cls", np.int32(n).tobytes()))
        ],
    )
    return at


def files_of(folder, **more):
    return fn.readers.file(files=[str(folder / f"{n:02d}.bin") for n in range(SIZES[0])], name="photos", **more)


def sources_of(folder, shuffled=True, which=(0, 1, 2), **more):
    def records():
        return fn.readers.tfrecord(
            path=str(folder / "records"),
            name="records",
            random_shuffle=shuffled,
            features={"x": tfrecord.FixedLenFeature((), tfrecord.string, "")},
            **more,
        )["x"]

    def archive():
        return fn.readers.webdataset(
            paths=str(folder / "archive.tar"), ext=["bin"], name="archive", random_shuffle=shuffled, **more
        )

    return [(lambda: files_of(folder, random_shuffle=shuffled, **more)[0], records, archive)[k]() for k in which]


@pipeline_def(num_threads=3, seed=SEED, enable_checkpointing=True)
def mixture(folder, shuffled=True, which=(0, 1, 2), **more):
    return fn.readers.mix(sources_of(folder, shuffled, which), name="mix", source_ids=True, **more)


def seen_in(data, ids):
    got = [np.asarray(x) for x in data]
    assert ids.as_array().dtype == np.int32 and ids.as_array().shape == (len(got), 1)
    pairs = [(int(x[0]), int(x[1])) for x in got]
    assert [x.tobytes() for x in got] == [text(*p) for p in pairs]
    assert [j for j, _ in pairs] == ids.as_array().ravel().tolist()
    return pairs


def epochs(pipe, count, mode="partial"):
    pipe._set_epoch_mode(mode)
    out = []
    for _ in range(count):
        out.append([])
        for data, ids in pipe:
            out[-1] += seen_in(data, ids)
    pipe.close()
    return out


WAYS = [
    ({}, mix_model.shares_of(SIZES)),
    ({"weights": [3, 1, 2]}, mix_model.shares_of(SIZES, [3, 1, 2])),
    ({"weights": [3, 1, 2], "stop": "all"}, mix_model.shares_of(SIZES, [3, 1, 2], "all")),
    ({"weights": [0.7, 0.2, 0.1], "size": 50}, [35, 10, 5]),
]


@pytest.mark.parametrize("more, shares", WAYS)
@pytest.mark.parametrize("shuffled", [True, False])
def test_order_is_the_models(folder, more, shares, shuffled):
    """Three epochs, for any batch sizes."""
    want = [mix_model.epoch_of(SIZES, shares, SEED, e, shuffled) for e in range(3)]
    for batch_size in (1, 7):
        pipe = mixture(folder, shuffled, batch_size=batch_size, **more)
        assert epochs(pipe, 3) == want
    assert [sum(j == k for k, _ in want[0]) for j in range(3)] == shares


def test_shares_of_an_epoch():
    """The source that decides gives each of its samples; the others do not end before, or have all ended."""
    assert mix_model.shares_of([100, 70, 1000], [0.7, 0.3, 1]) == [100, 43, 143]
    assert mix_model.shares_of([70, 30], [0.7, 0.3]) == [70, 30]
    assert mix_model.shares_of([70, 30], [0.7, 0.3], "all") == [70, 30]
    assert mix_model.shares_of([11, 30, 19], [3, 1, 2], "all") == [90, 30, 60]


def test_no_sample_is_read_twice_before_all_of_its_source_are(folder):
    pipe = mixture(folder, batch_size=8, weights=[1, 1, 1])  # 11 of each
    seen = sum(epochs(pipe, 6), [])
    for j, size in enumerate(SIZES):
        own = [n for k, n in seen if k == j]
        assert len(own) == 66
        for begin in range(0, len(own), size):
            part = own[begin : begin + size]
            assert len(set(part)) == len(part)


def test_proportions(tmp_path):
    """By chi-square over the first 2,000 samples of an epoch of 12,000, and over how neighbors follow each other."""
    weights = [5, 3, 2]
    shares = [6000, 3600, 2400]

    @pipeline_def(batch_size=500, num_threads=2, seed=77)
    def numbers():
        return fn.readers.mix(
            [fn.readers.indices(size=n) for n in (6000, 5000, 4000)], weights=weights, source_ids=True
        )

    pipe = numbers()
    ids = np.concatenate([pipe.run()[1].as_array().ravel() for _ in range(24)])
    pipe.close()
    want = mix_model.epoch_of([6000, 5000, 4000], shares, 77, 0, False)
    assert ids.tolist() == [j for j, _ in want]
    assert np.bincount(ids).tolist() == shares
    counts, expected = np.bincount(ids[:2000]), 2000 * np.array(weights) / 10
    assert ((counts - expected) ** 2 / expected).sum() < 9.2  # 1 % of random samples exceed it; 2 degrees of freedom
    pairs = np.bincount(ids[:-1] * 3 + ids[1:], minlength=9)
    likely = (len(ids) - 1) * np.outer(weights, weights).ravel() / 100
    assert ((pairs - likely) ** 2 / likely).sum() < 20.1  # the same, 8 degrees
    for begin in range(0, 8192, 4096):  # a block holds each share, to within two samples
        assert np.all(np.abs(np.bincount(ids[begin : begin + 4096]) - 4096 * np.array(weights) / 10) <= 2)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_shards_cover_each_sample_once(folder, ranks):
    want = mix_model.epoch_of(SIZES, SIZES, 0 if ranks > 1 else SEED, 0)
    parts = [epochs(mixture(folder, batch_size=4, num_shards=ranks, shard_id=r), 1)[0] for r in range(ranks)]
    dealt = [part[k] for k in range(-(-len(want) // ranks)) for part in parts if k < len(part)]
    assert dealt == want
    assert sorted(dealt) == [(j, n) for j, size in enumerate(SIZES) for n in range(size)]


def test_ranks_with_seeds_of_their_own_agree(folder):
    """Scripts give each rank's pipeline another seed; the order must be one."""
    parts = [epochs(mixture(folder, batch_size=4, num_shards=2, shard_id=r, seed=r + 40), 1)[0] for r in range(2)]
    given = [epochs(mixture(folder, batch_size=4, num_shards=2, shard_id=r), 1)[0] for r in range(2)]

    @pipeline_def(num_threads=1, batch_size=4)
    def mine(r):
        return fn.readers.mix(sources_of(folder), source_ids=True, num_shards=2, shard_id=r)

    others = [epochs(mine(r, seed=r + 40), 1)[0] for r in range(2)]
    assert others == given and len(parts[0]) == len(parts[1])


@pytest.mark.parametrize("more", [{}, {"weights": [3, 1, 2], "stop": "all"}])
def test_resume_in_the_middle(folder, more):
    want = sum(epochs(mixture(folder, batch_size=4, **more), 3), [])
    for batches in (1, 3, 17):
        pipe = mixture(folder, batch_size=4, **more)
        pipe._set_epoch_mode("stream")
        got = sum((seen_in(*pipe.run()) for _ in range(batches)), [])
        state = pipe.checkpoint()
        pipe.close()
        again = mixture(folder, batch_size=4, checkpoint=state, **more)
        got += sum((seen_in(*again.run()) for _ in range(6)), [])
        again.close()
        assert got == want[: len(got)]


def test_elastic_over_three_epochs(folder):
    """1, then 3, then 2 ranks, each with other batches; every epoch holds each sample once."""
    plan = [
        (1, 2, 9),
        (3, 3, 4),
        (2, 3, 13),
        (3, 4, 4),
    ]  # ranks, batch size, batches of each rank: 18, 54, 132, 180 samples
    got, state = [], None
    for ranks, size, batches in plan:
        parts, states = [], []
        for rank in range(ranks):
            pipe = mixture(folder, batch_size=size, num_shards=ranks, shard_id=rank, checkpoint=state)
            parts.append(sum((seen_in(*pipe.run()) for _ in range(batches)), []))
            states.append(pipe.checkpoint())
            pipe.close()
        assert all(s == states[0] for s in states)
        got += [sample for turn in zip(*parts) for sample in turn]
        state = states[0]
    assert got == sum((mix_model.epoch_of(SIZES, SIZES, SEED, e) for e in range(3)), [])


def test_state_of_another_mix_is_refused(folder):
    pipe = mixture(folder, batch_size=4)
    pipe.run()
    state = pipe.checkpoint()
    pipe.close()
    for more in ({"weights": [3, 1, 2]}, {"which": (0, 2, 1)}, {"shuffled": False}):
        with pytest.raises(ValueError, match="belongs to other data"):
            mixture(folder, batch_size=4, checkpoint=state, **more).run()


def test_padding(folder):
    """pad_last_batch: each of two ranks fills its last batch with its last sample."""
    for rank in range(2):
        pipe = mixture(folder, batch_size=7, num_shards=2, shard_id=rank, pad_last_batch=True)
        own = sum((seen_in(*pipe.run()) for _ in range(5)), [])
        pipe.close()
        assert own[30:] == [own[29]] * 5
        assert own[:30] == mix_model.epoch_of(SIZES, SIZES, 0, 0)[rank::2]


def test_two_outputs_of_readers_that_fill_labels_differently(folder):
    """Labels that are known (files), and labels that are read (an archive)."""

    @pipeline_def(batch_size=5, num_threads=3, seed=1)
    def pairs():
        archive = fn.readers.webdataset(
            paths=str(folder / "archive.tar"), ext=["bin", "cls"], dtypes=[penstock.types.UINT8, penstock.types.INT32]
        )
        return tuple(fn.readers.mix([files_of(folder), archive]))

    pipe = pairs()
    for _ in range(12):
        data, labels = pipe.run()
        assert [int(np.asarray(x)[1]) for x in data] == labels.as_array().ravel().tolist()
    pipe.close()


@pytest.mark.parametrize(
    "kinds, dtype", [((32, 64), np.int64), ((64, 32), np.int64), ((16, 32), np.int32), ((16, 64, 32), np.int64)]
)
def test_labels_of_several_integer_types_get_the_widest(folder, tmp_path, kinds, dtype):
    """Labels of files are int32, of records int64, and those of an archive what the program says; also a mix of them."""
    counts, most = {16: 5, 32: 7, 64: 9}, {16: -(2**15), 32: 2**31 - 1, 64: 2**62}
    container_files.write_tar(
        tmp_path / "a.tar", ((f"{n}.cls", np.int16(most[16] + n).tobytes()) for n in range(counts[16]))
    )
    container_files.write_tfrecord(
        tmp_path / "records", (container_files.example({"label": np.array([most[64] + n])}) for n in range(counts[64]))
    )
    (tmp_path / "file").write_bytes(b"x")

    def labels(bits):
        if bits == 16:
            return fn.readers.webdataset(
                paths=str(tmp_path / "a.tar"), ext=["cls"], dtypes=[penstock.types.INT16], random_shuffle=True
            )
        if bits == 32:
            return fn.readers.file(
                files=[str(tmp_path / "file")] * counts[32], labels=[most[32] - n for n in range(counts[32])]
            )[1]
        return fn.readers.tfrecord(
            path=str(tmp_path / "records"),
            random_shuffle=True,
            features={"label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)},
        )["label"]

    want = sorted(most[b] + (-n if b == 32 else n) for b in kinds for n in range(counts[b]))
    for nested in (False, True) if len(kinds) > 2 else (False,):
        for batch_size in (1, 4):

            @pipeline_def(batch_size=batch_size, num_threads=3, seed=SEED)
            def mixed():
                values = [labels(b) for b in kinds]
                return fn.readers.mix([fn.readers.mix(values[:2]), *values[2:]] if nested else values)

            pipe = mixed()
            pipe._set_epoch_mode("partial")
            for _ in range(2):
                batches = [[np.asarray(x) for x in batch] for (batch,) in pipe]
                assert all(x.dtype == dtype and x.shape == (1,) for batch in batches for x in batch)
                assert sorted(int(x[0]) for batch in batches for x in batch) == want
            pipe.close()


def test_dicts_stay_dicts(folder):
    features = {
        "x": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }
    reversed_features = dict(reversed(features.items()))

    @pipeline_def(batch_size=5, num_threads=2)
    def records():
        mixed, ids = fn.readers.mix(
            [fn.readers.tfrecord(path=str(folder / "records"), features=f) for f in (features, reversed_features)],
            source_ids=True,
        )
        assert list(mixed) == ["x", "label"]
        return mixed["x"], mixed["label"], ids

    pipe = records()
    x, label, ids = pipe.run()
    assert [int(np.asarray(v)[1]) for v in x] == label.as_array().ravel().tolist()
    pipe.close()


def test_a_mix_of_mixes(folder):
    """The inner one is a source like any other, with its own order."""

    @pipeline_def(batch_size=6, num_threads=2, seed=SEED)
    def nested():
        files, records, archive = sources_of(folder)
        return fn.readers.mix([fn.readers.mix([files, records], seed=9), archive], source_ids=True)

    pipe = nested()
    pipe._set_epoch_mode("partial")
    seen = [(int(np.asarray(x)[0]), int(np.asarray(x)[1])) for data, _ in pipe for x in data]
    pipe.close()
    assert sorted(seen) == [(j, n) for j, size in enumerate(SIZES) for n in range(size)]
    inner = mix_model.epoch_of(SIZES[:2], SIZES[:2], 9, 0)
    assert [s for s in seen if s[0] < 2] == inner


def test_arrays_say_their_type_when_they_are_read(tmp_path, folder):
    for j, dtype in enumerate((np.float32, np.float32, np.int16)):
        for n in range(4):
            np.save(tmp_path / f"{j}-{n}.npy", np.full((2, n + 1), 10 * j + n, dtype))

    @pipeline_def(batch_size=8, num_threads=2)
    def arrays(second):
        return fn.readers.mix(
            [
                fn.readers.numpy(files=[str(tmp_path / f"{j}-{n}.npy") for n in range(4)], name=f"n{j}")
                for j in (0, second)
            ]
        )

    pipe = arrays(1)
    (batch,) = pipe.run()
    got = [np.asarray(x) for x in batch]
    assert sorted(int(x[0, 0]) for x in got) == [0, 1, 2, 3, 10, 11, 12, 13]
    assert all(x.dtype == np.float32 and x.shape == (2, int(x[0, 0]) % 10 + 1) for x in got)
    pipe.close()
    pipe = arrays(2)
    with pytest.raises(penstock.DataError, match="float32 of 'n0' .*int16 of 'n2'.* in one batch"):
        pipe.run()
    pipe.close()


# --- what is refused ------------------------------------------------------------------------------------------------------


def refused(kind, match, define):
    with pytest.raises(kind, match=match):
        pipe = Pipeline(batch_size=2, num_threads=1)
        with pipe:
            pipe.set_outputs(*np.atleast_1d(np.array(define(), dtype=object)))
        pipe.build()
        pipe.run()


def test_errors_name_sources_and_lines(folder):
    line = r"\S*test_readers_mix\.py:\d+"

    def label_types():
        records = fn.readers.tfrecord(
            path=str(folder / "records"),
            name="records",
            features={"label": tfrecord.FixedLenFeature([1], tfrecord.float32, -1)},
        )
        return fn.readers.mix([files_of(folder)[1], records["label"]])

    refused(
        TypeError,
        rf"readers.mix\] value 0 is int32 1-d of 'photos' \({line}\) and float32 1-d of 'records' \({line}\)",
        label_types,
    )
    refused(
        TypeError,
        "value 0 is uint8 1-d of 'photos' .* and int32 1-d of 'archive'",  # bytes are not narrow labels
        lambda: fn.readers.mix(
            [
                files_of(folder)[0],
                fn.readers.webdataset(
                    paths=str(folder / "archive.tar"), ext=["cls"], dtypes=[penstock.types.INT32], name="archive"
                ),
            ]
        ),
    )
    refused(
        ValueError,
        "source 0 .'photos'. gives 2 values, source 1 .'archive'. 1",
        lambda: fn.readers.mix([files_of(folder), *sources_of(folder, which=[2])]),
    )
    refused(ValueError, rf"'photos' \({line}\) is in the list twice", lambda: fn.readers.mix(twice(folder)))
    refused(
        ValueError,
        "takes outputs of readers, but '__decoders_image_.' .* is an output of decoders.image",
        lambda: fn.readers.mix([fn.decoders.image(files_of(folder)[0])]),
    )
    refused(ValueError, "'photos' .*cannot also be read by itself", lambda: read_twice(folder))
    refused(
        ValueError,
        "'photos' .* is mixed: give num_shards, shard_id",
        lambda: fn.readers.mix(sources_of(folder, which=[0], num_shards=2)),
    )
    refused(
        ValueError, "is not a reader: external_source cannot be mixed", lambda: fn.readers.mix([fn.external_source()])
    )
    refused(TypeError, "source 0 holds str", lambda: fn.readers.mix(["photos"]))
    refused(TypeError, "no argument 'random_shuffle'", lambda: fn.readers.mix(sources_of(folder), random_shuffle=True))


def twice(folder):
    photos = files_of(folder)[0]
    return [photos, photos]


def read_twice(folder):
    photos, labels = files_of(folder)
    return [fn.readers.mix([photos]), labels]


@pytest.mark.parametrize(
    "more, match",
    [
        ({"weights": [1, 2]}, "2 weights for 3 sources"),
        ({"weights": [1, 2, 0]}, "must be positive"),
        ({"weights": [1, float("nan"), 1]}, "must be a number"),
        ({"weights": [1, 1e-9, 1]}, "'records' .* is so small that"),
        ({"stop": "last"}, 'stop must be "first" or "all"'),
        ({"size": -1}, "size"),
    ],
)
def test_settings_that_are_refused(folder, more, match):
    refused(ValueError, match, lambda: fn.readers.mix(sources_of(folder), **more))


# --- error policies, names and sizes ----------------------------------------------------------------------------------------


@pytest.fixture
def damaged(folder, tmp_path):
    """A copy of the files, of which number 3 is missing."""
    for n in range(SIZES[0]):
        if n != 3:
            (tmp_path / f"{n:02d}.bin").write_bytes(text(0, n))
    return tmp_path


@pipeline_def(num_threads=3, seed=SEED)
def partly_damaged(damaged, folder, **more):
    return fn.readers.mix(
        [files_of(damaged, random_shuffle=True)[0], *sources_of(folder, which=(1, 2))], source_ids=True, **more
    )


def test_a_missing_file_is_named(damaged, folder):
    pipe = partly_damaged(damaged, folder, batch_size=60)
    with pytest.raises(FileNotFoundError, match="03.bin"):
        pipe.run()
    pipe.close()


def test_skip_leaves_the_others_in_their_places(damaged, folder):
    want = [s for s in mix_model.epoch_of(SIZES, SIZES, SEED, 0) if s != (0, 3)]
    pipe = partly_damaged(damaged, folder, batch_size=6, on_error="skip")
    assert epochs(pipe, 1) == [want]


def test_replace_takes_another_of_the_same_source(damaged, folder):
    want = mix_model.epoch_of(SIZES, SIZES, SEED, 0)
    for batch_size in (6, 60):
        (got,) = epochs(partly_damaged(damaged, folder, batch_size=batch_size, on_error="replace"), 1)
        assert [a for a, b in zip(got, want) if b != (0, 3)] == [b for b in want if b != (0, 3)]
        at = want.index((0, 3))
        assert got[at][0] == 0 and got[at] != (0, 3) and len(got) == 60


def test_replace_after_the_mix(tmp_path):
    """A picture that cannot be decoded, with its label and source used before the decoder: all three are replaced."""
    for j in range(2):
        for n in range(6):
            data = (
                b"no picture"
                if (j, n) == (1, 2)
                else cv2.imencode(".png", np.full((4, 4, 3), 40 * j + 5 * n, np.uint8))[1].tobytes()
            )
            (tmp_path / f"{j}-{n}.png").write_bytes(data)

    @pipeline_def(batch_size=12, num_threads=2, seed=3, on_error="replace")
    def pictures():
        encoded, label, source = fn.readers.mix(
            [
                fn.readers.file(files=[str(tmp_path / f"{j}-{n}.png") for n in range(6)], random_shuffle=True)
                for j in range(2)
            ],
            source_ids=True,
        )
        number = label * 5 + source * 40
        return fn.decoders.image(encoded), number, label, source

    pipe = pictures()
    images, numbers, labels, sources = pipe.run()
    seen = [(int(j[0]), int(n[0])) for j, n in zip(sources.as_array(), labels.as_array())]
    pipe.close()
    assert sum(j for j, _ in seen) == 6 and (1, 2) not in seen and len(set(seen)) == 11
    assert (
        [int(np.asarray(x)[0, 0, 0]) for x in images]
        == numbers.as_array().ravel().tolist()
        == [40 * j + 5 * n for j, n in seen]
    )


def test_sizes_and_names(folder):
    pipe = mixture(folder, batch_size=4, weights=[3, 1, 2])
    pipe.build()
    total = sum(mix_model.shares_of(SIZES, [3, 1, 2]))
    assert pipe.epoch_size("mix") == total and pipe.reader_meta("mix")["epoch_size"] == total
    assert pipe.epoch_size() == {"photos": 11, "records": 30, "archive": 19, "mix": total}
    pipe.close()


@pytest.mark.parametrize(
    "policy, counts",
    [(LastBatchPolicy.PARTIAL, [60, 60]), (LastBatchPolicy.DROP, [56, 56]), (LastBatchPolicy.FILL, [64, 56])],
)
def test_dalis_iterator(folder, policy, counts):
    @pipeline_def(batch_size=8, num_threads=2, seed=SEED)
    def ids():
        return fn.readers.mix(sources_of(folder), source_ids=True, name="mix")[1]

    iterator = DALIGenericIterator(ids(), ["source"], reader_name="mix", last_batch_policy=policy, auto_reset=True)
    for count in counts:
        assert sum(len(batch[0]["source"]) for batch in iterator) == count


def test_saved_and_loaded(folder):
    pipe = mixture(folder, batch_size=10)
    want = [seen_in(*pipe.run()) for _ in range(7)]
    saved = pipe.serialize()
    pipe.close()
    again = Pipeline.deserialize(saved)
    assert [seen_in(*again.run()) for _ in range(7)] == want
    again.close()


def test_debug(folder):
    pipe = mixture(folder, batch_size=10)
    want = [seen_in(*pipe.run()) for _ in range(8)]
    pipe.close()
    pipe = mixture(folder, batch_size=10, debug=True, enable_checkpointing=False)
    assert [seen_in(*pipe.run()) for _ in range(8)] == want
    pipe.close()


def test_a_state_is_a_few_integers(folder):
    pipe = mixture(folder, batch_size=10)
    pipe.run()
    assert (
        len(json.dumps(pipe.checkpoint() if isinstance(pipe.checkpoint(), str) else pipe.checkpoint().decode())) < 1200
    )
    pipe.close()
