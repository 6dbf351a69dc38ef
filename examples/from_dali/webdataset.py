# SPDX-License-Identifier: Apache-2.0
"""Pictures and numbers from tar files, with an index and without, in shards, with parts that are missing."""

import numpy as np
import small_data
from container_files import write_tar
from nvidia.dali import fn, pipeline_def, types

root = small_data.folder()
for part in range(2):
    members = []
    for n in range(4 * part, 4 * part + 4):
        members += [(f"{n:04}.png", small_data.encoded(small_data.picture(n), ".png")), (f"{n:04}.cls", bytes([n]))]
        members += [(f"{n:04}.txt", b"even")] if n % 2 == 0 else []
    write_tar(root / f"{part}.tar", members, index=root / f"{part}.idx")
tars = [str(root / f"{n}.tar") for n in range(2)]


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def read(indices, shard, shards):
    files, label, text = fn.readers.webdataset(
        paths=tars,
        index_paths=indices,
        ext=["png;jpg", "cls", "txt"],
        missing_component_behavior="empty",
        shard_id=shard,
        num_shards=shards,
        name="reader",
    )
    return fn.decoders.image(files), label, text


for indices in ([str(root / f"{n}.idx") for n in range(2)], None):
    seen = []
    for shard in range(2):
        pipe = read(indices, shard, 2)
        pipe.build()
        assert pipe.epoch_size("reader") == 8
        images, labels, texts = pipe.run()
        for i in range(4):
            n = int(labels.at(i)[0])
            assert (images.at(i) == small_data.picture(n)).all()
            assert bytes(texts.at(i)) == (b"even" if n % 2 == 0 else b"")
            seen.append(n)
    assert seen == list(range(8))
print("webdataset: two tar files in two shards, with index files and without")
