# SPDX-License-Identifier: Apache-2.0
"""Damaged containers of records through their readers."""

import os

import numpy as np
from attempts import Attempts, Wrong


def make(folder):
    """Writes the whole files. Needs Pillow."""
    import container_files
    import fits_files
    from whole_pictures import photograph, saved

    pictures = [saved(photograph(20 + k, 30), "JPEG") for k in range(4)]
    values = np.arange(240, dtype=np.float32).reshape(4, 6, 10)
    np.save(folder / "npy.npy", values)
    np.save(folder / "npy_fortran.npy", np.asfortranarray(values.astype(np.int16)))
    (folder / "fits.fits").write_bytes(fits_files.file(fits_files.hdu(first=True), fits_files.hdu(values.astype("i4"))))
    (folder / "fits_rice.fits").write_bytes(fits_files.ASTROPY_COMPRESSED)
    records = [
        container_files.example({"data": picture, "label": np.int64([k, 7]), "real": np.float32([0.5 * k])})
        for k, picture in enumerate(pictures)
    ]
    container_files.write_tfrecord(folder / "tfrecord.tfrecord", records)
    container_files.write_recordio(
        folder / "recordio.rec", os.devnull, [(k, picture) for k, picture in enumerate(pictures)]
    )
    container_files.write_tar(
        folder / "tar.tar",
        [
            (f"{k}.{end}", data)
            for k, picture in enumerate(pictures)
            for end, data in (("jpg", picture), ("cls", b"%d" % k))
        ],
    )


class Containers(Attempts):
    WAYS = ("reader", "reader_skip")
    OPERATORS = {
        way: ["readers.numpy", "readers.fits", "readers.tfrecord", "readers.mxnet", "readers.webdataset"]
        for way in WAYS
    }

    def __init__(self, folder, kinds):
        super().__init__(folder, kinds)
        os.environ["PENSTOCK_CACHE"] = str(self.own.name)  # indexes that readers make

    def outputs(self, path, turn):
        from penstock import fn, tfrecord

        paths, ending = [str(path), str(self.paths[self.kind])], path.suffix
        if ending == ".npy":
            return fn.readers.numpy(files=paths)
        if ending == ".fits":
            return fn.readers.fits(files=paths)
        if ending == ".tfrecord":
            return tuple(
                fn.readers.tfrecord(
                    path=paths,
                    check_crc=turn // 3 % 2 == 0,
                    features={
                        "data": tfrecord.FixedLenFeature((), tfrecord.string, ""),
                        "label": tfrecord.VarLenFeature([2], tfrecord.int64, 0),
                        "real": tfrecord.FixedLenFeature([1], tfrecord.float32, 0.0),
                    },
                ).values()
            )
        if ending == ".rec":
            return tuple(fn.readers.mxnet(path=paths))
        return tuple(fn.readers.webdataset(paths=paths, ext=["jpg", "cls"]))

    def read(self, bad, turn, on_error):
        from penstock import pipeline_def

        path = self.stored(bad, turn)
        skipped, counted = False, 0
        try:

            @pipeline_def(batch_size=2, num_threads=2 + turn % 3, prefetch_queue_depth=1, on_error=on_error)
            def pipeline():
                return self.outputs(path, turn)

            pipe = pipeline()
            for _ in range(4):
                try:
                    batches = pipe.run()
                except StopIteration:
                    break
                skipped |= len(batches[0]) < 2
                counted += len(batches[0])
                for batch in batches:
                    for sample in batch:
                        array = np.asarray(sample)
                        if array.nbytes > 1 << 30:
                            raise Wrong(f"{array.dtype} {array.shape}")
            pipe.close()
        finally:
            for made in os.scandir(self.own.name):
                if made.is_file() and made.path != str(path):
                    os.unlink(made.path)
        if not counted:
            raise Wrong("no sample at all")
        return "skipped" if skipped else "decoded"

    def reader(self, bad, turn):
        return self.read(bad, turn, "raise")

    def reader_skip(self, bad, turn):
        return self.read(bad, turn, "skip")
