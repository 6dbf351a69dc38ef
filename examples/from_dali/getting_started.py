# SPDX-License-Identifier: Apache-2.0
"""A pipeline that reads, decodes and rotates pictures: defined, built, run."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

root = small_data.picture_folder()


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def plain():
    files, labels = fn.readers.file(file_root=str(root))
    images = fn.decoders.image(files, output_type=types.RGB)
    return images, labels


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=12)
def turned():
    files, labels = fn.readers.file(file_root=str(root), random_shuffle=True, initial_fill=8)
    images = fn.decoders.image(files)
    angle = fn.random.uniform(range=(-10.0, 10.0))
    return fn.rotate(images, angle=angle, fill_value=0, keep_size=True), images, labels, angle


pipe = plain()
pipe.build()
seen = []
for _ in range(2):
    images, labels = pipe.run()
    assert not images.is_dense_tensor()  # each picture has its own size
    for i in range(len(images)):
        n = len(seen)
        assert images.at(i).shape == (48 + n, 64 + 2 * n, 3) and images.at(i).dtype == np.uint8
        assert np.abs(images.at(i).astype(int) - small_data.picture(n, 48 + n, 64 + 2 * n)).mean() < 3
        seen.append(int(labels.at(i)[0]))
assert seen == [0] * 4 + [1] * 4

pipe = turned()
pipe.build()
rotated, images, labels, angles = pipe.run()
for i in range(4):
    assert rotated.at(i).shape == images.at(i).shape and (rotated.at(i) != images.at(i)).any()
assert (np.abs(angles.as_array()) <= 10).all() and len(set(angles.as_array().tolist())) == 4
print("getting started: eight pictures in the order of their classes, four of them turned by angles of their own")
