# SPDX-License-Identifier: Apache-2.0
"""A blur that follows the content, as a user of DALI published it: only the import is changed, and `masks` filled in.
Lines between the marks are the author's."""

import numpy as np

from penstock import fn, pipeline_def, types

BATCH = [(np.random.default_rng(i).random((64, 96)) < i / 10).astype(np.uint8) * 255 for i in range(8)]


@pipeline_def(experimental_exec_dynamic=True)  # the author's
def dynamic_blur_pipeline():  # the author's
    masks = fn.external_source(lambda: BATCH, layout="HW")
    # --- the author's
    # the ratio of nonzero pixels, computed on the GPU
    nonzero_ratio = fn.reductions.mean(fn.cast(masks > 0, dtype=types.FLOAT), axes=(0, 1))
    # the result goes back to the CPU and gives the window's size
    blur_size = fn.cast(16 + nonzero_ratio.cpu() * 300, dtype=types.INT32)
    # a blur that follows the content
    return fn.gaussian_blur(masks, window_size=blur_size)
    # --- until here


(blurred,) = dynamic_blur_pipeline(batch_size=8, num_threads=2).run()
for mask, result in zip(BATCH, blurred):
    assert result.numpy().shape == mask.shape
    assert abs(float(result.numpy().mean()) - float(mask.mean())) < 8
print("each mask is blurred by its own window")
