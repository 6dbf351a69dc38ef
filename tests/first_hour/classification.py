# SPDX-License-Identifier: Apache-2.0
"""The first hour of a user of torchvision: a folder of classes, weights, a subset, a training step."""

import sys

import torch

import penstock

folder = sys.argv[1]
train = penstock.image_folder(folder, batch_size=4, size=32, augment="rand_augment", sampler="balanced")
val = penstock.image_folder(folder, batch_size=4, size=32, training=False, limit=6)
print(train, train.classes, train.class_to_idx)
print(train.program)
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, len(train.classes)))
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
for batch in train:
    loss = torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("correct", sum((model(b["image"]).argmax(1) == b["label"]).sum().item() for b in val), "of 6")
