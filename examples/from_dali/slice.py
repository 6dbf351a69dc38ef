# SPDX-License-Identifier: Apache-2.0
"""Parts of arrays: by operator and by Python's brackets, in absolute and relative numbers, with padding."""

import numpy as np
import small_data
from nvidia.dali import fn, newaxis, pipeline_def

pictures = [small_data.picture(n, 40, 50) for n in range(2)]


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def parts():
    x = fn.external_source(source=lambda: pictures, layout="HWC")
    row = fn.external_source(source=lambda: [np.int64(3), np.int64(9)])
    return (
        fn.slice(x, start=[5, 10], end=[15, 30], axis_names="HW"),
        fn.slice(x, rel_start=[0.25, 0.5], rel_shape=[0.5, 0.5], axes=[0, 1]),
        fn.slice(x, start=[-2], shape=[6], axis_names="H", out_of_bounds_policy="pad", fill_values=9),
        fn.slice(x, start=[-2], shape=[6], axis_names="H", out_of_bounds_policy="trim_to_shape"),
        x[4:, :-5],
        x[:, ::1, 0],
        x[row],
        x[row : row + 4, -1],
        x[0:40:2, 1::3],
        x[:, :, 1:],
        x[newaxis("F")],
    )


pipe = parts()
pipe.build()
outs = pipe.run()
assert outs[-1].layout() == "FHWC"
for i, (x, row) in enumerate(zip(pictures, (3, 9))):
    wanted = [
        x[5:15, 10:30],
        x[10:30, 25:50],
        np.concatenate([np.full((2, 50, 3), 9), x[:4]]),
        x[:4],
        x[4:, :-5],
        x[:, :, 0],
        x[row],
        x[row : row + 4, -1],
        x[0:40:2, 1::3],
        x[:, :, 1:],
        x[None],
    ]
    for k, (out, w) in enumerate(zip(outs, wanted)):
        assert np.array_equal(out.at(i), w), k
print(f"slice: {len(outs)} parts of two pictures")
