# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 by `pipeline_def`: one function for training and validation, arguments of a command line, epochs that are reset."""

import argparse

import small_data
import torch
from nvidia.dali import fn, types
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--dali_cpu", action="store_true", default=True)
options, _ = parser.parse_known_args([])
train_folder, val_folder = small_data.picture_folder(each=5), small_data.picture_folder(each=3)


@pipeline_def(exec_dynamic=True)
def create_dali_pipeline(data_dir, crop, size, shard_id, num_shards, dali_cpu=False, is_training=True):
    images, labels = fn.readers.file(
        file_root=data_dir,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=is_training,
        pad_last_batch=True,
        name="Reader",
    )
    dali_device, decoder_device = ("cpu", "cpu") if dali_cpu else ("gpu", "mixed")
    if is_training:
        images = fn.decoders.image_random_crop(
            images,
            device=decoder_device,
            output_type=types.RGB,
            random_aspect_ratio=[0.8, 1.25],
            random_area=[0.1, 1.0],
            num_attempts=100,
            preallocate_width_hint=0 if dali_cpu else 5980,
        )
        images = fn.resize(images, resize_x=crop, resize_y=crop, interp_type=types.INTERP_TRIANGULAR)
        mirror = fn.random.coin_flip(probability=0.5)
    else:
        images = fn.decoders.image(images, device=decoder_device, output_type=types.RGB)
        images = fn.resize(images, size=size, mode="not_smaller", interp_type=types.INTERP_TRIANGULAR)
        mirror = False
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(crop, crop),
        mirror=mirror,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
    )
    return images, labels


def loader(folder, training):
    pipe = create_dali_pipeline(
        batch_size=options.batch_size,
        num_threads=options.workers,
        device_id=None,
        seed=12,
        data_dir=str(folder),
        crop=32,
        size=40,
        dali_cpu=options.dali_cpu,
        shard_id=0,
        num_shards=1,
        is_training=training,
    )
    pipe.build()
    return DALIClassificationIterator(
        pipe, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )


train_loader, val_loader = loader(train_folder, True), loader(val_folder, False)
model = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), torch.nn.Linear(48, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(2):
    count = 0
    for data in train_loader:
        images, target = data[0]["data"], data[0]["label"].squeeze(-1).long()
        assert images.shape[1:] == (3, 32, 32) and torch.isfinite(images).all()
        loss = torch.nn.functional.cross_entropy(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count += len(images)
    with torch.no_grad():
        answers = [(model(d[0]["data"]).argmax(1), d[0]["label"].flatten()) for d in val_loader]
    assert count == 10 and torch.cat([t for _, t in answers]).tolist() == [0] * 3 + [1] * 3
assert len(train_loader) == 3 and len(val_loader) == 2
print("resnet-50 main: two epochs of ten pictures, each validated with six")
