# SPDX-License-Identifier: Apache-2.0
"""The user's own data: an iterator of batches, a callable, single samples, and batches fed by hand."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.pipeline import Pipeline

pictures = [small_data.picture(n) for n in range(6)]
files = [np.frombuffer(small_data.encoded(p, ".png"), np.uint8) for p in pictures]


class Batches:
    """Encoded pictures and labels, two at a time, without end."""

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        chosen = [(self.at + k) % len(files) for k in range(2)]
        self.at += 2
        return [files[n] for n in chosen], [np.array([n], np.int32) for n in chosen]


pipe = Pipeline(batch_size=2, num_threads=2, device_id=None)
with pipe:
    encoded, labels = fn.external_source(source=Batches(), num_outputs=2, dtype=[types.UINT8, types.INT32])
    pipe.set_outputs(fn.decoders.image(encoded), labels)
pipe.build()
for step in range(4):
    images, labels = pipe.run()
    assert labels.as_array().ravel().tolist() == [(2 * step) % 6, (2 * step + 1) % 6]
    for i in range(2):
        assert (images.at(i) == pictures[int(labels.at(i)[0])]).all()


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def by_sample():
    def one(info):
        if info.iteration >= 2:
            raise StopIteration
        return np.array([info.idx_in_epoch, info.idx_in_batch, info.iteration])

    return fn.external_source(source=one, batch=False)


pipe = by_sample()
pipe.build()
assert [pipe.run()[0].as_array().tolist() for _ in range(2)] == [
    [[0, 0, 0], [1, 1, 0], [2, 2, 0]],
    [[3, 0, 1], [4, 1, 1], [5, 2, 1]],
]
try:
    pipe.run()
except StopIteration:
    pass
else:
    raise AssertionError("the epoch has two batches")


@pipeline_def(batch_size=4, num_threads=1, device_id=None, prefetch_queue_depth=1)
def fed():
    return fn.external_source(name="numbers") * 2


pipe = fed()
pipe.build()
for size in (1, 4):
    pipe.feed_input("numbers", [np.full((2,), k, np.float32) for k in range(size)])
    assert pipe.run()[0].as_array().tolist() == [[2.0 * k] * 2 for k in range(size)]
print("external input: batches of an iterator, samples of a function, and batches of two sizes fed by hand")
