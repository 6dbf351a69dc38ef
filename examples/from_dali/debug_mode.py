# SPDX-License-Identifier: Apache-2.0
"""debug=True: operators run when they are called, so that values can be inspected and changed."""

import numpy as np
import small_data
from nvidia.dali import fn, types
from nvidia.dali.pipeline.experimental import pipeline_def

root = small_data.picture_folder()
looked = []


@pipeline_def(batch_size=4, num_threads=2, device_id=None, debug=True, seed=4)
def stepped():
    files, labels = fn.readers.file(file_root=str(root))
    images = fn.decoders.image(files, output_type=types.RGB)
    looked.append([image.shape() for image in images.get()])
    batch = [np.asarray(image) // 2 for image in images.get()]  # NumPy in the middle
    darker = fn.copy(batch)
    turned = fn.rotate(darker, angle=fn.random.uniform(range=(5.0, 10.0)))
    total = fn.reductions.sum(images, dtype=types.UINT64)
    if np.asarray(labels.get()[0])[0] == 0:  # an `if` of Python itself
        total = total + 1
    return images, darker, turned, total, labels


pipe = stepped()
pipe.build()
for step in range(2):
    images, darker, turned, total, labels = pipe.run()
    for i in range(4):
        n = 4 * step + i
        assert list(looked[-1][i]) == [48 + n, 64 + 2 * n, 3]
        x = np.asarray(images.at(i))
        assert np.array_equal(darker.at(i), x // 2)
        assert turned.at(i).shape != x.shape
        assert int(total.at(i)) == x.sum(dtype=np.uint64) + (1 if step == 0 else 0)
assert len(looked) == 2  # the function runs once for each batch
print("debug mode: two batches looked at and changed with NumPy on the way")
