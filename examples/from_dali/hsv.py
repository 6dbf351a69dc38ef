# SPDX-License-Identifier: Apache-2.0
"""Hue, saturation and value changed for each sample: what must stay the same and what must change."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def

picture = small_data.picture(2)
gray = np.repeat(picture[..., :1], 3, axis=2)


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def hues():
    images = fn.external_source(source=lambda: [picture, gray], layout="HWC")
    hue = fn.external_source(source=lambda: [np.float32(40), np.float32(200)])
    return (
        fn.hsv(images, hue=hue),
        fn.hsv(images, saturation=0.0),
        fn.hsv(images, value=0.5),
        fn.hsv(images),
        fn.hue(images, hue=120.0),
        fn.saturation(images, saturation=1.0),
        fn.color_twist(images, brightness=0.5),
    )


pipe = hues()
pipe.build()
turned, pale, dark, same, third, full, twisted = pipe.run()
for i, x in enumerate((picture, gray)):
    assert np.abs(same.at(i) - x.astype(int)).max() <= 1 and np.abs(full.at(i) - x.astype(int)).max() <= 1
    assert np.ptp(pale.at(i).astype(int), axis=2).max() <= 1  # no color is left
    assert np.abs(dark.at(i) - x / 2.0).max() <= 1.01 and np.abs(twisted.at(i) - x / 2.0).max() <= 1.01
    luma = np.array([0.299, 0.587, 0.114])
    free = ((third.at(i) > 0) & (third.at(i) < 255)).all(axis=2)
    assert (
        free.sum() > 100 and np.abs(third.at(i) @ luma - x @ luma)[free].max() <= 2
    )  # a hue has no effect on brightness
assert np.abs(turned.at(1) - gray.astype(int)).max() <= 1  # gray has no hue
assert (np.abs(turned.at(0) - picture.astype(int)) > 10).any()
print("hsv: seven turns of a colored and of a gray picture")
