# SPDX-License-Identifier: Apache-2.0
"""Interpolations of resize, up and down, against OpenCV if it has the same kernel."""

import cv2
import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

picture = small_data.picture(4)
TYPES = [
    types.INTERP_NN,
    types.INTERP_LINEAR,
    types.INTERP_CUBIC,
    types.INTERP_LANCZOS3,
    types.INTERP_TRIANGULAR,
    types.INTERP_GAUSSIAN,
]


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def sizes(height, width):
    images = fn.external_source(source=lambda: [picture], layout="HWC")
    return tuple(fn.resize(images, size=[height, width], interp_type=kind, antialias=False) for kind in TYPES)


def run(height, width):
    pipe = sizes(height, width)
    pipe.build()
    return [out.at(0).astype(int) for out in pipe.run()]


up = run(96, 160)
assert all(y.shape == (96, 160, 3) for y in up)
assert np.abs(up[1] - cv2.resize(picture, (160, 96), interpolation=cv2.INTER_LINEAR)).max() <= 1
rows, columns = ((np.arange(n) + 0.5) * m / n for n, m in ((96, 48), (160, 64)))
assert (up[0] == picture[rows.astype(int)][:, columns.astype(int)]).all()
smooth = [np.abs(y - up[1]).mean() for y in up[2:]]
assert max(smooth) < 6  # the picture is smooth: the kernels agree nearly
down = run(16, 16)
area = cv2.resize(picture, (16, 16), interpolation=cv2.INTER_AREA).astype(int)
assert (
    np.abs(down[0] - picture[((np.arange(16) + 0.5) * 3).astype(int)][:, ((np.arange(16) + 0.5) * 4).astype(int)]).max()
    == 0
)
assert np.abs(down[4] - area).mean() < 6
print(f"interpolation types: {len(TYPES)} kernels, one size up and one down")
