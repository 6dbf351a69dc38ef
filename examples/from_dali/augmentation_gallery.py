# SPDX-License-Identifier: Apache-2.0
"""One picture through many augmentations, chosen by name from a table, each with a property that must hold."""

import cv2
import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types

picture = small_data.picture(3)
H, W = picture.shape[:2]
GALLERY = {
    "flip": (lambda x: fn.flip(x, horizontal=1, vertical=1), lambda y: (y == picture[::-1, ::-1]).all()),
    "crop": (
        lambda x: fn.crop(x, crop=(20, 30), crop_pos_x=0, crop_pos_y=1),
        lambda y: (y == picture[H - 20 :, :30]).all(),
    ),
    "resize": (
        lambda x: fn.resize(x, resize_x=32, resize_y=24, antialias=False),
        lambda y: np.abs(y - cv2.resize(picture, (32, 24)).astype(int)).max() <= 1,
    ),
    "warp_affine": (
        lambda x: fn.warp_affine(x, matrix=[1, 0, 5, 0, 1, 3], interp_type=types.INTERP_NN, fill_value=0),
        lambda y: (y[: H - 3, : W - 5] == picture[3:, 5:]).all(),
    ),
    "rotate": (
        lambda x: fn.rotate(x, angle=90.0, interp_type=types.INTERP_NN),
        lambda y: (y == np.rot90(picture)).all(),
    ),
    "grid_mask": (lambda x: fn.grid_mask(x, ratio=0.5, tile=16), lambda y: 0.1 < (y == 0).all(axis=2).mean() < 0.5),
    "gaussian_blur": (
        lambda x: fn.gaussian_blur(x, window_size=5, sigma=1.2),
        lambda y: np.abs(y - cv2.GaussianBlur(picture, (5, 5), 1.2).astype(int)).max() <= 1,
    ),
    "water": (lambda x: fn.water(x), lambda y: y.shape == picture.shape and (y != picture).any()),
    "sphere": (lambda x: fn.sphere(x), lambda y: y.shape == picture.shape and (y != picture).any()),
    "pixels": (lambda x: fn.cast(x / 255.0, dtype=types.FLOAT16), lambda y: y.dtype == np.float16 and y.max() <= 1),
    "jpeg": (
        lambda x: fn.jpeg_compression_distortion(x, quality=5),
        lambda y: 0 < np.abs(y - picture.astype(int)).mean() < 30,
    ),
    "salt": (lambda x: fn.noise.salt_and_pepper(x, prob=0.2), lambda y: 0.1 < (y != picture).any(axis=2).mean() < 0.3),
    "paste": (
        lambda x: fn.paste(x, ratio=2, fill_value=(9, 8, 7), paste_x=0, paste_y=0),
        lambda y: (y[:H, :W] == picture).all() and (y[H:] == (9, 8, 7)).all(),
    ),
}


@pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=3)
def gallery():
    image = fn.external_source(source=lambda: [picture], layout="HWC")
    return tuple(made(image) for made, _ in GALLERY.values())


pipe = gallery()
pipe.build()
for (name, (_, holds)), out in zip(GALLERY.items(), pipe.run()):
    assert holds(np.asarray(out.at(0))), name
print(f"augmentation gallery: {len(GALLERY)} pictures of one")
