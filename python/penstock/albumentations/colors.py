# SPDX-License-Identifier: Apache-2.0
"""What the transforms of values do: colors, blur, noise, holes, types."""

import numpy as np

from .. import _core, augment, fn
from .. import math as values_math
from ..augment import draws, numbers
from ..augment.samples import axes_of, extents, pixels_of
from .._base.element_types import DType
from ..sample import Boxes, Image, Mask, Points
from .geometry import integer, values


def rank(image):
    """The number of dimensions."""
    return image.ndim() if callable(image.ndim) else image.ndim


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


def ellipse(width, height):
    """Rectangles (x, y, width, height) whose union is OpenCV's elliptic mask of this size."""
    r, c = height // 2, width // 2
    runs = []
    for y in range(height):
        reach = int(np.rint(c * np.sqrt(max(r * r - (y - r) ** 2, 0)) / r)) if r else c
        runs.append((max(c - reach, 0), min(c + reach + 1, width)))
    found = []
    for run in sorted(set(runs)):
        inside = [y for y, other in enumerate(runs) if other[0] <= run[0] and run[1] <= other[1]]
        found.append((run[0], inside[0], run[1] - run[0], inside[-1] - inside[0] + 1))
    return found


def morphological(x, a):
    if a.operation not in ("dilation", "erosion"):
        raise ValueError(f"Morphological: operation must be 'dilation' or 'erosion', got {a.operation!r}")
    width, height = a.scale
    op, join = (fn.dilate, values_math.max) if a.operation == "dilation" else (fn.erode, values_math.min)

    def changed(image):
        made = None
        for left, top, wide, tall in ellipse(int(width), int(height)):
            at = [int(width) // 2 - left, int(height) // 2 - top]
            part = op(image, mask_size=[wide, tall], anchor=at)
            made = part if made is None else join(made, part)
        return made

    made = x.with_images(changed)
    return made.replaced({n: changed(made[n]) for n, kind in made.kinds.items() if isinstance(kind, Mask)})


def user_functions(x, a):
    """Functions of the program: they get values of the pipeline, or at once arrays."""
    made = {}
    for name, kind in x.kinds.items():
        function = {Image: a.image, Mask: a.mask, Boxes: a.bboxes, Points: a.keypoints}.get(type(kind))
        if function is not None:
            value = x[name]
            value = value.cpu().numpy() if hasattr(value, "cpu") and hasattr(value, "numpy") else value
            result = function(value)
            layout = {2: "HW", 3: "HWC"}.get(getattr(result, "ndim", 0), "")
            pixels = isinstance(kind, (Image, Mask)) and isinstance(result, np.ndarray)
            made[name] = _core.tensor(np.ascontiguousarray(result), layout=layout) if pixels else result
    return x.mixed({**x, **made})
