# SPDX-License-Identifier: Apache-2.0
"""Iterations that are on the device at once do not use each other's memory: an operator with much scratch memory, and data that the
program keeps on the GPU, so that every iteration orders itself with the program's stream."""

import numpy as np
import pytest

import penstock
from penstock import Pipeline, control, fn

COUNT, BATCHES = 6, 25


@pytest.mark.parametrize("threads", [1, 4])
def test_assignments_by_a_mask_keep_their_memory(threads):
    random = np.random.default_rng(threads)
    sides = [(int(h), int(w)) for h, w in random.integers(40, 90, (COUNT, 2))]
    pictures = [random.integers(0, 256, (h, w, 3), dtype=np.uint8) for h, w in sides]
    masks = [random.random((h, w, 3)) < 0.5 for h, w in sides]
    x, m = penstock.batch(pictures, layout="HWC").gpu(), penstock.batch(masks).gpu()
    pipe = Pipeline(batch_size=COUNT, num_threads=threads, device_id=0, prefetch_queue_depth=3)
    with pipe:
        kept = {"batch": True, "no_copy": True, "device": "gpu"}
        a = fn.external_source(lambda: x, dtype=x.dtype, ndim=3, layout="HWC", **kept)
        b = fn.external_source(lambda: m, dtype=m.dtype, ndim=3, **kept)
        pipe.set_outputs(control.set_(a, b, 7))
    pipe.build()
    results = [pipe.run()[0] for _ in range(BATCHES)]  # all are kept: nothing waits for the device between iterations
    for result in results:
        for got, picture, mask in zip(result.cpu(), pictures, masks):
            np.testing.assert_array_equal(np.asarray(got), np.where(mask, 7, picture))
