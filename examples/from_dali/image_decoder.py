# SPDX-License-Identifier: Apache-2.0
"""Pictures of several formats decoded whole, in part (the same pixels), at random, and only their size read."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

FORMATS = [".jpg", ".png", ".bmp", ".tiff", ".ppm"]
root = small_data.folder()
for n, ending in enumerate(FORMATS):
    (root / f"{n}{ending}").write_bytes(small_data.encoded(small_data.picture(n), ending))


@pipeline_def(batch_size=len(FORMATS), num_threads=2, device_id=None, seed=2)
def decoded():
    files, _ = fn.readers.file(files=[str(root / f"{n}{e}") for n, e in enumerate(FORMATS)])
    begin, extent = fn.constant(fdata=[0.25, 0.5], shape=[2]), fn.constant(fdata=[0.5, 0.25], shape=[2])
    return (
        fn.decoders.image(files),
        fn.decoders.image_crop(files, crop=(20, 30), crop_pos_x=0.5, crop_pos_y=0.25),
        fn.decoders.image_slice(files, begin, extent, axis_names="WH"),
        fn.decoders.image_random_crop(files, random_area=[0.2, 0.5], random_aspect_ratio=[0.5, 2.0]),
        fn.peek_image_shape(files),
        fn.decoders.image(files, output_type=types.GRAY),
    )


pipe = decoded()
pipe.build()
whole, cut, sliced, drawn, shape, gray = pipe.run()
assert shape.as_array().tolist() == [[48, 64, 3]] * len(FORMATS)
for i in range(len(FORMATS)):
    x = whole.at(i)
    assert np.abs(x.astype(int) - small_data.picture(i)).max() <= (40 if i == 0 else 0)
    assert np.array_equal(cut.at(i), x[7:27, 17:47])
    assert np.array_equal(sliced.at(i), x[24:36, 16:48])
    part = drawn.at(i).shape[0] * drawn.at(i).shape[1] / (48 * 64)
    assert 0.15 < part < 0.55 and gray.at(i).shape == (48, 64, 1)
print(f"image decoder: {len(FORMATS)} formats, four ways of decoding")
