# SPDX-License-Identifier: Apache-2.0
"""Pixel masks from COCO, a random object's box, a random pixel of the foreground, and a crop around it."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def

root, annotations = small_data.coco()


@pipeline_def(batch_size=6, num_threads=2, device_id=None, seed=11)
def masks():
    files, boxes, labels, mask = fn.readers.coco(
        file_root=str(root), annotations_file=str(annotations), pixelwise_masks=True, ltrb=True
    )
    images = fn.decoders.image(files)
    pixel = fn.segmentation.random_mask_pixel(fn.squeeze(mask, axes=[2]), foreground=1)
    anchor, extent = fn.segmentation.random_object_bbox(
        mask, background=0, foreground_prob=1.0, format="anchor_shape", ignore_class=True
    )
    cut = fn.slice(images, fn.slice(anchor, 0, 2, axes=[0]), fn.slice(extent, 0, 2, axes=[0]), axes=[0, 1])
    return images, boxes, labels, mask, pixel, anchor, extent, cut


pipe = masks()
pipe.build()
for _ in range(3):
    images, boxes, labels, mask, pixel, anchor, extent, cut = pipe.run()
    for i in range(6):
        m, b = mask.at(i), boxes.at(i).astype(int)
        wanted = np.zeros((48, 64, 1), m.dtype)
        for k in range(len(b)):
            wanted[b[k, 1] : b[k, 3], b[k, 0] : b[k, 2]] = labels.at(i).ravel()[k]
        assert m.shape == (48, 64, 1) and (m != wanted).mean() < 0.04  # the outline may count or not
        assert m[tuple(pixel.at(i))][0] > 0
        (y, x), (h, w) = anchor.at(i)[:2], extent.at(i)[:2]
        assert (
            m[y : y + h, x : x + w].any() and not m[:y].any() and not m[y + h :].any()
        )  # the boxes overlap: one object
        assert np.array_equal(cut.at(i), images.at(i)[y : y + h, x : x + w])
print("segmentation masks: 18 masks, a pixel and a box of each")
