# SPDX-License-Identifier: Apache-2.0
"""New shapes and types for the same bytes: reshape, reinterpret, squeeze, expand_dims, layouts."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types

batch = [np.arange(24, dtype=np.int32).reshape(4, 6) + 100 * n for n in range(2)]


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def shapes():
    data = fn.external_source(source=lambda: batch, layout="HW")
    rest = fn.reshape(data, shape=[3, -1])
    relative = fn.reshape(data, rel_shape=[0.5, -1])
    swapped = fn.reshape(data, src_dims=[1, 0])
    grown = fn.expand_dims(data, axes=[0, 2], new_axis_names="CD")
    back = fn.squeeze(grown, axis_names="C")
    parts = fn.reinterpret(data, dtype=types.UINT8)
    pairs = fn.reinterpret(data, dtype=types.INT16, shape=[4, 6, 2], layout="HWC")
    like = fn.reshape(data, shape=fn.constant(idata=[2, 12], shape=[2]))
    return rest, relative, swapped, grown, back, parts, pairs, like


pipe = shapes()
pipe.build()
rest, relative, swapped, grown, back, parts, pairs, like = pipe.run()
assert swapped.layout() == "HW"  # a reshape moves no data: the letters stay where they are
assert grown.layout() == "CHDW" and back.layout() == "HDW" and pairs.layout() == "HWC"
for i, x in enumerate(batch):
    assert (rest.at(i) == x.reshape(3, 8)).all()
    assert (relative.at(i) == x.reshape(2, 12)).all() and (like.at(i) == x.reshape(2, 12)).all()
    assert (swapped.at(i) == x.reshape(6, 4)).all()
    assert grown.at(i).shape == (1, 4, 1, 6) and back.at(i).shape == (4, 1, 6)
    assert (parts.at(i) == x.view(np.uint8)).all() and (pairs.at(i) == x.view(np.int16).reshape(4, 6, 2)).all()
print("reinterpret: eight views of two arrays, the bytes unchanged")
