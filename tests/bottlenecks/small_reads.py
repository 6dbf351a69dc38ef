# SPDX-License-Identifier: Apache-2.0
"""A file for each sample of 200 bytes."""

import container_files
from penstock import fn, pipeline_def

VERDICT, BATCHES = "small_reads", 60
COUNT = 1200


def prepare(folder):
    (folder / "many").mkdir()
    for i in range(COUNT):
        (folder / "many" / f"{i:05d}.bin").write_bytes(bytes([i % 256]) * 200)


@pipeline_def(batch_size=64)
def values(folder):
    data, labels = fn.readers.file(file_root=folder, file_filters=["*.bin"])
    return data


def follow(folder):
    parts = [(f"{i:05d}.bin", bytes([i % 256]) * 200) for i in range(COUNT)]
    container_files.write_tar(folder / "all.tar", parts)


@pipeline_def(batch_size=64)
def packed(folder):
    return fn.readers.webdataset(paths=str(folder / "all.tar"), ext="bin")


def pipeline(folder):
    return packed(folder) if (folder / "all.tar").exists() else values(folder)
