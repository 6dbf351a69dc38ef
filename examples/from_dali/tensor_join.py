# SPDX-License-Identifier: Apache-2.0
"""Arrays joined along an axis that they have, or along a new one; along axes with names, of different sizes."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types

a = [np.arange(6, dtype=np.int32).reshape(2, 3) + 10 * n for n in range(2)]
b = [np.full((2, 3), -n, np.int32) for n in range(2)]
wide = [np.ones((2, n + 1), np.int32) for n in range(2)]
shared = types.Constant(np.array([[7, 8, 9]], np.int32))  # of no pipeline yet


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def joined():
    x, y, z = fn.external_source(source=lambda: (a, b, wide), num_outputs=3, layout=["HW", "HW", "HW"])
    return (
        fn.cat(x, y, axis=0),
        fn.cat(x, y, z, axis=1),
        fn.cat(x, z, axis_name="W"),
        fn.stack(x, y, axis=0),
        fn.stack(x, y, axis=2),
        fn.stack(x, y, axis=-1, axis_name="C"),
        fn.cat(x, shared, axis=0),
    )


pipe = joined()
pipe.build()
outs = pipe.run()
assert outs[2].layout() == "HW" and outs[5].layout() == "HWC"
for i in range(2):
    wanted = [
        np.concatenate([a[i], b[i]]),
        np.concatenate([a[i], b[i], wide[i]], 1),
        np.concatenate([a[i], wide[i]], 1),
        np.stack([a[i], b[i]]),
        np.stack([a[i], b[i]], 2),
        np.stack([a[i], b[i]], 2),
        np.concatenate([a[i], [[7, 8, 9]]]),
    ]
    for out, w in zip(outs, wanted):
        assert np.array_equal(out.at(i), w)
print(f"tensor join: {len(outs)} ways")
