# SPDX-License-Identifier: Apache-2.0
"""Sizes of resize: both sides, one side, the shorter and the longer one, modes, a region of interest."""

import cv2
import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

pictures = [small_data.picture(0, 40, 60), small_data.picture(1, 90, 30)]


@pipeline_def(batch_size=2, num_threads=2, device_id=None)
def sizes():
    images = fn.external_source(source=lambda: pictures, layout="HWC")
    resized, original = fn.resize(images, resize_x=32, resize_y=20, save_attrs=True)
    return (
        resized,
        original,
        fn.resize(images, resize_x=30),
        fn.resize(images, resize_shorter=20),
        fn.resize(images, resize_longer=45),
        fn.resize(images, size=[50, 50], mode="not_larger"),
        fn.resize(images, size=[50, 50], mode="not_smaller"),
        fn.resize(images, resize_shorter=20, max_size=[0, 25]),
        fn.resize(images, size=[0, 15]),
        fn.resize(images, size=[10, 10], roi_start=[10, 5], roi_end=[30, 25], interp_type=types.INTERP_NN),
        fn.resize(images, size=[-40, 60], interp_type=types.INTERP_NN),
        fn.peek_image_shape(
            fn.external_source(source=lambda: [np.frombuffer(small_data.encoded(p), np.uint8) for p in pictures])
        ),
    )


pipe = sizes()
pipe.build()
resized, original, width, shorter, longer, inside, around, most, one, region, mirrored, peeked = pipe.run()


def shapes(out):
    return [out[i].shape()[:2] for i in range(2)]


assert original.as_array().tolist() == [[40, 60], [90, 30]] and peeked.as_array().tolist() == [[40, 60, 3], [90, 30, 3]]
assert shapes(resized) == [[20, 32]] * 2 and shapes(width) == [[20, 30], [90, 30]]
assert shapes(shorter) == [[20, 30], [60, 20]] and shapes(longer) == [[30, 45], [45, 15]]
assert shapes(inside) == [[33, 50], [50, 17]] and shapes(around) == [[50, 75], [150, 50]]
assert shapes(most)[0] == [17, 25] and shapes(most)[1][1] == 20 and shapes(one) == [[10, 15], [45, 15]]
for i, x in enumerate(pictures):
    assert (region.at(i) == x[11:30:2, 6:25:2]).all()
    assert (
        np.abs(shorter.at(i).astype(int) - cv2.resize(x, shapes(shorter)[i][::-1], interpolation=cv2.INTER_AREA)).mean()
        < 6
    )
assert (mirrored.at(0) == pictures[0][::-1]).all()
print("resize: eleven ways to say a size, for a wide and a high picture")
