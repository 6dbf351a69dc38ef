# SPDX-License-Identifier: Apache-2.0
"""What the transforms of values do: colors, blur, noise, holes, types."""

import numpy as np

from .. import augment, fn
from ..augment import draws, numbers
from ..augment.samples import axes_of, extents, pixels_of
from ..base.element_types import DType
from .geometry import integer, values


def largest(x):
    """The largest value of an image: of its type, or 1."""
    dtype = pixels_of(x).dtype
    return {DType.UINT8: 255.0, DType.UINT16: 65535.0}.get(dtype, 255.0 if dtype in (np.uint8, DType.NO_TYPE) else 1.0)


def brightness_contrast(x, a):
    if not a.brightness_by_max or a.ensure_safe_range:
        raise ValueError("RandomBrightnessContrast: brightness_by_max=False and ensure_safe_range=True are not there")
    contrast = 1.0 + draws.uniform(*a.contrast_limit)
    shift = draws.uniform(*a.brightness_limit)
    return fn.brightness_contrast(x, contrast=contrast, contrast_center=0.0, brightness_shift=shift)


def color_jitter(x, a):
    ranges = {n: getattr(a, n) for n in ("brightness", "contrast", "saturation", "hue")}
    return augment.color_jitter(x, **ranges)


def to_gray(x, a):
    if a.method != "weighted_average":
        raise ValueError(f"ToGray: method must be 'weighted_average', got {a.method!r}")
    return fn.grayscale(x, num_output_channels=a.num_output_channels)


def posterize(x, a):
    bits = a.num_bits
    return fn.posterize(x, bits=integer(bits) if isinstance(bits, (list, tuple)) else bits)


def solarize(x, a):
    return fn.solarize(x, threshold=draws.uniform(*a.threshold_range) * largest(x))


def equalize(x, a):
    if a.mode != "cv" or not a.by_channels or a.mask is not None:
        raise ValueError("Equalize: mode='cv' by channels and without a mask is all that is there")
    return fn.equalize(x)


def clahe(x, a):
    across, down = a.tile_grid_size
    return fn.clahe(x, tiles_x=across, tiles_y=down, clip_limit=draws.uniform(*a.clip_limit))


def odd(limits):
    """An odd number within limits."""
    low, high = (int(v) for v in limits)
    low, high = max(low + (low + 1) % 2, 1), high - (high + 1) % 2
    return integer((0, (high - low) // 2)) * 2 + low


def blur(x, a):
    return fn.box_blur(x, window_size=[odd(a.blur_limit)])


def gaussian_blur(x, a):
    return fn.gaussian_blur(x, window_size=[odd(a.blur_limit)], sigma=[draws.uniform(*a.sigma_limit)])


def median_blur(x, a):
    return fn.median_blur(x, window_size=[odd(a.blur_limit)])


def gauss_noise(x, a):
    if not a.per_channel or a.noise_scale_factor != 1:
        raise ValueError("GaussNoise: per_channel=True and noise_scale_factor=1 are all that is there")
    most = largest(x)
    return fn.noise.gaussian(x, mean=draws.uniform(*a.mean_range) * most, stddev=draws.uniform(*a.std_range) * most)


def salt_and_pepper(x, a):
    share = draws.uniform(*a.salt_vs_pepper)
    return fn.noise.salt_and_pepper(x, prob=draws.uniform(*a.amount), salt_vs_pepper=share / 1.0)


def compression(x, a):
    if a.compression_type != "jpeg":
        raise ValueError(f"ImageCompression: compression_type must be 'jpeg', got {a.compression_type!r}")
    return fn.jpeg_compression_distortion(x, quality=integer(a.quality_range))


def rgb_shift(x, a):
    shifts = [draws.uniform(*limit) for limit in (a.r_shift_limit, a.g_shift_limit, a.b_shift_limit)]
    dtype = _type_of(x)
    return fn.crop_mirror_normalize(x, mean=[-1.0 * s for s in shifts], output_layout="", dtype=dtype)


def _type_of(x):
    dtype = pixels_of(x).dtype
    return DType.UINT8 if dtype in (np.uint8, DType.NO_TYPE) else dtype


def _hole(limits, extent):
    if isinstance(limits[0], int):
        return integer((limits[0], limits[1]))
    return numbers.floor(draws.uniform(*limits) * extent)


def coarse_dropout(x, a):
    if isinstance(a.fill, str) or a.fill_mask is not None:
        raise ValueError("CoarseDropout: fill is a number or one for each channel, and fill_mask is None")
    least, most = a.num_holes_range
    count, (height, width) = integer((least, most)), extents(x)
    anchors, shapes = [], []
    for k in range(most):
        used = numbers.where(k < count, 1, 0) if least <= k else 1
        tall, wide = _hole(a.hole_height_range, height), _hole(a.hole_width_range, width)
        tall, wide = numbers.least(tall, height), numbers.least(wide, width)
        anchors += [_start(height - tall), _start(width - wide)]
        shapes += [tall * used, wide * used]
    return fn.erase(x, anchor=anchors, shape=shapes, axes=axes_of(x), fill_value=values(a.fill))


def _start(room):
    return draws.below(room + 1) if hasattr(room, "node") else draws.below(int(room) + 1)


def erasing(x, a):
    if a.fill_mask is not None:
        raise ValueError("Erasing: fill_mask must be None")
    return augment.random_erasing(x, p=1.0, scale=a.scale, ratio=a.ratio, value=a.fill)


def normalize(x, a):
    if a.normalization != "standard":
        raise ValueError(f"Normalize: normalization must be 'standard', got {a.normalization!r}")
    most = 1.0 if a.max_pixel_value is None else float(a.max_pixel_value)
    mean, std = (
        [v * most for v in values(list(pair) if isinstance(pair, tuple) else pair)] for pair in (a.mean, a.std)
    )
    return fn.crop_mirror_normalize(x, mean=mean, std=std, output_layout="", dtype=DType.FLOAT)


def to_float(x, a):
    most = largest(x) if a.max_value is None else float(a.max_value)
    return fn.crop_mirror_normalize(x, std=[most], output_layout="", dtype=DType.FLOAT)


def to_tensor(x, a):
    return fn.crop_mirror_normalize(x, output_layout="CHW", dtype=_type_of(x))
