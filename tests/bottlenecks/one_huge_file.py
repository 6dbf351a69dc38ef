# SPDX-License-Identifier: Apache-2.0
"""One of 50 files is huge and progressive."""

import photographs
from penstock import fn, pipeline_def

VERDICT, BATCHES = "slow_samples", 15


def prepare(folder):
    photographs.write(folder, "photo", 49, 64, 48)
    photographs.write(folder, "scan", 1, 3000, 2000, progressive=True)


def follow(folder):
    photographs.write(folder, "scan", 1, 64, 48)


@pipeline_def(batch_size=10)
def images(folder):
    files, labels = fn.readers.file(file_root=folder)
    return fn.resize(fn.decoders.image(files), size=[32, 32]), labels


def pipeline(folder):
    return images(folder)
