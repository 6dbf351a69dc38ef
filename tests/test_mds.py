# SPDX-License-Identifier: Apache-2.0
"""readers.mds: each encoding, compressed shards, hashes, and what is refused."""

import ctypes
import json

import mds_files
import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn

RNG = np.random.default_rng(8)
ROWS = 23
COLUMNS = {
    **{k: k for k in ("bytes", "str", "json", "jpeg", "png", "str_int", "str_float", "int", *mds_files.CODES.values())},
    "any": "ndarray",
    "typed": "ndarray:uint16",
    "fixed": "ndarray:float32:2,3",
}


def sample(k):
    made = {name: RNG.bytes(k) for name in ("bytes", "jpeg", "png")}
    made |= {"str": "é" * k, "json": {"k": [k]}, "str_int": str(k), "str_float": "0.5", "int": -k}
    for name in mds_files.CODES.values():
        made[name] = np.dtype(name).type(k)
    shape = [(k + 1,), (300, 1 + k % 2), (1, 2, 3)][0]
    made["any"] = np.arange(np.prod(shape)).reshape(shape).astype("int16")
    made["typed"] = np.full((k % 3, 300), k, "uint16")
    return made | {"fixed": np.full((2, 3), k, "float32")}


SAMPLES = [sample(k) for k in range(ROWS)]


PACKED = {"none": (None, None), "gz": ("gz", None), "zstd": ("zstd:3", mds_files.zstd)}


def write(folder, kind="none", sizes=(5, 1, 9, 8), columns=COLUMNS, samples=SAMPLES):
    ends = np.cumsum(sizes)
    mds_files.write(folder, columns, [samples[end - n : end] for n, end in zip(sizes, ends)], *PACKED[kind])
    return folder


def make(folder, columns, batch_size=4, checkpoint=None, pipeline=None, **arguments):
    pipe = Pipeline(
        batch_size=batch_size,
        num_threads=2,
        seed=2,
        enable_checkpointing=True,
        checkpoint=checkpoint,
        **(pipeline or {}),
    )
    with pipe:
        values = fn.readers.mds(path=str(folder), columns=columns, name="reader", **arguments)
        pipe.set_outputs(*(values if isinstance(values, list) else [values]))
    return pipe


def take(pipe, count):
    rows = []
    while len(rows) < count:
        batches = pipe.run()
        rows += [[np.asarray(b[i].numpy()) for b in batches] for i in range(len(batches[0]))]
    return rows[:count]


def expected(name, k):
    value = SAMPLES[k][name]
    if isinstance(value, (np.ndarray, np.generic)) or name == "int":
        return np.asarray(value)
    return np.frombuffer(mds_files.encoded(name, value), np.uint8)


@pytest.mark.parametrize("kind", PACKED)
def test_each_encoding(tmp_path, kind):
    names = list(COLUMNS)
    for k, row in enumerate(take(make(write(tmp_path, kind), names), ROWS)):
        for name, got in zip(names, row):
            want = expected(name, k)
            assert got.shape == want.shape and got.dtype == want.dtype and np.array_equal(got, want), (name, k)


@pytest.mark.parametrize("kind", PACKED)
def test_a_shuffled_epoch_has_each_sample_once_and_resumes(tmp_path, kind):
    write(tmp_path, kind)
    shuffled = {"random_shuffle": True, "shuffle_groups": 2}
    pipe = make(tmp_path, "int", **shuffled)
    first = [int(v) for (v,) in take(pipe, 8)]
    state = pipe.checkpoint()
    rest = [int(v) for (v,) in take(pipe, ROWS - 8)]
    assert sorted(first + rest) == [-k for k in reversed(range(ROWS))] and first + rest != [-k for k in range(ROWS)]
    assert [int(v) for (v,) in take(make(tmp_path, "int", checkpoint=state, **shuffled), ROWS - 8)] == rest
    ranks = [make(tmp_path, "int", 1, state, num_shards=2, shard_id=r, **shuffled) for r in range(2)]
    shares = (8, 7) if kind == "none" else (7, 8)  # dealt in turn, or cut in two
    parts = [int(v) for pipe, share in zip(ranks, shares) for (v,) in take(pipe, share)]
    assert sorted(parts) == sorted(rest)


def test_compressed_shards_are_shuffled_in_windows(tmp_path):
    write(tmp_path, "gz", [5, 5, 5, 5, 3])
    order = [-int(v) for (v,) in take(make(tmp_path, "int", random_shuffle=True, shuffle_groups=1), ROWS)]
    shards = [k // 5 for k in order]
    assert sorted(order) == list(range(ROWS)) and order != sorted(order)
    assert sum(s != before for s, before in zip(shards, [None, *shards])) == 5


def test_a_flipped_bit_in_a_shard_is_found_by_its_hash(tmp_path):
    for kind in ("none", "gz"):
        folder = tmp_path / kind
        folder.mkdir()
        write(folder, kind)
        path = folder / ("shard.00002.mds" + (".gz" if kind == "gz" else ""))
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 4
        path.write_bytes(content)
        with pytest.raises(penstock.DataError, match="(?s)the sha1 of the shard is .*shard.00002"):
            take(make(folder, "int", check_hashes=True), ROWS)
    got = take(make(folder, "int", pipeline={"on_error": "skip"}), ROWS - 9)
    assert [-int(v) for (v,) in got] == [k for k in range(ROWS) if not 6 <= k < 15]


def test_what_is_refused_says_why(tmp_path):
    write(
        tmp_path,
        columns={"a": "pkl", "b": "pil", "c": "new", "d": "int"},
        samples=[dict(a=b"", b=b"", c=b"", d=1)] * ROWS,
    )
    for name, why in (("a", "can run any code"), ("b", "write it as jpeg or png"), ("c", '"new" is not known')):
        with pytest.raises(ValueError, match=why):
            make(tmp_path, name)
    with pytest.raises(ValueError, match="there is no column 'x'; there are 'a', 'b', 'c', 'd'"):
        make(tmp_path, "x")
    assert len(take(make(tmp_path, "d"), ROWS)) == ROWS
    with pytest.raises(FileNotFoundError, match="index.json"):
        make(tmp_path / "none", "x")


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda j: j["shards"][0].update(samples=6), "has 5 samples, its index says 6"),
        (lambda j: j["shards"][0]["raw_data"].update(bytes=7), r"bytes, its index says 7"),
        (lambda j: j["shards"][0]["raw_data"].update(basename="../x"), "has the name '../x'"),
        (lambda j: j["shards"][0].update(format="json"), "the format json, not mds"),
        (lambda j: j["shards"][1].update(column_names=[]), "differ in length"),
        (lambda j: j.update(shards=[]), "no shards"),
        (lambda j: j.update(shards=3), "must be a list"),
    ],
)
def test_a_wrong_index_is_an_error_of_its_file(tmp_path, change, message):
    write(tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    change(index)
    (tmp_path / "index.json").write_text(json.dumps(index))
    with pytest.raises(penstock.DataError, match=message):
        take(make(tmp_path, "int"), 1)


def test_no_memory_is_taken_for_a_size_that_cannot_be(tmp_path):
    write(tmp_path, "gz")
    index = json.loads((tmp_path / "index.json").read_text())
    index["shards"][0]["raw_data"]["bytes"] = 1 << 29
    (tmp_path / "index.json").write_text(json.dumps(index))
    with pytest.raises(penstock.DataError, match="cannot be 536870912 when they are decompressed"):
        take(make(tmp_path, "int"), 1)


def large_samples():
    """Blocks that do not compress, blocks that do, and what refers back to them over many blocks."""
    noise = RNG.bytes(400_000)
    return [{"bytes": value} for value in (noise, bytes(300_000), noise[:150_000] + b"x" * 70_000, b"", b"end")]


def frames(raw):
    """zstd may divide its data into frames, and may put others between them that are skipped."""
    skipped = (0x184D2A50).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"12345"
    return skipped + b"".join(mds_files.zstd(raw[k : k + 333_333]) for k in range(0, len(raw), 333_333)) + skipped


def checked(raw):
    """zstd may add a sum of what it has compressed."""
    library, context = ctypes.CDLL("libzstd.so.1"), ctypes.c_void_p
    library.ZSTD_createCCtx.restype, library.ZSTD_compress2.restype = context, ctypes.c_size_t
    library.ZSTD_CCtx_setParameter.argtypes = [context, ctypes.c_int, ctypes.c_int]
    library.ZSTD_compress2.argtypes = [context, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    library.ZSTD_freeCCtx.argtypes = [context]
    made, out = library.ZSTD_createCCtx(), ctypes.create_string_buffer(len(raw) + 10_000)
    library.ZSTD_CCtx_setParameter(made, 201, 1)  # ZSTD_c_checksumFlag
    size = library.ZSTD_compress2(made, out, len(out), raw, len(raw))
    library.ZSTD_freeCCtx(made)
    return out.raw[:size]


@pytest.mark.parametrize("compress", [mds_files.zstd, frames, checked, lambda raw: checked(raw[:9]) + checked(raw[9:])])
@pytest.mark.parametrize("hashes", [False, True])  # with hashes the whole file is read first
def test_blocks_are_decompressed_to_what_they_were(tmp_path, compress, hashes):
    samples = large_samples()
    mds_files.write(tmp_path, {"bytes": "bytes"}, [samples], "zstd", compress, hashes)
    assert [v.tobytes() for (v,) in take(make(tmp_path, "bytes", batch_size=5), 5)] == [s["bytes"] for s in samples]


@pytest.mark.parametrize(
    "change",
    [
        lambda packed: packed[:-1],
        lambda packed: packed[:18],
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed + b"more",
        lambda packed: packed + packed,
        lambda packed: b"\0" + packed[1:],
        lambda packed: packed[:9] + b"\xff" * 30 + packed[39:],  # the heads of the frame and of its first block
        lambda packed: b"",
    ],
)
def test_damaged_blocks_are_an_error_of_their_shard(tmp_path, change):
    assert_is_damaged(tmp_path, lambda raw: change(mds_files.zstd(raw)))


def test_the_sum_of_a_frame_is_compared(tmp_path):
    """Also that of blocks which are in the file as they were."""
    assert_is_damaged(tmp_path, lambda raw: (c := checked(raw))[:1000] + bytes([c[1000] ^ 1]) + c[1001:])


def assert_is_damaged(tmp_path, compress):
    mds_files.write(tmp_path, {"bytes": "bytes"}, [large_samples()], "zstd", compress, hashes=False)
    with pytest.raises(penstock.DataError, match=r"(?s)bytes (do not decompress|cannot be).*shard.00000.mds.zstd"):
        take(make(tmp_path, "bytes"), 5)


NOISE = [{"x": RNG.bytes(20_000 + 9_000 * k), "k": k} for k in range(ROWS)]


def blocks_of_another_size(raw):
    """Raw blocks, and blocks of one byte where a whole one is of that."""
    return mds_files.raw_frame([raw[k : k + 20_001] for k in range(0, len(raw), 20_001)])


@pytest.mark.parametrize("compress", [mds_files.zstd, blocks_of_another_size])
def test_samples_that_are_read_from_raw_blocks_are_those_of_a_whole_shard(tmp_path, compress):
    """With hashes a shard is read whole: the samples, their order, shards and checkpoints are the same ones."""
    rows, sizes = {}, np.cumsum([6, 1, 9, 7])
    for hashes in (True, False):
        folder = tmp_path / str(hashes)
        folder.mkdir()
        shards = [NOISE[end - n : end] for n, end in zip((6, 1, 9, 7), sizes)]
        mds_files.write(folder, {"x": "bytes", "k": "int"}, shards, "zstd", compress, hashes)
        for shuffle in (False, True):
            arguments = {"random_shuffle": shuffle, "shuffle_groups": 2}
            pipe = make(folder, ["x", "k"], **arguments)
            first = take(pipe, 8)
            rest = take(make(folder, ["x", "k"], checkpoint=pipe.checkpoint(), **arguments), ROWS - 8)
            rank = take(make(folder, ["x", "k"], num_shards=2, shard_id=1, **arguments), 8)
            rows[hashes, shuffle] = [(value.tobytes(), int(k)) for value, k in first + rest + rank]
    for shuffle in (False, True):
        assert rows[False, shuffle] == rows[True, shuffle]
        assert all(value == NOISE[k]["x"] for value, k in rows[False, shuffle])
    assert sorted(k for _, k in rows[False, True][:ROWS]) == list(range(ROWS))


def test_blocks_of_one_byte_lie_between_raw_ones(tmp_path):
    samples = [{"x": NOISE[3]["x"][:30_000] + bytes(60_000) + NOISE[4]["x"]}, NOISE[9]]
    mds_files.write(tmp_path, {"x": "bytes"}, [samples], "zstd", blocks_of_another_size, hashes=False)
    assert [v.tobytes() for (v,) in take(make(tmp_path, "x", 2), 2)] == [s["x"] for s in samples]


def test_a_shard_of_another_size_than_its_index_says_is_refused(tmp_path):
    mds_files.write(tmp_path, {"bytes": "bytes"}, [large_samples()], "zstd", mds_files.zstd, hashes=False)
    path = tmp_path / "shard.00000.mds.zstd"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(penstock.DataError, match=r"(?s)the shard has \d+ bytes, its index says \d+.*shard.00000"):
        take(make(tmp_path, "bytes"), 5)
