# SPDX-License-Identifier: Apache-2.0
"""Arithmetic between batches, with constants, and mathematical functions."""

import numpy as np
from nvidia.dali import fn, math, pipeline_def, types

left = [np.array([[1, 2], [3, 4]], np.int32), np.array([[9, -6], [5, 7]], np.int32)]
right = [np.array([[2, 2], [5, 1]], np.int32), np.array([[4, 3], [-2, 8]], np.int32)]


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def computed():
    a, b = fn.external_source(source=lambda: (left, right), num_outputs=2)
    x = fn.cast(a, dtype=types.FLOAT)
    return (
        a + b,
        a - b,
        a * b,
        a / b,
        -a,
        a * 2,
        10 - a,
        a + types.Constant(np.array([[1, 2], [3, 4]])),
        a * 0.5,
        a & b,
        a | b,
        math.sqrt(math.abs(x)),
        math.exp(x / 10.0),
        math.pow(x, 2),
        math.sin(x),
        math.atan2(x, 2.0),
        math.floor(x / 2.0),
        math.tanh(x),
    )


pipe = computed()
pipe.build()
outs = pipe.run()
for i, (a, b) in enumerate(zip(left, right)):
    x = a.astype(np.float64)
    wanted = [
        a + b,
        a - b,
        a * b,
        a / b,
        -a,
        a * 2,
        10 - a,
        a + [[1, 2], [3, 4]],
        a * 0.5,
        a & b,
        a | b,
        np.sqrt(np.abs(x)),
        np.exp(x / 10),
        x * x,
        np.sin(x),
        np.arctan2(x, 2),
        np.floor(x / 2),
        np.tanh(x),
    ]
    for k, (out, w) in enumerate(zip(outs, wanted)):
        np.testing.assert_allclose(out.at(i), w, rtol=1e-5, err_msg=str(k))
    assert outs[0].at(i).dtype == np.int32 and outs[3].at(i).dtype == np.float32 and outs[8].at(i).dtype == np.float32
print(f"expressions: {len(outs)} of them, two batches and constants")
