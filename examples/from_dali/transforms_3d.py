# SPDX-License-Identifier: Apache-2.0
"""Affine transforms of points in space: made, combined, applied; and of the plane, with the same operators."""

import numpy as np
from nvidia.dali import fn, pipeline_def

points = np.random.default_rng(0).uniform(-1, 1, (50, 3)).astype(np.float32)


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def moved():
    data = fn.external_source(source=lambda: [points] * 3)
    angle = fn.external_source(source=lambda: [np.float32(30 * k) for k in range(3)])
    turn = fn.transforms.rotation(angle=angle, axis=[0, 0, 1], center=[1, 0, 0])
    stretch = fn.transforms.scale(scale=[1, 2, 3])
    push = fn.transforms.translation(offset=[0.5, 0, -1])
    both = fn.transforms.combine(stretch, turn, push)
    chained = fn.transforms.translation(fn.transforms.combine(stretch, turn), offset=[0.5, 0, -1])
    box = fn.transforms.crop(from_start=[-1, -1, -1], from_end=[1, 1, 1], to_start=[0, 0, 0], to_end=[10, 20, 30])
    slanted = fn.transforms.shear(shear=[0.5, -0.25])
    return angle, both, chained, fn.coord_transform(data, MT=both), fn.coord_transform(data, MT=box), slanted


pipe = moved()
pipe.build()
angle, both, chained, out, boxed, slanted = pipe.run()
for i in range(3):
    a = np.deg2rad(float(angle.at(i)))
    turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    center = np.array([1, 0, 0])
    wanted = (points * [1, 2, 3] - center) @ turn.T + center + [0.5, 0, -1]
    np.testing.assert_allclose(out.at(i), wanted, atol=1e-5)
    np.testing.assert_allclose(both.at(i), chained.at(i), atol=1e-6)
    np.testing.assert_allclose(boxed.at(i), (points + 1) * [5, 10, 15], atol=1e-5)
    np.testing.assert_allclose(slanted.at(i), [[1, 0.5, 0], [-0.25, 1, 0]], atol=1e-6)
print("3d transforms: 50 points stretched, turned by three angles and pushed, as one matrix and as three")
