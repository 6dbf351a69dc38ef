# SPDX-License-Identifier: Apache-2.0
"""Photographs to batches from Python, as a training script does it: threads, resuming, damaged files, memory."""

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import fn, pipeline_def, types
from penstock.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    root, rng = tmp_path_factory.mktemp("photographs"), np.random.default_rng(3)
    for k in range(20):
        folder = root / "abc"[k % 3]
        folder.mkdir(exist_ok=True)
        size = rng.integers(60, 200, 2)
        Image.fromarray(rng.integers(0, 256, (6, 8, 3), np.uint8)).resize(size.tolist(), 3).save(
            folder / f"{k}.jpg", quality=90
        )
    return root


@pipeline_def
def training(root, shard_id=0, num_shards=1, size=64):
    jpegs, labels = fn.readers.file(
        file_root=str(root),
        random_shuffle=True,
        shard_id=shard_id,
        num_shards=num_shards,
        pad_last_batch=False,
        name="Reader",
    )
    images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)
    images = fn.random_resized_crop(images, size=[size, size], interp_type=types.INTERP_LINEAR)
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(size, size),
        mean=MEAN,
        std=STD,
        mirror=fn.random.coin_flip(probability=0.5),
    )
    return images, labels


def batches(n=6, **options):
    pipe = training(**{"batch_size": 4, "num_threads": 2, "seed": 11, **options})
    return [tuple(b.as_array().copy() for b in pipe.run()) for _ in range(n)]


def test_the_same_bytes_with_any_number_of_threads(photographs):
    want = batches(root=photographs)
    assert want[0][0].shape == (4, 3, 64, 64) and want[0][0].dtype == np.float32 and want[0][1].shape == (4, 1)
    for threads in (1, 7):
        for a, b in zip(batches(root=photographs, num_threads=threads, prefetch_queue_depth=threads), want):
            np.testing.assert_array_equal(a[0], b[0])
            np.testing.assert_array_equal(a[1], b[1])
    assert not np.array_equal(batches(root=photographs, seed=12)[0][0], want[0][0])


def test_the_same_bytes_for_another_batch_size_and_after_a_restore(photographs):
    want = np.concatenate([b[0] for b in batches(10, root=photographs)])
    np.testing.assert_array_equal(np.concatenate([b[0] for b in batches(8, root=photographs, batch_size=5)]), want)
    pipe = training(photographs, batch_size=4, num_threads=2, seed=11)
    for _ in range(7):
        pipe.run()
    again = training(photographs, batch_size=3, num_threads=1, seed=11, checkpoint=pipe.checkpoint())
    np.testing.assert_array_equal(np.concatenate([again.run()[0].as_array() for _ in range(4)]), want[28:])


def test_a_training_loop_as_scripts_write_it(photographs):
    pipes = [
        training(
            photographs,
            shard_id=k,
            num_shards=2,
            batch_size=4,
            num_threads=1,
            device_id=0,
            seed=5 + k,
            exec_async=False,
            exec_pipelined=False,
        )
        for k in range(2)
    ]
    loader = DALIClassificationIterator(
        pipes, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    for _ in range(2):
        count = 0
        for data in loader:
            for part in data:
                assert part["data"].shape[1:] == (3, 64, 64) and part["label"].squeeze(-1).long().max() <= 2
                count += len(part["data"])
        assert count == 20
    loader.reset()


def test_the_pictures_are_the_photographs(photographs):
    @pipeline_def(batch_size=5, num_threads=2)
    def pipe():
        jpegs, labels = fn.readers.file(file_root=str(photographs))
        return fn.decoders.image(jpegs), labels

    images, _ = pipe().run()
    for image, source in zip(images, images.sources()):
        reference = np.asarray(
            Image.open(source if source.startswith("/") else photographs / source).convert("RGB"), np.int16
        )
        difference = np.abs(image.numpy().astype(np.int16) - reference)
        assert difference.max() <= 4 and difference.mean() < 0.5, source  # Pillow may bring another libjpeg
        bytes_ = (photographs / source).read_bytes()
        np.testing.assert_array_equal(fn.decoders.image(bytes_), image.numpy())


def test_damaged_files(photographs, tmp_path):
    whole = sorted(photographs.glob("*/*.jpg"))[:8]
    bad = tmp_path / "cut.jpg"
    bad.write_bytes(whole[0].read_bytes()[:200])
    names = [str(n) for n in [*whole[:3], bad, *whole[3:]]]

    @pipeline_def(batch_size=3, num_threads=2, seed=1)
    def pipe():
        jpegs, labels = fn.readers.file(files=names, name="Reader")
        return fn.resize(fn.decoders.image(jpegs), size=[16, 16]), labels

    raising = pipe()
    raising.run()
    with pytest.raises(penstock.DataError, match=r"\[decoders.image\](.|\n)*cut.jpg(.|\n)*test_training.py:\d+"):
        raising.run()
    assert len(raising.run()[0]) == 3  # usable after it
    skipping = pipe(on_error="skip")
    assert [b[1].as_array().ravel().tolist() for b in (skipping.run() for _ in range(3))] == [
        [0, 1, 2],
        [4, 5],
        [6, 7, 8],
    ]
    assert [(name, "cut" in name) for _, _, name, why in skipping.left_out()] == [(str(bad), True)]
    assert "1 samples left out" in str(skipping.stats())
    replacing = pipe(on_error="replace")
    got = [len(replacing.run()[0]) for _ in range(3)]
    assert got == [3, 3, 3] and len(replacing.left_out()) == 1
    strict = pipe(on_error="skip", error_budget=0)
    with pytest.raises((penstock.DataError, ValueError)):
        for _ in range(3):
            strict.run()
    with pytest.raises(ValueError, match="on_error must be 'raise', 'skip' or 'replace'"):
        pipe(on_error="skp").build()


def test_memory_limit_still_runs(photographs):
    pipe = training(photographs, batch_size=8, num_threads=2, memory_limit=1 << 20, prefetch_queue_depth=4)
    assert [len(pipe.run()[0]) for _ in range(5)] == [8] * 5


def test_memory_does_not_grow(photographs):
    pipe = training(photographs, batch_size=8, num_threads=2)
    for _ in range(70):
        pipe.run()
    batch = 8 * (3 * 64 * 64 * 4 + 8)  # two read ahead, one in work, one in the caller's hands
    assert pipe.stats()["bytes_held"] <= 4 * batch
