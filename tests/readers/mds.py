# SPDX-License-Identifier: Apache-2.0
"""MDS shards."""

import mds_files

from penstock import fn
from readers import Kind, halves


class Mds(Kind):
    name, checked = "readers.mds", False

    def write(self, folder, payloads):
        shards = [[{"x": payloads[k], "label": k} for k in numbers] for numbers in halves(payloads)]
        mds_files.write(folder, {"x": "bytes", "label": "int"}, shards)

    def read(self, folder, **arguments):
        return fn.readers.mds(path=str(folder), columns=["x", "label"], **arguments)
