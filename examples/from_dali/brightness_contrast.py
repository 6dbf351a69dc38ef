# SPDX-License-Identifier: Apache-2.0
"""Brightness and contrast, one number for all and a number for each sample, rounded and clamped as NumPy says."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

pictures = [small_data.picture(n) for n in range(3)]


@pipeline_def(batch_size=3, num_threads=1, device_id=None, seed=5)
def lights():
    images = fn.external_source(source=lambda: pictures, layout="HWC")
    b, c = fn.random.uniform(range=[0.5, 1.5]), fn.random.uniform(range=[0.5, 2.0])
    return (
        b,
        c,
        fn.brightness_contrast(images, brightness=b, contrast=c, brightness_shift=0.1, contrast_center=100),
        fn.brightness(images, brightness=0.5),
        fn.contrast(images, contrast=3, contrast_center=128),
        fn.brightness_contrast(images, brightness=2, contrast=0.5, dtype=types.FLOAT),
    )


pipe = lights()
pipe.build()
b, c, both, dark, hard, wide = pipe.run()
for i, x in enumerate(np.float64(pictures)):
    brightness, contrast = float(b.at(i)), float(c.at(i))
    wanted = brightness * (100 + contrast * (x - 100)) + 0.1 * 255
    assert np.abs(both.at(i) - np.clip(wanted, 0, 255)).max() <= 0.51
    assert np.abs(dark.at(i) - x / 2).max() <= 0.51
    assert (hard.at(i) == np.clip(128 + 3 * (x - 128), 0, 255)).all()
    np.testing.assert_allclose(wide.at(i), 2 * (128 + 0.5 * (x - 128)), rtol=1e-3)
assert len(set(b.as_array().tolist())) == 3
print("brightness and contrast: four operators on three pictures against their formula")
