# SPDX-License-Identifier: Apache-2.0
"""What several GPUs do, on one CPU: each pipeline reads its shard; together they read all, and each gets another part in each epoch."""

from pathlib import Path

import small_data
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy

root = small_data.picture_folder(classes="abc", each=4)  # 12 pictures
SHARDS = 2


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def sharded(shard_id, stick_to_shard):
    files, labels = fn.readers.file(
        file_root=str(root),
        shard_id=shard_id,
        num_shards=SHARDS,
        stick_to_shard=stick_to_shard,
        pad_last_batch=True,
        name="reader",
    )
    return fn.get_property(files, key="source_info"), labels


def names(pipe, batches=3):
    seen = []
    for _ in range(batches):
        paths, _ = pipe.run()
        seen += ["/".join(Path(bytes(paths.at(i)).decode()).parts[-2:]) for i in range(2)]
    return seen


everything = {f"{c}/{i}.jpg" for c in "abc" for i in range(4)}
pipes = [sharded(shard, False) for shard in range(SHARDS)]
for pipe in pipes:
    pipe.build()
    meta = pipe.reader_meta("reader")
    assert meta["epoch_size"] == 12 and meta["number_of_shards"] == SHARDS and not meta["stick_to_shard"]
first, second = ([set(names(pipe)) for pipe in pipes] for _ in range(2))
assert first[0] | first[1] == everything and not first[0] & first[1]
assert second == first[::-1]  # the shards change places after an epoch
stuck = sharded(1, True)
stuck.build()
assert set(names(stuck)) == set(names(stuck)) == first[1]
assert [p.name for p in LastBatchPolicy] == ["FILL", "DROP", "PARTIAL"]
print("shards: two pipelines read twelve pictures, each epoch the other half")
