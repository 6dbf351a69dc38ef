# SPDX-License-Identifier: Apache-2.0
"""Boxes, labels, polygons and picture numbers of a COCO file."""

import json

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def

root, annotations = small_data.coco()
truth = json.loads(annotations.read_text())


@pipeline_def(batch_size=6, num_threads=2, device_id=None)
def coco(ratio):
    files, boxes, labels, polygons, vertices, ids = fn.readers.coco(
        file_root=str(root),
        annotations_file=str(annotations),
        polygon_masks=True,
        ratio=ratio,
        ltrb=True,
        image_ids=True,
    )
    return fn.decoders.image(files), boxes, labels, polygons, vertices, ids


for ratio in (False, True):
    pipe = coco(ratio)
    pipe.build()
    images, boxes, labels, polygons, vertices, ids = pipe.run()
    for i in range(6):
        mine = [a for a in truth["annotations"] if a["image_id"] == int(ids.at(i)[0])]
        scale = np.array([64, 48, 64, 48] if ratio else [1] * 4, np.float32)
        wanted = [[a["bbox"][0], a["bbox"][1], a["bbox"][0] + a["bbox"][2], a["bbox"][1] + a["bbox"][3]] for a in mine]
        np.testing.assert_allclose(boxes.at(i), wanted / scale, rtol=1e-6)
        assert labels.at(i).ravel().tolist() == [a["category_id"] for a in mine]
        assert images.at(i).shape == (48, 64, 3)
        assert polygons.at(i).tolist() == [[k, 4 * k, 4 * k + 4] for k in range(len(mine))]
        corners = np.array([a["segmentation"][0] for a in mine]).reshape(-1, 2)
        np.testing.assert_allclose(vertices.at(i), corners / scale[:2], rtol=1e-6)
print(f"coco reader: {len(truth['annotations'])} boxes of 6 pictures, in pixels and as parts of the picture")
