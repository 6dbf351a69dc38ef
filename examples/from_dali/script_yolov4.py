# SPDX-License-Identifier: Apache-2.0
"""YOLOv4's input with mosaic: four pictures of a batch around a point, by a permutation, and their boxes with them."""

import numpy as np
import small_data
from nvidia.dali import fn, math, pipeline_def, types

root, annotations = small_data.coco()
SIZE, BATCH = 64, 6


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, seed=5)
def mosaic():
    files, boxes, labels = fn.readers.coco(
        file_root=str(root), annotations_file=str(annotations), ratio=True, ltrb=True, name="reader"
    )
    images = fn.resize(fn.decoders.image(files), size=[SIZE, SIZE])
    images = fn.hsv(images, hue=fn.random.uniform(range=[-20.0, 20.0]), saturation=fn.random.uniform(range=[0.7, 1.3]))
    permutations = fn.stack(
        fn.batch_permutation(), fn.batch_permutation(), fn.batch_permutation(), fn.batch_permutation()
    )
    x, y = fn.random.uniform(range=[0.3, 0.7]), fn.random.uniform(range=[0.3, 0.7])
    zero = x * 0.0
    right, bottom = (x, 1.0 - x), (y, 1.0 - y)
    columns, rows = [(zero, x), right, (zero, x), right], [(zero, y), (zero, y), bottom, bottom]
    pixels = [
        [fn.cast(math.floor(part * SIZE), dtype=types.INT32) for part in (r[0], c[0], r[1], c[1])]
        for r, c in zip(rows, columns)
    ]
    canvas = fn.multi_paste(
        images,
        in_ids=permutations,
        output_size=[SIZE, SIZE],
        in_anchors=fn.constant(idata=[0] * 8, shape=[4, 2]),
        shapes=fn.stack(*[fn.stack(p[2], p[3]) for p in pixels]),
        out_anchors=fn.stack(*[fn.stack(p[0], p[1]) for p in pixels]),
    )
    parts, kinds = [], []
    for k in range(4):
        chosen = permutations[k]
        b, kind = fn.permute_batch(boxes, indices=chosen), fn.permute_batch(labels, indices=chosen)
        parts.append(b + fn.stack(columns[k][0], rows[k][0], columns[k][0], rows[k][0]))
        kinds.append(kind)
    return images, canvas, permutations, fn.cat(*parts), fn.cat(*kinds), x, y


pipe = mosaic()
pipe.build()
for _ in range(2):
    images, canvas, chosen, boxes, labels, xs, ys = pipe.run()
    for i in range(BATCH):
        x, y = int(np.float32(xs.at(i)) * SIZE), int(np.float32(ys.at(i)) * SIZE)
        w, h = int((1 - np.float32(xs.at(i))) * SIZE), int((1 - np.float32(ys.at(i))) * SIZE)
        one, two, three, four = (images.at(int(n)) for n in chosen.at(i))
        out = canvas.at(i)
        assert (out[:y, :x] == one[:y, :x]).all() and (out[:y, x : x + w] == two[:y, :w]).all()
        assert (out[y : y + h, :x] == three[:h, :x]).all() and (out[y : y + h, x : x + w] == four[:h, :w]).all()
        counts = [int(n) % 3 + 1 for n in chosen.at(i)]
        assert len(boxes.at(i)) == len(labels.at(i)) == sum(counts)
        assert [int(v) for v in labels.at(i).ravel()] == [
            int(n) % 2 + 1 for n, c in zip(chosen.at(i), counts) for _ in range(c)
        ]
        np.testing.assert_allclose(boxes.at(i)[-counts[3]][0], 4 / 64 + float(xs.at(i)), atol=1e-5)
print("yolov4: twelve mosaics of four pictures, boxes and labels with them")
