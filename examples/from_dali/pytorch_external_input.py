# SPDX-License-Identifier: Apache-2.0
"""The user's own shuffled batches into PyTorch's iterator: it ends when the source does, and starts again with a new order."""

import numpy as np
import small_data
import torch
from nvidia.dali import fn, types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy

FILES = [np.frombuffer(small_data.encoded(small_data.picture(n), ".png"), np.uint8) for n in range(10)]


class Shuffled:
    """Batches of encoded pictures and their numbers; the last one of an epoch begins again at its first pictures."""

    def __init__(self, batch_size):
        self.batch_size, self.order, self.random = batch_size, list(range(len(FILES))), np.random.default_rng(3)

    def __iter__(self):
        self.at = 0
        self.random.shuffle(self.order)
        return self

    def __next__(self):
        if self.at >= len(FILES):
            self.__iter__()
            raise StopIteration
        chosen = [self.order[(self.at + k) % len(FILES)] for k in range(self.batch_size)]
        self.at += self.batch_size
        return [FILES[n] for n in chosen], [torch.tensor([n], dtype=torch.int32) for n in chosen]

    def __len__(self):
        return len(FILES)

    next = __next__


source = Shuffled(4)
pipe = Pipeline(batch_size=4, num_threads=2, device_id=None)
with pipe:
    encoded, labels = fn.external_source(source=source, num_outputs=2)
    images = fn.resize(fn.decoders.image(encoded), size=(24, 32), interp_type=types.INTERP_LINEAR)
    pipe.set_outputs(images, labels)
loader = DALIClassificationIterator(
    pipe, last_batch_padded=True, last_batch_policy=LastBatchPolicy.PARTIAL, size=len(source)
)
epochs = []
for epoch in range(3):
    seen = []
    for batch in loader:
        assert batch[0]["data"].shape[1:] == (24, 32, 3)
        seen += batch[0]["label"].flatten().tolist()
    assert sorted(seen) == list(range(10))
    epochs.append(seen)
    loader.reset()
assert epochs[0] != epochs[1]
print("pytorch external input: three epochs of ten pictures, each in an order of its own")
