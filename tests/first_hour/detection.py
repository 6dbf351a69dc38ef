# SPDX-License-Identifier: Apache-2.0
"""The first hour of a user of Albumentations: boxes that follow, masks of instances, keypoints."""

import sys

import penstock
from penstock import annotations, augment, pipeline_def

file, images = sys.argv[1:]
loader = penstock.detection(
    file,
    images,
    size=64,
    batch_size=2,
    masks=True,
    keypoints=True,
    flip_pairs=[(1, 2)],
    augment=lambda s: augment.random_affine(s, degrees=5),
)
print(loader.program)
for batch in loader:
    for boxes, labels in zip(batch["boxes"], batch["labels"]):
        print([loader.classes[k] for k in labels], boxes.tolist())
    for masks, keypoints in zip(batch["masks"], batch["keypoints"]):
        print(tuple(masks.shape), keypoints[..., 2].tolist())

table = annotations.coco(file, images, masks=True, keypoints=True)


@pipeline_def(batch_size=2, num_threads=1)
def parts():
    _, row = table.read()
    return table.look_up(row, "masks", "mask", "points")


masks, mask, points = parts().run()
print(masks, mask, points)
