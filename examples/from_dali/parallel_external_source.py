# SPDX-License-Identifier: Apache-2.0
"""A callable that worker processes run: samples and batches, forked and spawned."""

import os

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types


class Pictures:
    """Sample n of an epoch is picture n as a PNG file, its number, and the process that made it."""

    def __init__(self, count):
        self.count = count

    def __call__(self, info):
        if info.idx_in_epoch >= self.count:
            raise StopIteration
        file = small_data.encoded(small_data.picture(info.idx_in_epoch), ".png")
        return np.frombuffer(file, np.uint8), np.array([info.idx_in_epoch]), np.array([os.getpid()])


@pipeline_def(batch_size=4, num_threads=2, device_id=None, py_num_workers=2)
def made():
    files, number, process = fn.external_source(
        source=Pictures(8), num_outputs=3, batch=False, parallel=True, dtype=[types.UINT8, types.INT64, types.INT64]
    )
    return fn.decoders.image(files), number, process


if __name__ == "__main__":
    for method in ("fork", "spawn"):
        pipe = made(py_start_method=method)
        pipe.start_py_workers()
        pipe.build()
        processes = set()
        for epoch in range(2):
            seen = []
            for _ in range(2):
                images, numbers, by = pipe.run()
                for i, n in enumerate(numbers.as_array().ravel().tolist()):
                    assert (images.at(i) == small_data.picture(n)).all()
                    seen.append(n)
                processes |= set(by.as_array().ravel().tolist())
            assert seen == list(range(8))
            try:
                pipe.run()
                raise AssertionError("the epoch has two batches")
            except StopIteration:
                pipe.reset()
        assert os.getpid() not in processes and 1 <= len(processes) <= 2
    print("parallel external source: two epochs from forked and two from spawned workers, in order")
