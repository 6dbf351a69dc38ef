# SPDX-License-Identifier: Apache-2.0
"""TFRecord, RecordIO, tar and LMDB."""

import container_files as files
import numpy as np
import pytest

from penstock import fn, tfrecord, types
from readers import Kind, halves


class Tfrecord(Kind):
    name, checked = "readers.tfrecord", True

    def write(self, folder, payloads):
        for part, numbers in enumerate(halves(payloads)):
            records = [files.example({"x": payloads[k], "label": np.array([k])}) for k in numbers]
            files.write_tfrecord(folder / f"part-{part}.tfrecord", records)

    def read(self, folder, **arguments):
        features = {
            "x": tfrecord.FixedLenFeature((), tfrecord.string, ""),
            "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
        }
        out = fn.readers.tfrecord(path=str(folder / "part-*.tfrecord"), features=features, **arguments)
        return out["x"], out["label"]


class Mxnet(Kind):
    name, checked = "readers.mxnet", False

    def write(self, folder, payloads):
        for part, numbers in enumerate(halves(payloads)):
            files.write_recordio(
                folder / f"part-{part}.rec", folder / f"part-{part}.idx", [(k, payloads[k]) for k in numbers]
            )

    def read(self, folder, **arguments):
        return fn.readers.mxnet(path=str(folder / "part-*.rec"), **arguments)


class Webdataset(Kind):
    name, checked = "readers.webdataset", False

    def write(self, folder, payloads):
        for part, numbers in enumerate(halves(payloads)):
            members = [
                (f"{k:04d}.{ext}", data)
                for k in numbers
                for ext, data in (("bin", payloads[k]), ("cls", np.int32(k).tobytes()))
            ]
            files.write_tar(folder / f"part-{part}.tar", members)

    def read(self, folder, **arguments):
        return fn.readers.webdataset(
            paths=str(folder / "part-*.tar"),
            ext=["bin", "cls"],
            dtypes=[types.UINT8, types.INT32],
            missing_component_behavior="error",
            **arguments,
        )


def write_lmdb(folder, records):
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(folder), map_size=1 << 30) as database, database.begin(write=True) as transaction:
        for k, record in enumerate(records):
            transaction.put(b"%08d" % k, record)


class Lmdb(Kind):
    """Values and keys; small ones are in the tree's pages, large ones in pages of their own."""

    name, checked = "readers.lmdb", False

    def write(self, folder, payloads):
        write_lmdb(folder, [p * 30 for p in payloads])

    def read(self, folder, **arguments):
        value, key = fn.readers.lmdb(path=str(folder), with_keys=True, **arguments)
        return value, key

    def label(self, key):
        return int(key.tobytes())

    def payload(self, value):
        return value[: len(value) // 30]


class Caffe(Kind):
    name, checked = "readers.caffe", False

    def write(self, folder, payloads):
        write_lmdb(folder, [files.caffe_datum(p, k) for k, p in enumerate(payloads)])

    def read(self, folder, **arguments):
        return fn.readers.caffe(path=str(folder), **arguments)


class Caffe2(Kind):
    name, checked = "readers.caffe2", False

    def write(self, folder, payloads):
        write_lmdb(folder, [files.caffe2_record(p, np.int32([k])) for k, p in enumerate(payloads)])

    def read(self, folder, **arguments):
        return fn.readers.caffe2(path=str(folder), **arguments)
