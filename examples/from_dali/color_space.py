# SPDX-License-Identifier: Apache-2.0
"""Colors by decoding to another space and by conversion afterwards, against OpenCV."""

import cv2
import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

picture = small_data.picture(1)
file = np.frombuffer(small_data.encoded(picture, ".png"), np.uint8)
SPACES = [types.RGB, types.BGR, types.GRAY, types.YCbCr]


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def colors():
    encoded = fn.external_source(source=lambda: [file])
    rgb = fn.decoders.image(encoded, output_type=types.RGB)
    converted = [fn.color_space_conversion(rgb, image_type=types.RGB, output_type=space) for space in SPACES[1:]]
    back = fn.color_space_conversion(converted[-1], image_type=types.YCbCr, output_type=types.RGB)
    return tuple(fn.decoders.image(encoded, output_type=space) for space in SPACES) + tuple(converted) + (back,)


pipe = colors()
pipe.build()
rgb, bgr, gray, ycc, bgr_after, gray_after, ycc_after, back = (out.at(0).astype(int) for out in pipe.run())
assert (rgb == picture).all() and (bgr == picture[..., ::-1]).all() and (bgr == bgr_after).all()
assert gray.shape == (48, 64, 1)
wanted = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)[..., None]
assert np.abs(gray - wanted).max() <= 1 and np.abs(gray_after - wanted).max() <= 1
luma = 16 + picture @ np.array([65.481, 128.553, 24.966]) / 255  # BT.601, in 16 to 235
assert np.abs(ycc[..., 0] - luma).max() <= 1 and np.abs(ycc_after[..., 0] - luma).max() <= 1
assert np.abs(back - picture).max() <= 3
print("color space: four spaces, decoded and converted")
