# SPDX-License-Identifier: Apache-2.0
"""Regions erased: one, several, by parts of the extent, with a color, along named axes, at random."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def

picture = small_data.picture(1)
H, W = picture.shape[:2]


@pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=3)
def erased():
    images = fn.external_source(source=lambda: [picture] * 2, layout="HWC")
    anchor = fn.random.uniform(range=(0.1, 0.5), shape=[2])
    extent = fn.random.uniform(range=(0.2, 0.4), shape=[2])
    return (
        fn.erase(images, anchor=[4, 6], shape=[10, 20], axis_names="HW"),
        fn.erase(images, anchor=[0, 0, 20, 30], shape=[5, 5, 8, 9], axis_names="HW", fill_value=(1, 2, 3)),
        fn.erase(images, anchor=[0.5], shape=[0.25], axis_names="W", normalized=True, fill_value=7),
        fn.erase(images, anchor=[24, 32], shape=[10, 10], axis_names="HW", centered_anchor=True),
        fn.erase(images, anchor=anchor, shape=extent, axis_names="HW", normalized=True),
        anchor,
        extent,
    )


def without(y, x, height, width, value=0, image=picture):
    image = image.copy()
    image[y : y + height, x : x + width] = value
    return image


pipe = erased()
pipe.build()
one, two, band, middle, drawn, anchor, extent = pipe.run()
for i in range(2):
    assert (one.at(i) == without(4, 6, 10, 20)).all()
    assert (two.at(i) == without(0, 0, 5, 5, (1, 2, 3), without(20, 30, 8, 9, (1, 2, 3)))).all()
    assert (band.at(i) == without(0, 32, H, 16, 7)).all()
    assert (middle.at(i) == without(19, 27, 10, 10)).all()
    gone = (drawn.at(i) != picture).any(axis=2).sum() / (H * W)
    assert abs(gone - float(np.prod(extent.at(i)))) < 0.05
assert not np.array_equal(anchor.at(0), anchor.at(1))
print("erase: five kinds of regions")
