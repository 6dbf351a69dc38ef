# SPDX-License-Identifier: Apache-2.0
"""A disk that takes 5 ms for each read (slow_disk.c)."""

import photographs
from penstock import fn, pipeline_def

VERDICT, BATCHES, SLOW_DISK = "disk", 12, True


def prepare(folder):
    photographs.write(folder, "photo", 16, 320, 240)


@pipeline_def(batch_size=8, num_threads=2)
def images(folder):
    files, labels = fn.readers.file(file_root=folder)
    return fn.resize(fn.decoders.image(files), size=[64, 64]), labels


def pipeline(folder):
    return images(folder)
