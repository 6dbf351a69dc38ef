# SPDX-License-Identifier: Apache-2.0
"""EfficientDet's input: COCO, flip, resize into a square by the longer side, boxes and classes padded to one length."""

import numpy as np
import small_data
from nvidia.dali import fn, math, pipeline_def, types

root, annotations = small_data.coco()
SIZE, MOST = 64, 10


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=6)
def detection():
    files, boxes, classes = fn.readers.coco(
        file_root=str(root),
        annotations_file=str(annotations),
        ratio=True,
        ltrb=True,
        random_shuffle=True,
        name="reader",
    )
    images = fn.decoders.image(files, output_type=types.RGB)
    flip = fn.random.coin_flip()
    images, boxes = fn.flip(images, horizontal=flip), fn.bb_flip(boxes, horizontal=flip, ltrb=True)
    normal = fn.crop_mirror_normalize(
        images,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        output_layout=types.NHWC,
        dtype=types.FLOAT,
    )
    shape = fn.cast(fn.slice(fn.peek_image_shape(files), 0, 2, axes=[0]), dtype=types.FLOAT)
    ratio = fn.random.uniform(range=[0.6, 1.0]) * SIZE / fn.reductions.max(shape)
    extent = fn.cast(math.floor(shape * ratio + 0.5), dtype=types.INT32)
    scaled = fn.resize(normal, size=fn.cast(extent, dtype=types.FLOAT))
    square = fn.pad(scaled, axis_names="HW", shape=[SIZE, SIZE], fill_value=0)
    factor = fn.cast(extent, dtype=types.FLOAT) / SIZE  # of height and width
    wide, high = fn.slice(factor, 1, 1, axes=[0]), fn.slice(factor, 0, 1, axes=[0])
    boxes = boxes * fn.cat(wide, high, wide, high)
    padded = fn.pad(boxes, fill_value=-1, axes=[0], shape=[MOST])
    numbers = fn.pad(fn.cast(classes, dtype=types.FLOAT), fill_value=-1, axes=[0], shape=[MOST])
    return square, padded, numbers, extent, flip


pipe = detection()
pipe.build()
seen = []
for _ in range(2):
    images, boxes, classes, extents, flips = (out.as_array() for out in pipe.run())
    assert images.shape == (3, SIZE, SIZE, 3) and boxes.shape == (3, MOST, 4) and classes.shape[:2] == (3, MOST)
    for i in range(3):
        h, w = extents[i]
        assert (
            (images[i, h:] == 0).all()
            and (images[i, :, w:] == 0).all()
            and (images[i, :h, :w] != 0).any(axis=2).mean() > 0.99
        )
        real = classes[i].ravel() > 0
        assert (boxes[i][~real] == -1).all() and 1 <= real.sum() <= 3
        assert boxes[i][real][:, 2].max() <= w / SIZE + 1e-6 and boxes[i][real][:, 3].max() <= h / SIZE + 1e-6
        # the first box of picture n is 20 + 4 n pixels of 64 wide
        number = ((boxes[i][0, 2] - boxes[i][0, 0]) * SIZE / w * 64 - 20) / 4
        assert abs(number - round(float(number))) < 0.01
        seen.append(round(float(number)))
assert sorted(seen) == list(range(6))
print("efficientdet: six pictures in squares, boxes padded to ten")
