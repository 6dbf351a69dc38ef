# SPDX-License-Identifier: Apache-2.0
"""Random pipelines that read files: every reader of records, files, arrays and annotations, with shards, shuffles and damaged files, in
front of operators of both devices. A GPU gives the CPU's batches, and ends in its error.

Programs of operators without readers are in test_random_programs_on_a_gpu.py.
"""

import os
import random

import annotation_files
import bad_samples
import numpy as np
import pytest
import readers
from device_runs import error_of, executor, told_of

from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

KINDS = readers.kinds()
LONG = "PENSTOCK_TEST_COUNT" in os.environ
COUNT = 1000 if LONG else len(KINDS) + 3
ITERATIONS = 5
# What these kinds hold is not what they are given, byte for byte.
ARRAYS = ("lmdb", "hdf5", "zarr", "nifti", "dicom")


def payloads(seed):
    """Pictures, of which every sixth is damaged."""
    rng = random.Random(seed)
    files = [rng.choice(bad_samples.GOOD) for _ in range(13)]
    return [f[: len(f) // 2] if k % 6 == 5 else f for k, f in enumerate(files)]


def write_files(folder, files):
    for k, file in enumerate(files):
        (folder / "ab"[k % 2]).mkdir(exist_ok=True)
        (folder / "ab"[k % 2] / f"{k:02}.jpg").write_bytes(file)


def write_arrays(folder, files):
    for k, file in enumerate(files):
        np.save(folder / f"{k:02}.npy", np.frombuffer(file, np.uint8)[: 30 * k].reshape(-1, 3 if k % 2 else 2)[::2])


def write_annotations(folder, files):
    annotation_files.coco(folder)


def read_annotations(folder, **arguments):
    return fn.readers.coco(
        file_root=str(folder / "images"), annotations_file=str(folder / "coco.json"), polygon_masks=True, **arguments
    )


WRITERS = {"file": write_files, "numpy": write_arrays, "coco": write_annotations}
READERS = {
    "file": lambda folder, **arguments: fn.readers.file(file_root=str(folder), **arguments),
    "numpy": lambda folder, **arguments: fn.readers.numpy(file_root=str(folder), file_filter="*.npy", **arguments),
    "coco": read_annotations,
}
PICTURES = [name for name in [*KINDS, "file", "coco"] if name not in ARRAYS]
NAMES = [*KINDS, *WRITERS]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A data set for each reader."""
    made = {}
    for number, name in enumerate(NAMES):
        made[name] = tmp_path_factory.mktemp(name)
        given = payloads(number) if name in PICTURES or name == "numpy" else [readers.payload(k) for k in range(13)]
        (WRITERS[name] if name in WRITERS else KINDS[name].write)(made[name], given)
    return made


# What follows the bytes of a picture, and other arrays.
AFTER_DECODING = [
    lambda x: x,
    lambda x: fn.resize(x, size=[14, 9]),
    bad_samples.cropped,
    lambda x: fn.crop_mirror_normalize(
        fn.resize(x, resize_shorter=12),
        crop=[8, 8],
        mirror=fn.random.coin_flip(),
        mean=[100, 120, 90],
        dtype=types.FLOAT,
    ),
    lambda x: fn.median_blur(x, window_size=3),
    lambda x: fn.rotate(x, angle=fn.random.uniform(range=(-30, 30))),
]
AFTER_READING = [lambda x: x, lambda x: fn.cast(x, dtype=types.FLOAT) * 0.5 + 1, lambda x: fn.pad(x, fill_value=7)]


def pipeline(name, folder, rng, on_gpu, **options):
    arguments = {"name": "reader", "random_shuffle": rng.random() < 0.5, "pad_last_batch": rng.random() < 0.3}
    if rng.random() < 0.4:
        arguments |= {"num_shards": 2, "shard_id": rng.randrange(2), "stick_to_shard": rng.random() < 0.5}
    decodes = name in PICTURES and rng.random() < 0.8
    after = rng.choice(AFTER_DECODING if decodes else AFTER_READING)
    early, late = rng.random() < 0.5, rng.random() < 0.5  # where an array goes to the GPU
    options = {
        "batch_size": rng.choice([1, 2, 3, 5, 20]),
        "num_threads": rng.choice([1, 2]),
        "prefetch_queue_depth": rng.choice([1, 2, 3]),
        "on_error": rng.choice(["raise", "skip", "replace", "replace"]),
        "seed": rng.randrange(1000),
        **options,
    }

    def moved(x, yes):
        return x.gpu() if on_gpu and yes else x

    @pipeline_def(device_id=0 if on_gpu else None, **options)
    def pipe():
        read = READERS[name] if name in READERS else KINDS[name].read
        x, *labels = read(folder, **arguments) if name != "numpy" else [read(folder, **arguments)]
        if decodes:
            x = fn.decoders.image(x, device="mixed" if on_gpu else "cpu")
        x = moved(after(moved(x, early and not decodes)), late and not decodes and not early)
        return (x, *[moved(y, late) for y in labels])

    return pipe()


def told(name, folder, seed, on_gpu, mode="", resume=None):
    batches = []
    with executor(mode):
        try:
            pipe = pipeline(name, folder, random.Random(seed), on_gpu)
        except Exception as error:
            return [error_of(error)]
        try:
            for k in range(ITERATIONS):
                if k == resume and not any(b[0] == "error" for b in batches):
                    state = pipe.checkpoint()
                    pipe.close()
                    pipe = pipeline(name, folder, random.Random(seed), on_gpu, checkpoint=state)
                try:
                    batches.append(told_of(pipe.run()))
                except Exception as error:
                    batches.append(error_of(error))
            if resume is None and pipe.definition.built:
                batches.append([(left.epoch, left.position, left.message) for left in pipe.left_out()])
        finally:
            pipe.close()
    return batches


def test_random_readers(folders, monkeypatch):
    monkeypatch.setenv("PENSTOCK_KERNELS", "generic")
    for seed in range(COUNT):
        name = NAMES[seed % len(NAMES)]
        plain = told(name, folders[name], seed, False)
        ways = {"GPU": {}, "GPU, resumed": {"resume": 1 + seed % 3}}
        if LONG or seed % 3 == 0:
            ways["GPU, step by step"] = {"mode": "simple"}
        for way, how in ways.items():
            got = told(name, folders[name], seed, True, **how)
            assert got == plain[: len(got)], (name, way, seed)
