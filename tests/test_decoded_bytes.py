# SPDX-License-Identifier: Apache-2.0
"""decoders.inflate, decoders.numpy, io.file.read, dump_image and readers.sequence."""

import io
import os

import cv2
import dali_oracle
import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def, types

needs_dali = pytest.mark.skipif(not dali_oracle.available(), reason="environment: no DALI")


def lz4_block(data):
    """A valid block: matches of a greedy search, the last 12 bytes literals."""
    out, at, literals, seen = bytearray(), 0, 0, {}

    def number(n):
        n -= 15
        while n >= 0:
            out.append(min(n, 255))
            n -= 255

    while at + 12 < len(data):
        key = data[at : at + 4]
        found = seen.get(key)
        seen[key] = at
        if found is None or at - found > 65535:
            at += 1
            continue
        n = 4
        while at + n + 5 < len(data) and data[found + n] == data[at + n]:
            n += 1
        run = at - literals
        out.append(min(run, 15) << 4 | min(n - 4, 15))
        number(run)
        out += data[literals:at] + (at - found).to_bytes(2, "little")
        number(n - 4)
        at += n
        literals = at
    run = len(data) - literals
    out.append(min(run, 15) << 4)
    number(run)
    return np.frombuffer(bytes(out + data[literals:]), np.uint8)


def array(batch, i=0):
    return np.array(batch[i].numpy())


# What the program lz4 1.9.4 makes of SENTENCE.
SENTENCE = (
    b"a penstock is the pipe that brings water under pressure to a turbine; the pipe that brings data to a GPU. " * 3
)[:250]
BLOCK = bytes.fromhex(
    "ff36612070656e73746f636b2069732074686520706970652074686174206272696e677320776174657220756e6465722070"
    "7265737375726520746f20612074757262696e653b380003426461746128005f4750552e206a0078507320776174"
)


def test_inflate_reads_the_programs_block():
    got = array(fn.decoders.inflate(penstock.batch([np.frombuffer(BLOCK, np.uint8)]), shape=[len(SENTENCE)]))
    assert got.tobytes() == SENTENCE


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_inflate(device):
    if device == "gpu" and penstock._core.gpu_why_not():
        pytest.skip("machine: no GPU")
    rng = np.random.default_rng(1)
    xs = [rng.integers(0, 3, (h, 50, 3)).astype(np.int16) * 1000 for h in (1, 20, 300)]
    encoded = penstock.batch([lz4_block(x.tobytes()) for x in xs])
    got = fn.decoders.inflate(
        encoded.gpu() if device == "gpu" else encoded,
        shape=penstock.batch([np.int32(x.shape) for x in xs]),
        dtype=types.INT16,
        layout="HWC",
    ).cpu()
    for a, x in zip(got, xs):
        np.testing.assert_array_equal(a.numpy(), x)
    assert got.layout() == "HWC"


@pytest.mark.parametrize("given", ["sizes", "offsets", "both"])
def test_inflate_chunks(given):
    rng = np.random.default_rng(2)
    frames = rng.integers(0, 4, (5, 6, 7)).astype(np.uint8)
    blocks = [lz4_block(f.tobytes()) for f in frames]
    gap = 3 if given == "both" else 0
    sizes = [len(b) for b in blocks]
    offsets = np.concatenate([[0], np.cumsum([s + gap for s in sizes])[:-1]])
    data = np.concatenate([np.concatenate([b, np.zeros(gap, np.uint8)]) for b in blocks])
    arguments = {
        "sizes": {"chunk_sizes": sizes},
        "offsets": {"chunk_offsets": offsets.tolist()},
        "both": {"chunk_sizes": sizes, "chunk_offsets": offsets.tolist()},
    }[given]
    got = fn.decoders.inflate(penstock.batch([data]), shape=[6, 7], layout="HW", **arguments)
    np.testing.assert_array_equal(array(got), frames)
    assert got.layout() == "FHW"


@pytest.mark.parametrize(
    "data, arguments, words",
    [
        (BLOCK[:-1], {"shape": [250]}, "LZ4 block"),
        (BLOCK, {"shape": [249]}, "more than 249"),
        (BLOCK, {"shape": [251]}, "250 bytes"),
        (b"\x10", {"shape": [1]}, "literals"),
        (b"\x00\x01\x00", {"shape": [4]}, "but the block has 0 so far"),
        (b"", {"shape": [1]}, "within a sequence"),
        (BLOCK, {"shape": [250], "chunk_sizes": [1000]}, "chunk 0"),
        (BLOCK, {"shape": [250], "algorithm": "ZIP"}, "LZ4"),
        (BLOCK, {"shape": [-1]}, "negative"),
        (BLOCK, {"shape": [250], "layout": "HWC"}, "extents"),
    ],
)
def test_inflate_refuses(data, arguments, words):
    with pytest.raises((ValueError, penstock.DataError), match=words):
        fn.decoders.inflate(penstock.batch([np.frombuffer(data, np.uint8)]), **arguments)


def npy(x):
    out = io.BytesIO()
    np.save(out, x)
    return np.frombuffer(out.getvalue(), np.uint8)


ARRAYS = [
    np.arange(24, dtype=np.float32).reshape(2, 3, 4) + 0.7,
    np.asfortranarray(np.arange(30, dtype=np.float32).reshape(3, 5, 2)),
]


@pytest.mark.parametrize("dtype", [None, "int32", "uint8", "float64"])
def test_numpy_decoder(dtype):
    more = {} if dtype is None else {"dtype": dtype}
    got = fn.decoders.numpy(penstock.batch([npy(x) for x in ARRAYS]), **more)
    for a, x in zip(got, ARRAYS):
        want = x if dtype is None else np.rint(x).astype(dtype) if dtype != "float64" else x.astype(dtype)
        assert np.array(a.numpy()).dtype == want.dtype
        np.testing.assert_array_equal(a.numpy(), want)


def test_numpy_decoder_in_a_pipeline():
    pipe = Pipeline(batch_size=2, num_threads=2)
    with pipe:
        encoded = fn.external_source(lambda: penstock.batch([npy(x) for x in ARRAYS]))
        pipe.set_outputs(fn.decoders.numpy(encoded), fn.decoders.numpy(encoded, dtype=types.FLOAT) * 2)
    for _ in range(2):
        plain, doubled = pipe.run()
        for i, x in enumerate(ARRAYS):
            np.testing.assert_array_equal(array(plain, i), x)
            np.testing.assert_array_equal(array(doubled, i), x * 2)
    pipe.close()


@pytest.mark.parametrize(
    "samples, words",
    [
        ([npy(np.arange(3))[:50]], r"\w"),
        ([npy(np.arange(3)), npy(np.arange(3.0))], "int64 and of float64"),
        ([npy(np.arange(3)), npy(np.zeros((1, 3), np.int64))], "dimensions"),
        ([np.zeros(4, np.uint8)], r"\w"),
    ],
)
def test_numpy_decoder_refuses(samples, words):
    with pytest.raises((ValueError, penstock.DataError), match=words):
        fn.decoders.numpy(penstock.batch(samples))


@pytest.mark.parametrize("empty", [np.zeros(0, np.uint8), np.zeros(8, np.uint8)[::-2][:0]], ids=["new", "of a view"])
def test_a_file_without_bytes_is_empty_whatever_its_strides(empty):
    for decode in (fn.decoders.image, fn.peek_image_shape):
        with pytest.raises(penstock.DataError, match="the file is empty"):
            decode(penstock.batch([empty]))
    with pytest.raises(penstock.DataError, match="not an .npy file"):
        fn.decoders.numpy(penstock.batch([empty]), dtype="uint8")


@pytest.mark.parametrize("dtype", [None, types.FLOAT])
@pytest.mark.parametrize("policy", ["skip", "replace"])
def test_a_damaged_array_is_the_error_of_its_sample(tmp_path, policy, dtype):
    for k in range(6):
        (tmp_path / f"{k}.npy").write_bytes(b"no array" if k in (1, 4) else npy(np.full(k + 2, k)))

    @pipeline_def(batch_size=3, num_threads=2, on_error=policy)
    def arrays():
        files, _ = fn.readers.file(files=[str(tmp_path / f"{k}.npy") for k in range(6)], name="reader")
        return fn.decoders.numpy(files, dtype=dtype)

    with arrays() as pipe:
        batches = [[t.numpy().tolist() for t in pipe.run()[0]] for _ in range(2)]
    assert batches[0][0] == [0] * 2 and batches[1][-1] == [5] * 7
    if policy == "skip":
        assert batches == [[[0] * 2, [2] * 4], [[3] * 5, [5] * 7]]
    else:
        assert [len(batch) for batch in batches] == [3, 3]
        assert all(a == [a[0]] * (int(a[0]) + 2) and a[0] not in (1, 4) for batch in batches for a in batch)


def path_bytes(*paths):
    return penstock.batch([np.frombuffer(str(p).encode(), np.uint8) for p in paths])


def test_files_by_their_names(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"hi there")
    (tmp_path / "b.bin").write_bytes(bytes(range(256)) * 100)
    got = fn.io.file.read(path_bytes(tmp_path / "a.bin", str(tmp_path / "b.bin") + "\0"))
    assert array(got).tobytes() == b"hi there" and array(got, 1).tobytes() == bytes(range(256)) * 100
    with pytest.raises(FileNotFoundError, match="nothing.bin"):
        fn.io.file.read(path_bytes(tmp_path / "nothing.bin"))
    with pytest.raises((ValueError, penstock.DataError)):
        fn.io.file.read(path_bytes(tmp_path))
    pipe = Pipeline(batch_size=2, num_threads=2)
    with pipe:
        pipe.set_outputs(
            fn.io.file.read(fn.external_source(lambda: path_bytes(tmp_path / "a.bin", tmp_path / "b.bin")))
        )
    assert array(pipe.run()[0], 1).size == 25600
    pipe.close()


def test_images_are_dumped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    xs = [rng.integers(0, 256, (5, 7, 3)).astype(np.uint8), rng.integers(0, 256, (4, 4, 3)).astype(np.uint8)]
    got = fn.dump_image(penstock.batch(xs, layout="HWC"), suffix="seen")
    for i, x in enumerate(xs):
        np.testing.assert_array_equal(array(got, i), x)
        np.testing.assert_array_equal(cv2.imread(f"{i}-seen-0.ppm")[..., ::-1], x)
    fn.dump_image(penstock.batch([xs[0][..., :1].copy()], layout="HWC"))
    np.testing.assert_array_equal(cv2.imread("0--0.ppm", cv2.IMREAD_GRAYSCALE), xs[0][..., 0])
    for wrong in ({"suffix": "a/b"}, {"input_layout": "CHW"}):
        with pytest.raises(ValueError, match="dump_image"):
            fn.dump_image(penstock.batch(xs, layout="HWC"), **wrong)


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    root = tmp_path_factory.mktemp("streams")
    for name, count, value in (("b", 5, 2), ("a", 3, 1), ("c", 2, 3)):
        (root / name).mkdir()
        for k in range(count):
            cv2.imwrite(str(root / name / f"{k:03d}.png"), np.full((4, 5, 3), 10 * k + value, np.uint8))
    return root


def sequences(root, n, **arguments):
    pipe = Pipeline(batch_size=n, num_threads=2, seed=1)
    with pipe:
        pipe.set_outputs(fn.readers.sequence(file_root=str(root), **arguments))
    out = pipe.run()[0]
    assert out.layout() == "FHWC"
    got = [np.array(t.numpy()) for t in out]
    pipe.close()
    return got


@needs_dali
@pytest.mark.parametrize(
    "arguments",
    [
        {"sequence_length": 2},
        {"sequence_length": 2, "stride": 2},
        {"sequence_length": 2, "step": 2},
        {"sequence_length": 3, "step": 2},
        {"sequence_length": 2, "image_type": 2},
    ],
)
def test_sequences_of_frames(streams, arguments):
    oracle = dali_oracle.Oracle()
    theirs = dict(arguments, **({"image_type": "GRAY"} if "image_type" in arguments else {}))
    n = {2: 4 if "step" in arguments or "stride" in arguments else 7, 3: 2}[arguments["sequence_length"]]
    want = oracle.call("readers.sequence", [], batch_size=n, file_root=str(streams), **theirs)
    oracle.close()
    for a, b in zip(sequences(streams, n, **arguments), want):
        np.testing.assert_array_equal(a, b)


def test_sequences_that_cannot_be(streams, tmp_path):
    with pytest.raises((ValueError, penstock.DataError), match="no folder has the 9 images"):
        sequences(streams, 1, sequence_length=9)
    (tmp_path / "s").mkdir()
    cv2.imwrite(str(tmp_path / "s" / "0.png"), np.zeros((4, 5, 3), np.uint8))
    cv2.imwrite(str(tmp_path / "s" / "1.png"), np.zeros((4, 6, 3), np.uint8))
    with pytest.raises(penstock.DataError, match="1.png"):
        sequences(tmp_path, 1, sequence_length=2)
    (tmp_path / "s" / "1.png").write_bytes(b"no picture")
    with pytest.raises(penstock.DataError, match="1.png"):
        sequences(tmp_path, 1, sequence_length=2)
    with pytest.raises(ValueError, match="step"):
        sequences(streams, 1, sequence_length=2, step=0)


@needs_dali
def test_names_of_what_is_written_are_dalis(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    oracle = dali_oracle.Oracle()
    oracle.call("dump_image", [np.zeros((2, 3, 3), np.uint8)] * 2, layout="HWC", suffix="x")
    oracle.close()
    names = sorted(os.listdir())
    for name in names:
        os.remove(name)
    fn.dump_image(penstock.batch([np.zeros((2, 3, 3), np.uint8)] * 2, layout="HWC"), suffix="x")
    assert sorted(os.listdir()) == names
