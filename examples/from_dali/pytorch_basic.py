# SPDX-License-Identifier: Apache-2.0
"""A folder of pictures as PyTorch's batches: whole epochs, a last batch that is smaller, padded or dropped."""

import small_data
import torch
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, DALIGenericIterator, LastBatchPolicy

root = small_data.picture_folder(each=5)  # 10 pictures


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=12)
def training():
    files, labels = fn.readers.file(file_root=str(root), random_shuffle=True, pad_last_batch=True, name="Reader")
    images = fn.decoders.image_random_crop(files, output_type=types.RGB)
    images = fn.resize(images, resize_x=32, resize_y=32)
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, mean=[128.0] * 3, std=[64.0] * 3, mirror=fn.random.coin_flip()
    )
    return images, labels


sizes = {}
for policy in LastBatchPolicy.FILL, LastBatchPolicy.PARTIAL, LastBatchPolicy.DROP:
    loader = DALIGenericIterator(
        training(), ["data", "label"], reader_name="Reader", last_batch_policy=policy, auto_reset=True
    )
    for epoch in range(2):
        sizes[policy] = []
        for batch in loader:
            images, labels = batch[0]["data"], batch[0]["label"]
            assert (
                images.shape[1:] == (3, 32, 32) and images.dtype == torch.float32 and labels.shape == (len(images), 1)
            )
            assert set(labels.flatten().tolist()) <= {0, 1} and images.abs().max() <= 2
            sizes[policy].append(len(images))
assert list(sizes.values()) == [[4, 4, 4], [4, 4, 2], [4, 4]]

loader = DALIClassificationIterator(training(), reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL)
seen = [n for batch in loader for n in batch[0]["label"].flatten().tolist()]
assert sorted(seen) == [0] * 5 + [1] * 5 and len(loader) == 3
print("pytorch: ten pictures in batches of four, by three policies")
