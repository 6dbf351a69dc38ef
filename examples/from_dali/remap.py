# SPDX-License-Identifier: Apache-2.0
"""Each pixel from its own position: a mirror, a shift between pixels, a swirl, against OpenCV."""

import cv2
import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

picture = small_data.picture(6)
H, W = picture.shape[:2]
y, x = np.mgrid[:H, :W].astype(np.float32)
angle = np.hypot(y - H / 2, x - W / 2) / 40
MAPS = [
    (W - 1 - x, y),
    (x + 0.5, y + 0.25),
    (
        (x - W / 2) * np.cos(angle) - (y - H / 2) * np.sin(angle) + W / 2,
        (x - W / 2) * np.sin(angle) + (y - H / 2) * np.cos(angle) + H / 2,
    ),
]


@pipeline_def(batch_size=3, num_threads=1, device_id=0)
def remapped():
    images = fn.external_source(source=lambda: [picture] * 3, layout="HWC").gpu()
    columns, rows = fn.external_source(source=lambda: ([m[0] for m in MAPS], [m[1] for m in MAPS]), num_outputs=2)
    places = columns.gpu(), rows.gpu()
    return (
        fn.experimental.remap(images, *places, interp=types.INTERP_NN, pixel_origin="center"),
        fn.experimental.remap(images, *places, interp=types.INTERP_LINEAR, pixel_origin="center"),
    )


pipe = remapped()
pipe.build()
nearest, linear = (out.as_cpu() for out in pipe.run())
assert (nearest.at(0) == picture[:, ::-1]).all() and (linear.at(0) == picture[:, ::-1]).all()
for i, (columns, rows) in enumerate(MAPS):
    wanted = cv2.remap(picture, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    inside = (columns >= 0) & (columns < W - 1) & (rows >= 0) & (rows < H - 1)
    assert np.abs(linear.at(i).astype(int) - wanted)[inside].max() <= 3  # OpenCV rounds positions to 1/32 of a pixel
print("remap: a mirror, a shift and a swirl")
