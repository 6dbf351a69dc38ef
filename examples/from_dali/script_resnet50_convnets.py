# SPDX-License-Identifier: Apache-2.0
"""ResNet-50's pipelines as classes: a training one and a validating one, of `ops` and of `fn`, and a step of training."""

import small_data
import torch
from nvidia.dali import fn, ops, types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy

root = small_data.picture_folder(each=5)
MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]
CROP = 32


class HybridTrainPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, shard_id=0, num_shards=1, dali_cpu=True):
        super().__init__(batch_size, num_threads, device_id, seed=12 + shard_id)
        self.input = ops.readers.File(
            file_root=data_dir, shard_id=shard_id, num_shards=num_shards, random_shuffle=True, pad_last_batch=True
        )
        self.decode = ops.decoders.ImageRandomCrop(
            device="cpu" if dali_cpu else "mixed",
            output_type=types.RGB,
            random_aspect_ratio=[0.75, 4.0 / 3.0],
            random_area=[0.08, 1.0],
            num_attempts=100,
        )
        self.res = ops.Resize(device="cpu", resize_x=CROP, resize_y=CROP, interp_type=types.INTERP_TRIANGULAR)
        self.cmnp = ops.CropMirrorNormalize(
            device="cpu", dtype=types.FLOAT, output_layout=types.NCHW, crop=(CROP, CROP), mean=MEAN, std=STD
        )
        self.coin = ops.random.CoinFlip(probability=0.5)

    def define_graph(self):
        files, labels = self.input(name="Reader")
        images = self.cmnp(self.res(self.decode(files)), mirror=self.coin())
        return [images, labels]


class HybridValPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, size):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        with self:
            files, labels = fn.readers.file(
                file_root=data_dir, random_shuffle=False, pad_last_batch=True, name="Reader"
            )
            images = fn.decoders.image(files, output_type=types.RGB)
            images = fn.resize(images, resize_shorter=size, interp_type=types.INTERP_TRIANGULAR)
            images = fn.crop_mirror_normalize(
                images, dtype=types.FLOAT, output_layout=types.NHWC, crop=(CROP, CROP), mean=MEAN, std=STD
            )
            self.set_outputs(images, labels)


train = [HybridTrainPipe(2, 1, None, str(root), shard, 2) for shard in range(2)]
for pipe in train:
    pipe.build()
loader = DALIClassificationIterator(
    train, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3, 2),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(4, 2),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    seen = []
    for shards in loader:
        for data in shards:
            images, labels = data["data"], data["label"].squeeze(-1).long()
            assert images.shape[1:] == (3, CROP, CROP)
            loss = (
                torch.nn.functional.cross_entropy(model(images), labels) if len(images) else 0 * model[0].weight.sum()
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += labels.tolist()
    assert sorted(seen) == [0] * 5 + [1] * 5

loader = DALIClassificationIterator(
    HybridValPipe(4, 2, None, str(root), 40), reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
)
labels = []
for batch in loader:
    assert batch[0]["data"].shape[1:] == (CROP, CROP, 3)
    labels += batch[0]["label"].flatten().tolist()
assert labels == [0] * 5 + [1] * 5
assert torch.isfinite(loss.detach())
print("resnet-50: two shards of ten pictures trained on, ten validated in order")
