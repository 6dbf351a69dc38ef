# SPDX-License-Identifier: Apache-2.0
"""A detector's training as a user published it, imports and all: `python examples/seeds/yolo.py FOLDER`, a folder with
data.tfrecord. Lines between the marks are the author's; the call's sizes and the number of epochs are smaller, and what was
undefined is filled in around them. What the text adds in comments (four GPUs, a hint, float16, debug=True) is run too."""

import sys

import penstock.dali

penstock.dali.install()

# --- the author's
from nvidia.dali import pipeline_def, fn, types
from nvidia.dali.plugin.pytorch import DALIGenericIterator
import torch

# --- until here
from nvidia.dali import tfrecord as tfrec

FOLDER = sys.argv[1]


class YOLO:
    """Stands for a detector: boxes and classes on a grid are not the topic of this program."""

    class Model(torch.nn.Sequential):
        def cuda(self):
            return super().cuda() if torch.cuda.is_available() else self

    def __init__(self, weights):
        self.model = self.Model(
            torch.nn.Conv2d(3, 4, 5, 4),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(4),
            torch.nn.Flatten(),
            torch.nn.Linear(64, 10),
        )


def compute_loss(outputs, labels):
    return torch.nn.functional.cross_entropy(outputs, labels.flatten().to(outputs.device))


# --- the author's
@pipeline_def
def create_dali_pipeline(data_dir, batch_size=64, image_size=640):
    inputs = fn.readers.tfrecord(
        path=[f"{data_dir}/data.tfrecord"],
        index_path=f"{data_dir}/index.idx",
        features={
            "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
            "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
            "image/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0),
            "image/bbox/ymin": tfrec.VarLenFeature(tfrec.float32, 0.0),
            "image/bbox/xmax": tfrec.VarLenFeature(tfrec.float32, 0.0),
            "image/bbox/ymax": tfrec.VarLenFeature(tfrec.float32, 0.0),
        },
        random_shuffle=True,
        initial_fill=2048,
    )
    images = fn.decoders.image(inputs["image/encoded"], device="gpu")
    images = fn.resize(images, size=(image_size, image_size), interp_type=types.INTERP_LINEAR)
    images = fn.flip(images, horizontal=1, probability=0.5)
    images = fn.color_space_conversion(images, image_type=types.RGB, output_type=types.BGR)
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        output_layout="CHW",
    )
    labels = inputs["image/class/label"].gpu()
    return images, labels


# --- with a folder and smaller numbers
pipe = create_dali_pipeline(data_dir=FOLDER, batch_size=8, image_size=64, device_id=0, num_threads=4)
# --- the author's
pipe.build()
dataloader = DALIGenericIterator(
    pipelines=pipe, output_map=["data", "label"], auto_reset=True, reader_name="tfrecord_reader"
)

model = YOLO("yolov8n.pt").model.cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
# --- with fewer epochs, which are counted
seen = []
for epoch in range(2):
    # --- the author's
    for batch in dataloader:
        images = batch[0]["data"]  # already on the GPU
        labels = batch[0]["label"]
        # --- until here
        assert images.shape == (8, 3, 64, 64) and images.dtype == torch.float32 and labels.shape == (8, 1)
        seen += labels.flatten().tolist()
        # --- the author's
        outputs = model(images)
        loss = compute_loss(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dataloader.reset()
# --- until here

# What the text says in its comments: the number of samples, four shards with a hint of their size, the time of each stage.
size = pipe.epoch_size()
assert list(size.values()) == [len(seen) // 2], size
print(f"{len(seen)} samples in 2 epochs of {size}")
parts = []
for rank in range(4):
    shard = create_dali_pipeline(
        data_dir=FOLDER,
        batch_size=2,
        image_size=64,
        device_id=0,
        num_threads=4,
        shard_id=rank,
        num_shards=4,
        bytes_per_sample_hint=1048576,
        debug=True,
    )
    part = DALIGenericIterator(
        pipelines=shard, output_map=["data", "label"], auto_reset=True, reader_name="tfrecord_reader"
    )
    parts.append([v for batch in part for v in batch[0]["label"].flatten().tolist()])
print(shard.stats())
assert sorted(sum(parts, [])) == sorted(seen[: len(seen) // 2]), parts
print("four shards hold each sample once")
