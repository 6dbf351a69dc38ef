# SPDX-License-Identifier: Apache-2.0
"""One training loop for four containers; index files made by DALI's commands."""

import subprocess
import sys

import numpy as np
import small_data
from container_files import caffe_datum, example, write_recordio, write_tfrecord
from nvidia.dali import fn, pipeline_def
from nvidia.dali import tfrecord as tfrec
from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

root = small_data.folder()
files = [small_data.encoded(small_data.picture(n)) for n in range(6)]
write_tfrecord(
    root / "a.tfrecord",
    [example({"image/encoded": f, "image/class/label": np.array([n])}) for n, f in enumerate(files)],
)
write_recordio(root / "a.rec", root / "a.lst.idx", list(enumerate(files)))
for command, source, index in (("tfrecord2idx", "a.tfrecord", "a.tfrecord.idx"), ("rec2idx", "a.rec", "a.rec.idx")):
    subprocess.run(
        [sys.executable, "-m", "penstock.dali", command, root / source, root / index], check=True, capture_output=True
    )
(root / "folder").mkdir()
for n, f in enumerate(files):
    (root / "folder" / str(n)).mkdir()
    (root / "folder" / str(n) / "only.jpg").write_bytes(f)

import lmdb  # noqa: E402

with lmdb.open(str(root / "caffe"), map_size=1 << 24) as database, database.begin(write=True) as transaction:
    for n, f in enumerate(files):
        transaction.put(b"%08d" % n, caffe_datum(f, n))


def of_tfrecord():
    read = fn.readers.tfrecord(
        path=str(root / "a.tfrecord"),
        index_path=str(root / "a.tfrecord.idx"),
        name="Reader",
        features={
            "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
            "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
        },
    )
    return read["image/encoded"], read["image/class/label"]


READERS = {
    "folder": lambda: fn.readers.file(file_root=str(root / "folder"), name="Reader"),
    "tfrecord": of_tfrecord,
    "recordio": lambda: fn.readers.mxnet(
        path=[str(root / "a.rec")], index_path=[str(root / "a.rec.idx")], name="Reader"
    ),
    "caffe": lambda: fn.readers.caffe(path=str(root / "caffe"), name="Reader"),
}


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def of(reader):
    encoded, labels = reader()
    return fn.resize(fn.decoders.image(encoded), size=(16, 16)), labels


first = {}
for name, reader in READERS.items():
    loader = DALIGenericIterator(
        of(reader), ["data", "label"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
    )
    batches = [(b[0]["data"].clone(), b[0]["label"].flatten().tolist()) for b in loader]
    assert [int(n) for _, labels in batches for n in labels] == list(range(6)), name
    first[name] = batches[0][0]
    assert (first[name] == first["folder"]).all(), name
print(f"pytorch readers: six pictures from {', '.join(READERS)}, the same pixels")
