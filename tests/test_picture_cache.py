# SPDX-License-Identifier: Apache-2.0
"""decoders.image with cache_size: the bytes of a pipeline without it, what is kept, and what is not."""

import cv2
import numpy as np
import pytest

from penstock import fn, pipeline_def, types

COUNT, BATCH, EPOCHS = 10, 4, 4
BYTES = [(30 + 7 * k) * 40 * 3 for k in range(COUNT)]  # of the decoded pictures


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for k in range(COUNT):
        noise = rng.integers(0, 256, (30 + 7 * k, 40, 3), np.uint8)
        cv2.imwrite(str(folder / f"{k}.jpg"), cv2.GaussianBlur(noise, (0, 0), 2))
    return [str(folder / f"{k}.jpg") for k in range(COUNT)]


def pipeline(files, rest=lambda x: x, threads=2, shuffle=True, **cache):
    @pipeline_def(batch_size=BATCH, num_threads=threads, seed=5)
    def pipe():
        encoded, _ = fn.readers.file(files=files, random_shuffle=shuffle, name="reader")
        return rest(fn.decoders.image(encoded, **cache))

    return pipe()


def batches(pipe, count=EPOCHS * COUNT // BATCH + 1):
    return [[np.array(t) for t in pipe.run()[0]] for _ in range(count)]


def counts(pipe):
    (found,) = [s["cache"] for s in pipe.stats()["stages"] if sum(s["cache"].values())]
    return found


CHAINS = {
    "alone": lambda x: x,
    "a part": lambda x: fn.crop(x, crop=[20, 10], crop_pos_x=0.9),
    "resized": lambda x: fn.crop_mirror_normalize(fn.resize(x, size=[16, 16]), mean=[1.0], std=[2.0]),
    "random": lambda x: fn.flip(fn.random_resized_crop(x, size=[9, 9]), horizontal=fn.random.coin_flip()),
    "with its size": lambda x: fn.cat(
        *[fn.cast(v, dtype=types.FLOAT) for v in (fn.resize(x, size=[9, 9], save_attrs=True)[1],) * 2]
    ),
    "two readers": lambda x: fn.resize(x, size=[8, 8]) + fn.resize(fn.flip(x), size=[8, 8]),
    "per sample": lambda x: fn.rotate(x, angle=fn.random.uniform(range=[-9, 9]), keep_size=True),
}
CACHES = {
    "all": {"cache_size": 64},
    "large ones": {"cache_size": 64, "cache_threshold": BYTES[6]},
    "the largest": {"cache_size": 64, "cache_type": "largest"},
}


@pytest.mark.parametrize("chain", CHAINS)
def test_the_bytes_are_those_without_a_cache(files, chain):
    expected = batches(pipeline(files, CHAINS[chain]))
    for cache in CACHES.values():
        got = batches(pipeline(files, CHAINS[chain], **cache))
        assert all(np.array_equal(a, b) for one, other in zip(expected, got) for a, b in zip(one, other))


def test_what_is_kept(files):
    for name, kept in (("all", COUNT), ("large ones", COUNT - 6), ("the largest", COUNT)):
        pipe = pipeline(files, threads=1, **CACHES[name])
        batches(pipe)
        found = counts(pipe)
        assert found["pictures"] == kept and found["bytes"] == sum(BYTES[-kept:]), name
        assert found["hits"] >= kept, name


def test_a_picture_that_is_kept_is_not_read_again(files, tmp_path):
    copies = [tmp_path / f"{k}.jpg" for k in range(4)]
    for copy, file in zip(copies, files):
        copy.write_bytes(open(file, "rb").read())
    pipe = pipeline([str(c) for c in copies], shuffle=False, cache_size=1)
    first = batches(pipe, 8)
    for copy in copies:
        copy.unlink()
    assert all(np.array_equal(a, b) for a, b in zip(batches(pipe, 1)[0], first[0]))


def test_a_small_cache_keeps_what_it_has_room_for():
    from_memory = np.zeros((600, 400, 3), np.uint8)  # 0.7 MB: one of them fits into 1 MB
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        for k in range(3):
            cv2.imwrite(str(Path(folder) / f"{k}.png"), from_memory + k)
        pipe = pipeline([str(Path(folder) / f"{k}.png") for k in range(3)], threads=1, shuffle=False, cache_size=1)
        for batch in batches(pipe, 6):
            assert all((image == image.ravel()[0]).all() for image in batch)
        assert counts(pipe)["pictures"] == 1 and counts(pipe)["bytes"] == from_memory.nbytes


def test_bytes_without_a_name_are_not_kept(files):
    data = [np.fromfile(f, np.uint8) for f in files[:BATCH]]

    @pipeline_def(batch_size=BATCH, num_threads=1)
    def pipe():
        return fn.decoders.image(fn.external_source(lambda: data), cache_size=64)

    made = pipe()
    batches(made, 3)
    assert not any(sum(s["cache"].values()) for s in made.stats()["stages"])


def test_damaged_files_are_still_errors(files, tmp_path):
    (tmp_path / "bad.jpg").write_bytes(open(files[0], "rb").read()[:200])
    pipe = pipeline([str(tmp_path / "bad.jpg")] * BATCH, cache_size=64)
    with pytest.raises(Exception, match="bad.jpg"):
        batches(pipe, 2)


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("cache_type must be 'threshold' or 'largest', got 'newest'", {"cache_type": "newest"}),
        ("decode='fast' decodes a smaller picture", {"cache_size": 5, "decode": "fast"}),
        ("cache_size must be at least 0", {"cache_size": -1}),
    ],
)
def test_refusals(files, message, given):
    with pytest.raises(ValueError, match=message):
        pipeline(files, **given).run()
