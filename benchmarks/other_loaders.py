# SPDX-License-Identifier: Apache-2.0
"""Images a second of torchdata, SPDL, webdataset and Hugging Face datasets beside Penstock, in turns in one run.

JPEG files are decoded and resized to 224 x 224, in batches of 32 on two threads or on one. The libraries decode by Pillow,
as their own pages do; in SPDL's row the function is `fn.decoders.image`.

usage: python benchmarks/other_loaders.py [FOLDERS...]    # where the libraries are: .venv/loaders .venv/transformers
"""

import io
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

COUNT, BATCH, TURNS = 512, 32, 3


def pillow(data):
    import numpy as np
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((224, 224), Image.BILINEAR))


def batches_of(values):
    import numpy as np

    values = list(values)
    return [np.stack(values[k : k + BATCH]) for k in range(0, len(values), BATCH)]


def decode_of(read):
    """The pipeline of Penstock over a reader."""
    from penstock import fn, pipeline_def

    @pipeline_def(batch_size=BATCH, num_threads=2)
    def pipeline():
        return fn.resize(fn.decoders.image(read(fn)), size=[224, 224])

    return pipeline()


def penstock_rows(folder, table):
    def rate(read):
        pipe = decode_of(read)

        def run():
            for _ in range(COUNT // BATCH):
                pipe.run()

        return run

    yield "files", rate(lambda fn: fn.readers.file(file_root=str(folder / "photos"), name="reader")[0])
    yield "tar", rate(lambda fn: fn.readers.webdataset(paths=[str(folder / "photos.tar")], ext=["jpg"], name="reader"))
    yield "table", rate(lambda fn: fn.readers.arrow(table, columns=["image"], name="reader"))


def other_rows(folder, table):
    """(library, its program, the row of Penstock that it stands beside)"""
    import webdataset
    from spdl.pipeline import PipelineBuilder
    from torchdata import nodes

    import numpy as np
    from penstock import fn

    files = sorted((folder / "photos").rglob("*.jpg"))

    def torchdata():
        read = nodes.IterableWrapper(files)
        batches_of(nodes.Loader(nodes.ParallelMapper(read, lambda p: pillow(p.read_bytes()), 2, method="thread")))

    def spdl(decode):
        pipe = PipelineBuilder().add_source(files).pipe(decode, concurrency=2).aggregate(BATCH).add_sink(2)
        pipeline = pipe.build(num_threads=2)
        with pipeline.auto_stop():
            for batch in pipeline:
                np.stack([np.asarray(x) for x in batch])

    def tar():
        batches_of(pillow(s["jpg"]) for s in webdataset.WebDataset(str(folder / "photos.tar"), shardshuffle=False))

    def hugging_face():
        batches_of(pillow(table[k]["image"]) for k in range(COUNT))

    yield "torchdata, `ParallelMapper` on 2 threads", torchdata, "files"
    yield "SPDL with Pillow, 2 threads", lambda: spdl(lambda p: pillow(p.read_bytes())), "files"
    yield (
        "SPDL with `fn.decoders.image`, 2 threads",
        lambda: spdl(lambda p: fn.resize(fn.decoders.image(np.fromfile(p, np.uint8)), size=[224, 224])),
        "files",
    )
    yield "webdataset, one process", tar, "tar"
    yield "datasets, `dataset[i]`, one process", hugging_face, "table"


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    sys.path[:0] = sys.argv[1:]
    import numpy as np
    import webdataset
    from datasets import Dataset
    from PIL import Image

    with tempfile.TemporaryDirectory() as made:
        folder, random = Path(made), np.random.default_rng(3)
        (folder / "photos" / "a").mkdir(parents=True)
        data = []
        for k in range(COUNT):
            small = Image.fromarray(random.integers(0, 256, (24, 32, 3), np.uint8))
            path = folder / "photos" / "a" / f"{k:04}.jpg"
            small.resize((500, 375), Image.BICUBIC).save(path, quality=90)
            data.append(path.read_bytes())
        with webdataset.TarWriter(str(folder / "photos.tar")) as tar:
            for k, content in enumerate(data):
                tar.write({"__key__": f"{k:04}", "jpg": content})
        table = Dataset.from_dict({"image": data})
        ours = dict(penstock_rows(folder, table))
        for name, run, beside in other_rows(folder, table):
            ours[beside](), run()  # what is loaded once
            pairs = [(seconds(run), seconds(ours[beside])) for _ in range(TURNS)]
            other, own = (statistics.median(COUNT / t for t in times) for times in zip(*pairs))
            ratio = statistics.median(a / b for a, b in pairs)
            print(f"| {name} | {other:.0f} | {own:.0f} | {ratio:.1f} |", flush=True)
        print(f"load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
