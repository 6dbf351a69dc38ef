# SPDX-License-Identifier: Apache-2.0
"""Arrays from .npy files: whole, in Fortran's order, and regions of them."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def

root = small_data.folder()
arrays = [np.arange(60, dtype=np.float32).reshape(5, 12) + 100 * n for n in range(4)]
for n, array in enumerate(arrays):
    np.save(root / f"{n}.npy", np.asfortranarray(array) if n % 2 else array)


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def read(region):
    return fn.readers.numpy(file_root=str(root), file_filter="*.npy", **region)


def run(**region):
    pipe = read(region)
    pipe.build()
    return pipe.run()[0].as_array()


whole = np.stack(arrays)
assert (run() == whole).all()
assert (run(roi_start=[1, 2], roi_shape=[3, 4]) == whole[:, 1:4, 2:6]).all()
assert (run(roi_start=[2], roi_end=[7], roi_axes=[1]) == whole[:, :, 2:7]).all()
assert (run(rel_roi_start=[0.5], rel_roi_shape=[0.25], roi_axes=[1]) == whole[:, :, 6:9]).all()
beyond = run(roi_start=[-1, 0], roi_end=[2, 12], out_of_bounds_policy="pad", fill_value=-5)
assert (beyond[:, 0] == -5).all() and (beyond[:, 1:] == whole[:, :2]).all()
print("numpy reader: four arrays whole, and four regions of each")
