# SPDX-License-Identifier: Apache-2.0
"""Choices by arithmetic: comparisons make masks, masks multiply; bits of masks combine."""

import numpy as np
from nvidia.dali import fn, math, pipeline_def, types

left = [np.array([[1, 2], [3, 4]], np.int32), np.array([[42, -5], [0, 7]], np.int32)]
right = [np.array([[1, 5], [2, 4]], np.int32), np.array([[0, -5], [10, 7]], np.int32)]


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def chosen():
    a, b = fn.external_source(source=lambda: (left, right), num_outputs=2)
    bigger = a > b
    picked = bigger * a + (bigger ^ True) * b
    between = (a >= 0) & (a <= 10)
    kept = between * a + (between == False) * types.Constant(-1).int32()  # noqa: E712  an operator here, not a comparison
    return bigger, a == b, a != b, picked, kept, math.clamp(a, 0, 5), math.min(a, b), math.max(a, b)


pipe = chosen()
pipe.build()
outs = pipe.run()
assert outs[0].at(0).dtype == np.bool_ and outs[3].at(0).dtype == np.int32
for i, (a, b) in enumerate(zip(left, right)):
    wanted = [
        a > b,
        a == b,
        a != b,
        np.where(a > b, a, b),
        np.where((a >= 0) & (a <= 10), a, -1),
        a.clip(0, 5),
        np.minimum(a, b),
        np.maximum(a, b),
    ]
    for out, w in zip(outs, wanted):
        assert (out.at(i) == w).all()
print("conditional expressions: comparisons, masks, extremes")
