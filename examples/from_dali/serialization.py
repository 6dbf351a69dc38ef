# SPDX-License-Identifier: Apache-2.0
"""A pipeline as bytes: written, read into a file, made again, with other arguments, and filled into a pipeline."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.pipeline import Pipeline

root = small_data.picture_folder()


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=12)
def made():
    files, labels = fn.readers.file(file_root=str(root), shuffle_after_epoch=True)
    images = fn.decoders.image(files, output_type=types.RGB)
    return fn.rotate(images, angle=fn.random.uniform(range=(-10.0, 10.0))), labels


pipe = made()
text = pipe.serialize()
file = small_data.folder() / "pipeline.bin"
pipe.serialize(filename=str(file))
assert isinstance(text, bytes) and file.read_bytes() == text

again = Pipeline.deserialize(text)
from_file = Pipeline.deserialize(filename=str(file))
filled = Pipeline(batch_size=4, num_threads=2, device_id=None, seed=12)
filled.deserialize_and_build(text)
small = Pipeline.deserialize(text, batch_size=2, num_threads=1)
for other in (pipe, again, from_file, small):
    other.build()
for _ in range(3):
    images, labels = pipe.run()
    for other in (again, from_file, filled):
        theirs, their_labels = other.run()
        assert (labels.as_array() == their_labels.as_array()).all()
        for i in range(4):
            assert np.array_equal(images.at(i), theirs.at(i))
assert len(small.run()[0]) == 2
print(f"serialization: one pipeline of {len(text)} bytes made again in four ways")
