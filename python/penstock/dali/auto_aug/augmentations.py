# SPDX-License-Identifier: Apache-2.0
"""The augmentations of the policies. Each takes samples of uint8, HWC or FHWC, and a parameter."""

from __future__ import annotations


import numpy as np

from ... import fn
from ... import math as node_math
from ..._base.element_types import DType
from ...types import Constant
from .core.decorator import augmentation

__all__ = [
    "augmentation",
    "auto_contrast",
    "brightness",
    "color",
    "contrast",
    "equalize",
    "identity",
    "invert",
    "poster_mask_uint8",
    "posterize",
    "rotate",
    "sharpness",
    "sharpness_kernel",
    "sharpness_kernel_shifted",
    "shear_x",
    "shear_y",
    "shift_enhance_range",
    "solarize",
    "solarize_add",
    "solarize_add_shift",
    "translate_x",
    "translate_x_no_shape",
    "translate_y",
    "translate_y_no_shape",
    "warp_x_param",
    "warp_y_param",
]
_GRAY = (0.299, 0.587, 0.114)  # the shares of R, G and B


def warp_x_param(magnitude: float) -> list[float]:
    """A magnitude along x, as a pair (x, y)."""
    return [magnitude, 0.0]


def warp_y_param(magnitude: float) -> list[float]:
    """A magnitude along y, as a pair (x, y)."""
    return [0.0, magnitude]


def _border(fill_value, interp_type):
    """The arguments of warps: without a fill value the border is repeated."""
    given = {"fill_value": fill_value, "interp_type": interp_type}
    return {name: value for name, value in given.items() if value is not None}


def _moved(data, matrix, fill_value, interp_type):
    return fn.warp_affine(data, matrix=matrix, inverse_map=False, **_border(fill_value, interp_type))


def _sheared(data, shear, fill_value, interp_type):
    return _moved(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


def _shifted(data, offset, fill_value, interp_type):
    return _moved(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_x_param)
def shear_x(data, shear, fill_value=128, interp_type=None):
    return _sheared(data, shear, fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_y_param)
def shear_y(data, shear, fill_value=128, interp_type=None):
    return _sheared(data, shear, fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_x_param)
def translate_x(data, rel_offset, shape, fill_value=128, interp_type=None):
    return _shifted(data, rel_offset * shape[1], fill_value, interp_type)


@augmentation(mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_x_param, name="translate_x")
def translate_x_no_shape(data, offset, fill_value=128, interp_type=None):
    return _shifted(data, offset, fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_y_param)
def translate_y(data, rel_offset, shape, fill_value=128, interp_type=None):
    return _shifted(data, rel_offset * shape[0], fill_value, interp_type)


@augmentation(mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_y_param, name="translate_y")
def translate_y_no_shape(data, offset, fill_value=128, interp_type=None):
    return _shifted(data, offset, fill_value, interp_type)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(data, angle, fill_value=128, interp_type=None, rotate_keep_size=True):
    return fn.rotate(data, angle=angle, keep_size=rotate_keep_size, **_border(fill_value, interp_type))


def shift_enhance_range(magnitude: float) -> float:
    """A magnitude about 0 as a factor about 1."""
    return magnitude + 1


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def brightness(data, parameter):
    return fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def contrast(data, parameter):
    """About the mean of the gray picture."""
    means = fn.reductions.mean(data, axis_names="HW", keep_dims=False)
    weights = Constant(np.float32(_GRAY))
    center = fn.reductions.sum(means * weights, axes=[-1])
    return fn.contrast(data, contrast=parameter, contrast_center=center)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def color(data, parameter):
    return fn.saturation(data, saturation=parameter)


def sharpness_kernel(magnitude: float) -> np.ndarray:
    """A kernel of 3 x 3 that adds `magnitude` times the difference from the smoothed image."""
    smooth = np.ones((3, 3), np.float32)
    smooth[1, 1] = 5
    smooth /= smooth.sum()
    same = np.zeros((3, 3), np.float32)
    same[1, 1] = 1
    return (same + np.float32(magnitude) * (same - smooth)).astype(np.float32)


def sharpness_kernel_shifted(magnitude: float) -> np.ndarray:
    """sharpness_kernel() of a factor about 1."""
    return sharpness_kernel(magnitude - 1)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=sharpness_kernel, param_device="auto")
def sharpness(data, kernel):
    return fn.correlate(data, kernel)


def poster_mask_uint8(magnitude: float) -> np.ndarray:
    """A mask of the upper bits, from 1 to 8 of them."""
    bits = min(max(round(magnitude), 1), 8)
    return np.array(256 - (1 << (8 - bits)), np.uint8)


@augmentation(mag_range=(0, 4), mag_to_param=poster_mask_uint8, param_device="auto")
def posterize(data, mask):
    return data & mask


def _inverted(data):
    return Constant(255, dtype=DType.UINT8) - data


@augmentation(mag_range=(256, 0), param_device="auto")
def solarize(data, threshold):
    return fn.where(data < threshold, data, _inverted(data))


def solarize_add_shift(shift: float) -> np.ndarray:
    """What solarize_add adds."""
    if not 0 <= shift < 128:
        raise ValueError(f"solarize_add adds from 0 to 127, got {shift!r}")
    return np.uint8(shift)


@augmentation(mag_range=(0, 110), mag_to_param=solarize_add_shift, param_device="auto")
def solarize_add(data, shift):
    return fn.where(data < 128, data + shift, data)


@augmentation
def invert(data, _):
    return _inverted(data)


@augmentation
def equalize(data, _):
    return fn.equalize(data)


@augmentation
def auto_contrast(data, _):
    low = fn.reductions.min(data, axis_names="HW", keep_dims=True)
    high = fn.reductions.max(data, axis_names="HW", keep_dims=True)
    span = fn.cast(high, dtype=DType.FLOAT) - low
    scaled = (data - fn.cast(low, dtype=DType.FLOAT)) * (255.0 / node_math.max(span, 1.0))
    return fn.where(span > 0, fn.cast_like(scaled, data), data)


@augmentation
def identity(data, _):
    return data
