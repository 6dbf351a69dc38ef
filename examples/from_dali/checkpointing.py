# SPDX-License-Identifier: Apache-2.0
"""A run that stops after two of its batches and resumes in another pipeline, with the same random numbers and order of samples."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def

root = small_data.picture_folder(each=6, ending=".png")


@pipeline_def(batch_size=3, num_threads=2, device_id=None, enable_checkpointing=True, seed=21)
def drawn():
    files, labels = fn.readers.file(file_root=str(root), random_shuffle=True, initial_fill=5, name="reader")
    images = fn.random_resized_crop(fn.decoders.image(files), size=(16, 16))
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels, fn.random.normal(shape=[2])


def batches(pipe, count):
    return [[out.as_array().copy() for out in pipe.run()] for _ in range(count)]


whole = drawn()
whole.build()
wanted = batches(whole, 7)

first = drawn()
first.build()
begun = batches(first, 2)
file = small_data.folder() / "state"
state = first.checkpoint(filename=str(file))
assert file.read_bytes() == state

second = drawn(checkpoint=state)
second.build()
rest = batches(second, 5)
for mine, theirs in zip(begun + rest, wanted):
    assert all(np.array_equal(a, b) for a, b in zip(mine, theirs))
assert not np.array_equal(wanted[0][2], wanted[1][2])
print("checkpointing: seven batches, two before the stop and five after it, the same as without one")
