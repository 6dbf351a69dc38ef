# SPDX-License-Identifier: Apache-2.0
"""A folder of small pictures, some of which take many times as long to decode as the others; and pipelines over it.

python tests/late_folder.py FOLDER FILE    # writes the labels and the checkpoint of each batch to FILE until it is killed
"""

import itertools
import json
import os
import pathlib
import sys

import numpy as np
from PIL import Image

from penstock import fn, pipeline_def

COUNT, EVERY = 61, 20  # files; one in so many is large


def write(folder, count=COUNT, large=400):
    """Files 0000.png, 0001.png and so on; each has its number as the color of all its pixels."""
    for i in range(count):
        size = large if i % EVERY == 3 else 6
        pixels = np.random.default_rng(i).integers(0, 256, (size, size, 3), np.uint8)
        Image.fromarray(pixels).save(pathlib.Path(folder, f"{i:04}.png"), compress_level=1)


@pipeline_def
def pictures(folder, device="cpu", damaged=(), **reader):
    """Small pictures and numbers drawn, with the labels, which are the files' numbers."""
    files = [os.path.join(folder, f"{i:04}.png") for i in range(len(list(pathlib.Path(folder).glob("*.png"))))]
    encoded, label = fn.readers.file(files=files, labels=list(range(len(files))), name="reader", **reader)
    small = fn.resize(fn.decoders.image(encoded), size=[5, 4])
    drawn = fn.random.uniform(range=[0.0, 1.0], shape=[2])
    if device == "gpu":
        small = small.gpu() + 1
    return small, label, drawn


def epochs_of(pipe, cut):
    """(label, pixels, numbers drawn, name of the file) of each sample, in lists by batch, without end."""
    pipe._set_epoch_mode(cut)
    while True:
        batch = [b.cpu() if hasattr(b, "cpu") else b for b in pipe.run()]
        yield [
            (int(np.asarray(label).ravel()[0]), np.asarray(x).tobytes(), np.asarray(drawn).tobytes(), x.source_info())
            for x, label, drawn in zip(*batch)
        ]


def labels_of(batch):
    return [sample[0] for sample in batch]


if __name__ == "__main__":
    folder, out = sys.argv[1:]
    pipe = pictures(folder, batch_size=8, num_threads=2, seed=1, late="swap", random_shuffle=True)
    for batch in itertools.islice(epochs_of(pipe, "partial"), 10_000):
        with open(out + ".new", "w") as file:
            json.dump([labels_of(batch), pipe.checkpoint().decode()], file)
        os.replace(out + ".new", out)
        print(json.dumps(labels_of(batch)), flush=True)
        sys.stdin.readline()
