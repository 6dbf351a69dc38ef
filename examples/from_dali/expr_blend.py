# SPDX-License-Identifier: Apache-2.0
"""Two pictures blended by arithmetic in types wide enough, against NumPy."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

first, second = ([small_data.picture(n + k) for n in range(2)] for k in (0, 4))


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def blended():
    a = fn.external_source(source=lambda: first, layout="HWC")
    b = fn.external_source(source=lambda: second, layout="HWC")
    whole = a // 2 + b // 2
    exact = fn.cast(
        (a * types.Constant(3).uint16() + b * types.Constant(1).uint16()) / types.Constant(4).float32(),
        dtype=types.UINT8,
    )
    weight = types.Constant(0.25).float32()
    return whole, exact, a * types.Constant(0.75).float32() + b * weight, a + b, a ^ b


pipe = blended()
pipe.build()
whole, exact, weighted, wrapped, exclusive = pipe.run()
for i, (a, b) in enumerate(zip(first, second)):
    assert (whole.at(i) == a // 2 + b // 2).all() and whole.at(i).dtype == np.int32  # a plain 2 is an int32
    assert np.abs(exact.at(i) - (a * 3.0 + b) / 4).max() <= 0.51
    np.testing.assert_allclose(weighted.at(i), a * 0.75 + b * 0.25, rtol=1e-6)
    assert weighted.at(i).dtype == np.float32
    assert (wrapped.at(i) == a + b).all()  # uint8 wraps, as in NumPy
    assert (exclusive.at(i) == a ^ b).all()
print("blend: five blends of two pictures")
