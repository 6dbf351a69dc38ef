# SPDX-License-Identifier: Apache-2.0
"""A video super-resolution loader: random crops of sequences, in several shards, as PyTorch's tensors."""

import os

import small_data
import torch
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin import pytorch

root = small_data.folder()
for n in range(2):
    small_data.video(root / f"{n}.mp4", 16)
films = sorted(str(root / name) for name in os.listdir(root))


@pipeline_def
def sequences(filenames, length, crop, shard_id, num_shards):
    frames = fn.readers.video(
        device="gpu",
        filenames=filenames,
        sequence_length=length,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=True,
        normalized=False,
        image_type=types.RGB,
        dtype=types.UINT8,
        initial_fill=8,
        pad_last_batch=True,
        name="Reader",
    )
    x, y = fn.random.uniform(range=[0.0, 1.0]), fn.random.uniform(range=[0.0, 1.0])
    return fn.crop_mirror_normalize(
        frames, output_layout="FCHW", dtype=types.FLOAT, crop=crop, crop_pos_x=x, crop_pos_y=y, mean=[0.0], std=[255.0]
    )


class Loader:
    def __init__(self, batch_size, length, crop, shards=2):
        pipes = [
            sequences(films, length, crop, shard, shards, batch_size=batch_size, num_threads=2, device_id=0, seed=12)
            for shard in range(shards)
        ]
        for pipe in pipes:
            pipe.build()
        self.epoch_size = pipes[0].epoch_size("Reader")
        self.loader = pytorch.DALIGenericIterator(
            pipes, ["data"], reader_name="Reader", auto_reset=True, last_batch_policy=pytorch.LastBatchPolicy.PARTIAL
        )

    def __len__(self):
        return self.epoch_size

    def __iter__(self):
        return iter(self.loader)


loader = Loader(2, 4, [32, 40])
assert len(loader) == 8
for epoch in range(2):
    seen = []
    for shards in loader:
        for batch in shards:
            data = batch["data"]
            assert data.shape[1:] == (4, 3, 32, 40) and data.dtype == torch.float32
            small = torch.nn.functional.interpolate(data.flatten(0, 1), scale_factor=0.5) if len(data) else data
            assert len(small) == 0 or small.shape[1:] == (3, 16, 20)
            seen += [small_data.film_numbers(sequence.cpu() * 255) for sequence in data]
    assert sorted(seen) == sorted([list(range(n, n + 4)) for n in (0, 4, 8, 12)] * 2)
print("super-resolution: two epochs of eight sequences from two shards")
