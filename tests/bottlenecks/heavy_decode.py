# SPDX-License-Identifier: Apache-2.0
"""Pictures of 1600 x 1200 of which 64 x 64 pixels are used."""

import photographs
from penstock import fn, pipeline_def

VERDICT, BATCHES = "decoding", 6


def prepare(folder):
    photographs.write(folder, "photo", 4, 1600, 1200)


@pipeline_def(batch_size=4, entropy_index="off")
def images(folder):
    files, labels = fn.readers.file(file_root=folder)
    pictures = fn.decoders.image(files)
    return fn.resize(pictures, size=[64, 64]), labels


def pipeline(folder):
    return images(folder)
