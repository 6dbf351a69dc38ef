# SPDX-License-Identifier: Apache-2.0
"""The same pictures and labels from TFRecord, RecordIO and tar files and from folders."""

import numpy as np
import small_data
from container_files import example, write_recordio, write_tar, write_tfrecord
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali import tfrecord as tfrec

root = small_data.folder()
files = [small_data.encoded(small_data.picture(n)) for n in range(6)]
write_tfrecord(
    root / "a.tfrecord",
    [example({"image": f, "label": np.array([n]), "box": np.float32([n, n + 1])}) for n, f in enumerate(files)],
    root / "a.idx",
)
write_recordio(root / "a.rec", root / "rec.idx", list(enumerate(files)))
write_tar(
    root / "a.tar", [m for n, f in enumerate(files) for m in ((f"{n}.jpg", f), (f"{n}.cls", np.int32(n).tobytes()))]
)
(root / "list.txt").write_text("".join(f"{n}.jpg {n}\n" for n in range(6)))
for n, f in enumerate(files):
    (root / f"{n}.jpg").write_bytes(f)


@pipeline_def(batch_size=6, num_threads=2, device_id=None)
def all_readers():
    record = fn.readers.tfrecord(
        path=str(root / "a.tfrecord"),
        index_path=str(root / "a.idx"),
        features={
            "image": tfrec.FixedLenFeature((), tfrec.string, ""),
            "label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
            "box": tfrec.FixedLenFeature([2], tfrec.float32, 0.0),
            "absent": tfrec.VarLenFeature(tfrec.int64, 0),
        },
    )
    mxnet, mxnet_label = fn.readers.mxnet(path=[str(root / "a.rec")], index_path=[str(root / "rec.idx")])
    tar, tar_label = fn.readers.webdataset(paths=str(root / "a.tar"), ext=["jpg", "cls"])
    listed, listed_label = fn.readers.file(file_root=str(root), file_list=str(root / "list.txt"))
    images = [fn.decoders.image(f) for f in (record["image"], mxnet, tar, listed)]
    labels = [record["label"], mxnet_label, fn.reinterpret(tar_label, dtype=types.INT32), listed_label]
    return *images, *labels, record["box"]


pipe = all_readers()
pipe.build()
outs = pipe.run()
for i in range(6):
    images, labels = [out.at(i) for out in outs[:4]], [float(out.at(i)[0]) for out in outs[4:8]]
    assert labels == [i] * 4 and outs[8].at(i).tolist() == [i, i + 1]
    assert np.abs(images[0].astype(int) - small_data.picture(i)).mean() < 3
    assert all((image == images[0]).all() for image in images[1:])
print("record readers: six pictures from four kinds of files, the same pixels")
