# SPDX-License-Identifier: Apache-2.0
"""An SSD's input: boxes from COCO, a random crop that keeps enough of them, resize, flip, colors, boxes encoded to anchors."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

root, annotations = small_data.coco()
SIZE = 60
grid = np.stack(np.meshgrid(*[np.arange(0, 1, 0.25)] * 2), axis=-1).reshape(-1, 2)
ANCHORS = np.concatenate([np.hstack([grid, grid + s]) for s in (0.25, 0.5)]).clip(0, 1).astype(np.float32)


@pipeline_def(batch_size=6, num_threads=2, device_id=None, seed=7)
def ssd():
    files, boxes, labels = fn.readers.coco(
        file_root=str(root),
        annotations_file=str(annotations),
        ratio=True,
        ltrb=True,
        skip_empty=True,
        random_shuffle=False,
    )
    begin, size, boxes, labels = fn.random_bbox_crop(
        boxes,
        labels,
        aspect_ratio=[0.5, 2.0],
        thresholds=[0, 0.1, 0.3, 0.5, 0.7, 0.9],
        scaling=[0.3, 1.0],
        bbox_layout="xyXY",
        allow_no_crop=True,
        num_attempts=50,
    )
    images = fn.decoders.image_slice(files, begin, size, output_type=types.RGB)
    images = fn.resize(images, resize_x=SIZE, resize_y=SIZE, min_filter=types.INTERP_TRIANGULAR)
    mirror = fn.random.coin_flip(probability=0.5)
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=mirror)
    images = fn.hsv(images, saturation=fn.random.uniform(range=(0.5, 1.5)), hue=fn.random.uniform(range=(-18.0, 18.0)))
    images = fn.brightness_contrast(images, contrast=fn.random.uniform(range=(0.5, 1.5)))
    images = fn.crop_mirror_normalize(images, mean=[104.0, 117.0, 123.0], std=[1.0], mirror=mirror, dtype=types.FLOAT)
    encoded_boxes, encoded_labels = fn.box_encoder(boxes, labels, criteria=0.5, anchors=ANCHORS.flatten().tolist())
    return images, boxes, labels, encoded_boxes, encoded_labels


pipe = ssd()
pipe.build()
matched = 0
for _ in range(3):
    images, boxes, labels, encoded_boxes, encoded_labels = pipe.run()
    assert images.as_array().shape == (6, 3, SIZE, SIZE) and images.layout() == "CHW"
    for i in range(6):
        b = boxes.at(i)
        assert len(b) == len(labels.at(i)) >= 1
        assert (b[:, :2] < b[:, 2:]).all() and b.min() >= 0 and b.max() <= 1 + 1e-6
        assert encoded_boxes.at(i).shape == (len(ANCHORS), 4) and encoded_labels.at(i).shape == (len(ANCHORS),)
        hit = encoded_labels.at(i) > 0
        assert set(encoded_labels.at(i)[hit]) <= set(labels.at(i).ravel())
        # an anchor without a box gives itself, as center and extent
        own = np.hstack([(ANCHORS[:, :2] + ANCHORS[:, 2:]) / 2, ANCHORS[:, 2:] - ANCHORS[:, :2]])
        np.testing.assert_allclose(encoded_boxes.at(i)[~hit], own[~hit], atol=1e-6)
        matched += hit.sum()
assert matched >= 18  # at least the best anchor of each picture
print(f"detection pipeline: 18 pictures, their boxes on {matched} anchors")
