# SPDX-License-Identifier: Apache-2.0
"""The program of DALI's README, imports and all: `python examples/seeds/overview.py FOLDER`, a folder of folders of JPEG
files. Lines between the marks are the author's. Definitions that were missing, such as `label`, are added around them."""

import sys

import torch

import penstock.dali

penstock.dali.install()

data_dir = sys.argv[1]
model = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(8), torch.nn.Flatten(), torch.nn.LazyLinear(2))
model = model.cuda() if torch.cuda.is_available() else model
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
seen = []


def loss_func(pred, y):
    assert x.shape == (128, 3, 244, 244) and x.dtype == torch.float32
    seen.extend(y.flatten().tolist())
    assert pred.shape == (128, 2) and y.shape == (128, 1)
    return torch.nn.functional.cross_entropy(pred, y.flatten().to(pred.device, torch.int64))


def backward(loss, model):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# --- the author's
from nvidia.dali.pipeline import pipeline_def
import nvidia.dali.types as types
import nvidia.dali.fn as fn
from nvidia.dali.plugin.pytorch import DALIGenericIterator


@pipeline_def(batch_size=128, num_threads=4, device_id=0)
def get_dali_pipeline(data_dir, crop_size):
    images, labels = fn.readers.file(file_root=data_dir, shuffle=True, name="Reader")
    # decode data on the GPU
    images = fn.decoders.image_random_crop(images, device="mixed", output_type=types.RGB)
    # the rest of processing happens on the GPU as well
    images = fn.resize(images, resize_x=crop_size, resize_y=crop_size)
    images = fn.crop_mirror_normalize(
        images,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        mirror=fn.random.coin_flip(),
    )
    # --- until here
    label = labels
    # --- the author's
    return images, label


train_data = DALIGenericIterator([get_dali_pipeline(data_dir, (244, 244))], ["data", "label"], reader_name="Reader")
for i, data in enumerate(train_data):
    x, y = data[0]["data"], data[0]["label"]
    pred = model(x)
    loss = loss_func(pred, y)
    backward(loss, model)
# --- until here
print(f"{len(seen)} pictures of the classes {sorted(set(seen))}")
