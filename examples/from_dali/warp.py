# SPDX-License-Identifier: Apache-2.0
"""Affine warps by matrices: constant, of each sample, built by transforms; against OpenCV."""

import cv2
import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

picture = small_data.picture(5)
H, W = picture.shape[:2]
matrices = [
    np.array([[0.913, 0.217, 3.3], [-0.123, 1.107, 2.6]], np.float32),
    np.array([[1, 0, -7], [0, 1, 4]], np.float32),
]


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def warped():
    images = fn.external_source(source=lambda: [picture] * 2, layout="HWC")
    matrix = fn.external_source(source=lambda: matrices)
    angle = fn.transforms.rotation(angle=15.0, center=[W / 2, H / 2])
    return (
        fn.warp_affine(images, matrix, interp_type=types.INTERP_NN, fill_value=42),
        fn.warp_affine(images, matrix=matrix, interp_type=types.INTERP_LINEAR, inverse_map=False, fill_value=0),
        fn.warp_affine(images, matrix=angle, size=(H, W), fill_value=0, inverse_map=False),
    )


pipe = warped()
pipe.build()
nearest, forward, turned = pipe.run()
y, x = np.mgrid[:H, :W] + 0.5
for i, m in enumerate(np.float64(matrices)):
    sx, sy = (np.floor(m[r, 0] * x + m[r, 1] * y + m[r, 2] + 1e-6).astype(int) for r in range(2))
    inside = (sx >= 0) & (sx < W) & (sy >= 0) & (sy < H)
    wanted = np.where(inside[..., None], picture[sy.clip(0, H - 1), sx.clip(0, W - 1)], 42)
    assert (nearest.at(i) != wanted).any(axis=2).mean() < 0.01
    centers = m.copy()
    centers[:, 2] += m[:, :2] @ [0.5, 0.5] - 0.5  # OpenCV counts from a pixel's middle
    # OpenCV's fixed point: a few levels at steep places
    assert np.abs(forward.at(i).astype(int) - cv2.warpAffine(picture, centers, (W, H))).mean() < 1
assert turned.at(0).shape == picture.shape and (turned.at(0)[0, 0] == 0).all()
m = cv2.getRotationMatrix2D((W / 2 - 0.5, H / 2 - 0.5), -15, 1)
assert np.abs(turned.at(0).astype(int) - cv2.warpAffine(picture, m, (W, H))).mean() < 1
print("warp: two matrices forth and back, and a turn about the middle")
