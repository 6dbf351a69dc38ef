# SPDX-License-Identifier: Apache-2.0
"""Sums, means, extremes and deviations along axes, by number and by name."""

import numpy as np
from nvidia.dali import fn, pipeline_def

batch = [np.random.default_rng(n).integers(0, 100, (3 + n, 4, 2)).astype(np.float32) for n in range(3)]


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def reduced(along):
    data = fn.external_source(source=lambda: batch, layout="ABC")
    r = fn.reductions
    mean = r.mean(data, keep_dims=True, **along)
    return (
        r.sum(data, **along),
        r.mean(data, **along),
        r.min(data, **along),
        r.max(data, **along),
        r.mean_square(data, **along),
        r.rms(data, **along),
        r.variance(data, mean, **along),
        r.std_dev(data, mean, **along),
    )


MINE = [
    np.sum,
    np.mean,
    np.min,
    np.max,
    lambda x, axis: (x * x).mean(axis),
    lambda x, axis: np.sqrt((x * x).mean(axis)),
    np.var,
    np.std,
]
for along, axis in (({}, None), ({"axes": [0]}, 0), ({"axes": [0, 2]}, (0, 2)), ({"axis_names": "B"}, 1)):
    pipe = reduced(along)
    pipe.build()
    for out, function in zip(pipe.run(), MINE):
        for i, x in enumerate(batch):
            wanted = function(x.astype(np.float64), axis=axis)
            assert out.at(i).shape == wanted.shape
            np.testing.assert_allclose(out.at(i), wanted, rtol=1e-5)
print("reductions: eight of them along four choices of axes")
