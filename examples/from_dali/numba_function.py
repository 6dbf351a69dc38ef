# SPDX-License-Identifier: Apache-2.0
"""Functions that Numba compiles, as operators: with the input's shape, and with their own."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.numba.fn.experimental import numba_function

pictures = [small_data.picture(n, 20 + n, 30) for n in range(3)]


def negative(out, image):
    out[:] = 255 - image


def turned(out, image):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = image[x, image.shape[1] - 1 - y]


def turned_shapes(outs, ins):
    for k in range(len(outs[0])):
        outs[0][k][0] = ins[0][k][1]
        outs[0][k][1] = ins[0][k][0]
        outs[0][k][2] = ins[0][k][2]


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def made():
    images = fn.external_source(source=lambda: pictures, layout="HWC")
    kinds = dict(in_types=[types.UINT8], out_types=[types.UINT8], ins_ndim=[3], outs_ndim=[3])
    return (
        numba_function(images, run_fn=negative, batch_processing=False, **kinds),
        numba_function(images, run_fn=turned, setup_fn=turned_shapes, batch_processing=False, **kinds),
    )


pipe = made()
pipe.build()
inverted, rotated = pipe.run()
for i, x in enumerate(pictures):
    assert (inverted.at(i) == 255 - x).all() and (rotated.at(i) == np.rot90(x)).all()
print("numba function: three negatives, three quarter turns")
