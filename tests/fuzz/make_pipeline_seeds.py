# SPDX-License-Identifier: Apache-2.0
"""usage: make_pipeline_seeds.py FOLDER: writes saved pipelines and checkpoints into FOLDER/pipeline and FOLDER/checkpoint."""

import json
import sys
from pathlib import Path

import numpy as np

from penstock import fn, pipeline_def, types


@pipeline_def
def classification():
    files, labels = fn.readers.file(files=["a.jpg", "b.jpg"], name="Reader", random_shuffle=True)
    images = fn.decoders.image_random_crop(files, device="mixed")
    images = fn.resize(images, size=(64, 64))
    return fn.crop_mirror_normalize(
        images, mirror=fn.random.coin_flip(), dtype=types.FLOAT16, output_layout="CHW"
    ), labels.gpu()


@pipeline_def
def conditions():
    x = fn.external_source(name="x", layout="HWC", dtype=types.UINT8)
    n = fn.external_source(name="n", dtype=types.INT32, ndim=0)
    if n > 3:
        y = fn.flip(x, horizontal=1)
    else:
        y = fn.rotate(x, angle=fn.random.uniform(range=(-10.0, 10.0)), keep_size=True)
    for i in range(n):
        if i > 5:
            break
        y = fn.brightness_contrast(y, brightness=1.5, dtype=types.UINT8)
    while fn.reductions.mean(y) > 9:
        y = fn.cast(y // 2, dtype=types.UINT8)
    return y, n


@pipeline_def
def changed_batches():
    x, y = (fn.external_source(ndim=3) for _ in range(2))
    x, y = fn.filter(x, y, keep=fn.reductions.mean(x) > 0)
    x, y = fn.expand(x, y, k=2)
    return fn.flatten_batch(x, repeat=fn.cast(y, dtype=types.FLOAT))


@pipeline_def
def arithmetic():
    x = fn.external_source(layout="HWC", dtype=types.UINT8)
    y = fn.gaussian_blur(x, window_size=5) * np.float32([1, 2, 3]) - types.Constant(2)
    return (
        fn.cat(x, fn.slice(x, start=(0, 0), shape=(1, 1), axes=(0, 1)), axis=0),
        y[1:3, ::2],
        fn.color_twist(x, hue=20.0),
    )


def main(folder):
    folder = Path(folder)

    def write(kind, name, text):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / name).write_text(text)

    for definition in (classification, conditions, changed_batches, arithmetic):
        pipe = definition(batch_size=2, num_threads=1, device_id=0, seed=7)
        text = json.dumps(json.loads(pipe.to_json()))
        write("pipeline", definition.__name__, text)
        write("pipeline", definition.__name__ + "_graph", json.dumps(json.loads(text)["graph"]))
    # checkpoint_fuzzer.cpp puts the hash of its files in the place of 90909090909.
    state = {
        "epoch": 0,
        "consumed": 3,
        "size": 7,
        "seed": 5,
        "list_hash": 90909090909,
        "shuffle": "every_epoch",
        "stick_to_shard": False,
        "legs": [],
    }
    stuck = dict(state, shuffle="none", stick_to_shard=True, legs=[[2, 3]])
    feed = {"iteration": 1, "in_epoch": 1, "epoch": 0, "samples": 3, "feed": ""}
    for name, sources in (
        ("all", {"Reader": state, "sharded": stuck, "feed": feed}),
        ("feed", {"feed": feed}),
        ("none", {}),
    ):
        sources = {k: json.dumps(v) for k, v in sources.items()}
        write("checkpoint", name, json.dumps({"penstock_checkpoint": 2, "seed": 5, "sources": sources, "skip": 0}))


if __name__ == "__main__":
    main(sys.argv[1])
