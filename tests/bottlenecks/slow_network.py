# SPDX-License-Identifier: Apache-2.0
"""A server that takes 60 ms to answer."""

import photographs
from penstock import fn, pipeline_def
from remote_server import RemoteServer

VERDICT, BATCHES, SKIPPED = "network", 20, 0  # objects are announced ahead: the first batches wait for many of them
FILES = 160  # one epoch: what was read once is not requested again


def prepare(folder):
    photographs.write(folder, "photo", FILES, 64, 48)


@pipeline_def(batch_size=8, num_threads=2)
def images(files):
    encoded, labels = fn.readers.file(files=files)
    return fn.resize(fn.decoders.image(encoded), size=[64, 64]), labels


def pipeline(folder):
    server = RemoteServer(folder, latency=0.06)
    return images([f"{server.url}/photo/{i}.jpg" for i in range(FILES)])
