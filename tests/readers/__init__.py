# SPDX-License-Identifier: Apache-2.0
"""How the generic tests of readers (test_containers.py) write and read the files of each reader: a file of this folder for each
reader or family of readers. All files of this folder are found automatically, and each class that derives from Kind is tested."""

import importlib
import os
import pkgutil

import numpy as np


def payload(k):
    return np.random.default_rng(k).integers(0, 256, 40 + 13 * k, np.uint8).tobytes()


def halves(payloads):
    """The numbers of the payloads of the first file, and of the second one, which has more of them."""
    cut = len(payloads) // 3
    return range(cut), range(cut, len(payloads))


class Kind:
    """write() makes the files of a folder; read() returns the nodes of payload and label, the payload's number."""

    name = ""  # of the operator
    grouped = False  # a shuffle is one of groups, and ranks get contiguous parts of it
    checked = False  # the format has checksums: a flipped bit in a payload is an error

    def write(self, folder, payloads):
        raise NotImplementedError

    def read(self, folder, **arguments):
        raise NotImplementedError

    def label(self, label):
        return int(label.ravel()[0])

    def payload(self, value):
        return value

    def file(self, folder):
        """The file that holds payload 5, and a byte inside that payload."""
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            at = open(path, "rb").read().find(payload(5)) if os.path.isfile(path) else -1
            if at >= 0:
                return path, at + 10
        raise AssertionError("payload 5 is in no file")


def kinds():
    """Name of a kind, as "tfrecord" -> the kind."""
    for found in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        importlib.import_module(f"{__name__}.{found.name}")
    return {kind.__name__.lower(): kind() for kind in Kind.__subclasses__()}
