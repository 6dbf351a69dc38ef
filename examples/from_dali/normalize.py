# SPDX-License-Identifier: Apache-2.0
"""Normalized by mean and deviation: of a whole sample, along axes, of the batch, or given ones."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types

batch = [np.random.default_rng(n).uniform(-10, 20, (4 + n, 5, 3)).astype(np.float32) for n in range(3)]


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def normalized():
    x = fn.external_source(source=lambda: batch, layout="HWC")
    middle = fn.reductions.mean(x, axes=[0, 1], keep_dims=True)
    return (
        fn.normalize(x),
        fn.normalize(x, axes=[0, 1]),
        fn.normalize(x, axis_names="W", ddof=1),
        fn.normalize(x, batch=True),
        fn.normalize(x, mean=2.0, stddev=4.0),
        fn.normalize(x, mean=middle, stddev=1.0, axes=[0, 1]),
        fn.normalize(x, axes=[0, 1], epsilon=0.5, shift=3.0),
        fn.normalize(x, shift=100, scale=20, dtype=types.UINT8),
    )


pipe = normalized()
pipe.build()
outs = pipe.run()
everything = np.concatenate([x.ravel() for x in batch]).astype(np.float64)


def standard(x, axis=None, ddof=0, epsilon=0.0):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True, ddof=ddof) + epsilon)


for i, x in enumerate(np.float64(x) for x in batch):
    wanted = [
        standard(x),
        standard(x, (0, 1)),
        standard(x, 1, 1),
        (x - everything.mean()) / everything.std(),
        (x - 2) / 4,
        x - x.mean((0, 1), keepdims=True),
        standard(x, (0, 1), epsilon=0.5) + 3,
    ]
    for k, (out, w) in enumerate(zip(outs, wanted)):
        np.testing.assert_allclose(out.at(i), w, rtol=1e-4, atol=1e-4, err_msg=str(k))
    assert np.abs(outs[7].at(i) - (standard(x) * 20 + 100)).max() <= 0.51
print(f"normalize: {len(outs)} ways for three arrays")
