# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: contrast, hue, sharpness and other tones, as torchvision and OpenCV have them."""

import numpy as np

from .. import fn
from .. import math as value_math
from .calls import Step, each, moved, row
from .enumerations import HistogramEq, Round
from .operands import integers_of, values_of
from .values import both, own_type, rounded


@row(
    *both("src, contrast_factor, *, round=Round.NEAREST"), over=("grayscale", "reductions.mean", "brightness_contrast")
)
def adjust_contrast(call):
    """Mixes images with the mean of their gray values."""
    gray = call.x if call.channels == 1 else call.step(fn.grayscale, call.x)
    mean = call.step(fn.reductions.mean, gray, dtype="float32")
    given = {"contrast": float(call.contrast_factor), "contrast_center": mean}
    dtype = own_type(call)
    x = call.step(fn.brightness_contrast, call.x, dtype="float32", **given)
    if dtype.kind == "f":
        x = value_math.clamp(x, 0.0, 1.0)
    return rounded(call, x, dtype)


@row(*both("src, hue"), over=("adjust_hue",))
def adjust_hue(call):
    """Rotates the hue of colors in HSV, by -0.5 to 0.5 of a turn."""
    return Step(fn.adjust_hue, call.x, hue_factor=float(call.hue))


@row(*both("src, saturation"), over=("adjust_saturation",))
def adjust_saturation(call):
    """Mixes images with their gray ones."""
    return Step(fn.adjust_saturation, call.x, saturation_factor=float(call.saturation))


@row(*both("src, sharpness_factor"), over=("adjust_sharpness",))
def adjust_sharpness(call):
    """Mixes images with blurred ones."""
    return Step(fn.adjust_sharpness, call.x, sharpness_factor=float(call.sharpness_factor))


@row(*both("src"), over=("autocontrast",))
def autocontrast(call):
    """Stretches the values of each channel over the whole range."""
    return Step(fn.autocontrast, call.x)


@row(*both("src"), over=("invert",))
def invert(call):
    """Subtracts each value from the largest one."""
    return Step(fn.invert, call.x)


@row(*both("src, threshold"), over=("solarize",))
def solarize(call):
    """Inverts the values that are at least a threshold."""
    return Step(fn.solarize, call.x, threshold=float(call.threshold))


@row(*both("src, bits"), over=("posterize",))
def posterize(call):
    """Keeps the upper bits of each value."""
    return Step(fn.posterize, call.x, bits=int(call.bits))


@row(*both("src, gamma, gain=1.0, *, round=Round.NEAREST"), over=("adjust_gamma",))
def gamma_contrast(call):
    """Raises values to a power, one for all images, one for each, or one for each channel of each."""
    values, samples, channels = np.asarray(values_of(call.gamma), np.float32).reshape(-1), len(call.x), call.channels
    given = {"gain": float(call.gain)}
    if call.round != Round.NEAREST:
        call.refuse("round is NEAREST here")
    if len(values) in (1, samples):
        return Step(fn.adjust_gamma, call.x, gamma=each(values, samples), **given)
    if len(values) != samples * channels:
        call.refuse(f"gamma has one value, one for each image or one for each channel of each; got {len(values)}")
    axis = call.x.layout().index("C")
    planes = [
        call.step(
            fn.adjust_gamma,
            call.step(fn.slice, call.x, start=[c], shape=[1], axes=[axis]),
            gamma=each(values[c::channels], samples),
        )
        for c in range(channels)
    ]
    return Step(fn.cat, *planes, axis=axis)


@row(*both("src, quality"), over=("jpeg_compression_distortion",))
def jpeg_compression_distortion(call):
    """Compresses images to JPEG and decodes them."""
    quality = each(integers_of(call.quality), len(call.x))
    return moved(call, lambda images: Step(fn.jpeg_compression_distortion, images, quality=quality))


@row(
    "T: src, dtype=None, *, method=HistogramEq.OPENCV",
    "V: src, *, method=HistogramEq.OPENCV",
    by_dst=("dtype",),
    over=("equalize",),
)
def histogrameq(call):
    """Equalizes the histogram of each channel."""
    return Step(fn.equalize, call.x, rule="opencv" if call.method == HistogramEq.OPENCV else "pillow")


@row(*both("src, clip_limit=40.0, tile_grid_size=(8, 8)"), over=("clahe",))
def clahe(call):
    """Equalizes the histogram of each tile with limited contrast."""
    columns, rows = (int(n) for n in call.tile_grid_size)
    given = {"tiles_x": columns, "tiles_y": rows, "clip_limit": float(call.clip_limit), "luma_only": False}
    return moved(call, lambda images: Step(fn.clahe, images, **given))
