# SPDX-License-Identifier: Apache-2.0
"""Rows of the table: arithmetic of values, one pixel at a time."""

import numpy as np

from .. import _core, fn
from .. import math as value_math
from .calls import Step, each, moved, row
from .enumerations import HistogramEq, NormalizeFlags, Round
from .formats import Type, scalar_of
from .operands import type_of, values_of

_BOTH = ("T", "V")


def both(signature):
    """The forms for a Tensor and for images, of one signature."""
    return [f"{kind}: {signature}" for kind in _BOTH]


def rounded(call, x, dtype):
    """The last step: numbers as another type."""
    mode = Round(call.round)
    if mode in (Round.NEAREST_WRAP, Round.TRUNCATE_WRAP):
        call.refuse(f"{mode.name} is not there; NEAREST and TRUNCATE limit values to the range of the type")
    if mode == Round.TRUNCATE and np.dtype(dtype).kind != "f":
        x = call.step(fn.where, x < 0.0, value_math.ceil(x), value_math.floor(x))
    return Step(fn.cast, x, dtype=str(np.dtype(dtype)))


def own_type(call):
    """The type of the result: that of dst, or that of src."""
    return call.want.dtype if call.want is not None else type_of(call.x)


def largest(dtype):
    """The largest value of a type, 1 for floating point."""
    return float(np.iinfo(dtype).max) if dtype.kind in "ui" else 1.0


@row("T: src, dtype, scale=1.0, offset=0.0, *, round=Round.NEAREST", by_dst=("dtype",), over=("brightness_contrast",))
def convertto(call):
    """Multiplies values, adds an offset, and gives them another type."""
    dtype = call.want.dtype if call.want is not None else scalar_of(Type(call.dtype))[0]
    scale, offset = float(call.scale), float(call.offset)
    if scale == 1 and offset == 0 and (call.round == Round.NEAREST or type_of(call.x).kind != "f"):
        return rounded(_Plain(call), call.x, dtype)
    if call.round == Round.NEAREST:
        shift = offset / largest(dtype)
        given = {"brightness": scale, "brightness_shift": shift, "contrast_center": 0.0}
        if np.float32(shift) * np.float32(largest(dtype)) == np.float32(offset):
            return Step(fn.brightness_contrast, call.x, dtype=str(dtype), **given)
    wide = "float64" if type_of(call.x).itemsize > 2 and type_of(call.x).kind != "f" else "float32"
    return rounded(call, call.step(fn.cast, call.x, dtype=wide) * scale + offset, dtype)


class _Plain:
    """A call whose rounding has no effect."""

    def __init__(self, call):
        self.round, self.step, self.refuse = Round.NEAREST, call.step, call.refuse


_NORMALIZE = "flags=None, *, globalscale=1.0, globalshift=0.0, epsilon=0.0"


@row(*both(f"src, base, scale, {_NORMALIZE}"), over=("crop_mirror_normalize", "normalize"))
def normalize(call):
    """Subtracts the base, and multiplies by the scale or divides by the standard deviation."""
    base, scale = (_by_axes(call, v) for v in (call.base, call.scale))
    deviations = bool(int(call.flags or 0) & NormalizeFlags.SCALE_IS_STDDEV)
    factor = 1 / np.sqrt(scale * scale + np.float32(call.epsilon)) if deviations else scale
    layout, samples, channels = call.x.layout(), len(call.x), call.channels
    dtype = str(own_type(call))
    shift = {"scale": float(call.globalscale), "shift": float(call.globalshift), "dtype": dtype}
    per_channel = [_per_channel(call, v, samples, channels) for v in (base, factor)]
    if layout in ("HWC", "CHW") and all(v is not None for v in per_channel) and (per_channel[1] != 0).all():
        mean, std = each(per_channel[0], samples, channels), each(1 / per_channel[1], samples, channels)
        return Step(fn.crop_mirror_normalize, call.x, mean=mean, std=std, output_layout=layout, **shift)
    base, factor = (_core.Batch(_rows(call, v, samples), layout) for v in (base, factor))
    return Step(fn.cast, (call.x - base) * factor * shift["scale"] + shift["shift"], dtype=dtype)


def _by_axes(call, argument):
    """A base or a scale with the axes N, H, W and C; channels that images do not have are cut off."""
    values = np.asarray(values_of(argument), np.float32)
    letters = str(getattr(argument, "layout", None) or "NHWC"[4 - values.ndim :])
    if values.ndim > 4 or len(letters) != values.ndim or set(letters) - set("NHWC"):
        call.refuse(f"base and scale have axes of NHWC, got the shape {values.shape} and the layout {letters}")
    values = values.transpose([letters.index(a) for a in "NHWC" if a in letters])
    values = values.reshape(
        [values.shape["".join(a for a in "NHWC" if a in letters).index(a)] if a in letters else 1 for a in "NHWC"]
    )
    return values[..., : max(call.channels, 1)]


def _per_channel(call, values, samples, channels):
    """A row of one number a channel for all samples or for each; None for values that vary over a picture."""
    if values.shape[1:3] != (1, 1):
        return None
    return np.ascontiguousarray(np.broadcast_to(values[:, 0, 0], (len(values), channels)))


def _rows(call, values, samples):
    """The values of each sample, with the axes of the sample."""
    if len(values) not in (1, samples):
        call.refuse(f"base and scale are for {len(values)} of {samples} samples")
    order = {"HWC": (0, 1, 2), "CHW": (2, 0, 1)}.get(call.x.layout())
    rows = [values[i if len(values) > 1 else 0] for i in range(samples)]
    return [np.ascontiguousarray(r.transpose(order) if order else r[..., 0]) for r in rows]


def _given(call, name, default):
    value = getattr(call, name)
    return default if value is None else each(np.asarray(values_of(value), np.float32), len(call.x))


_CONTRAST = (
    "brightness=None, contrast=None, brightness_shift=None, contrast_center=None, *, clamp=False, round=Round.NEAREST"
)


@row(*both(f"src, {_CONTRAST}"), over=("brightness_contrast",))
def brightness_contrast(call):
    """Scales intensities about a center, multiplies them by a factor and adds a shift."""
    dtype = own_type(call)
    full = np.float32(largest(dtype))
    given = {"brightness": _given(call, "brightness", 1.0), "contrast": _given(call, "contrast", 1.0)}
    if call.contrast_center is not None:
        given["contrast_center"] = _given(call, "contrast_center", None)
    if call.brightness_shift is not None:
        given["brightness_shift"] = each(np.asarray(values_of(call.brightness_shift), np.float32) / full, len(call.x))
    if not call.clamp and call.round == Round.NEAREST:
        return Step(fn.brightness_contrast, call.x, dtype=str(dtype), **given)
    if dtype.kind != "f" and "brightness_shift" in given:
        given["brightness_shift"] = each(np.asarray(values_of(call.brightness_shift), np.float32), len(call.x))
    x = call.step(fn.brightness_contrast, call.x, dtype="float32", **given)
    return rounded(call, value_math.clamp(x, 0.0, float(full)) if call.clamp else x, dtype)


@row(*both("src, twist"), over=("coord_transform",))
def color_twist(call):
    """Gives each color a weighted sum of three channels and an offset; a fourth channel stays."""
    rows = np.asarray(values_of(call.twist), np.float32).reshape(-1, 3, 4)
    channels = call.channels
    if channels not in (3, 4):
        call.refuse(f"images have 3 or 4 channels, got {channels}")
    dtype = str(own_type(call))
    if channels == 3:
        return Step(fn.color_matrix, call.x, coefficients=each(rows, len(call.x), 12), dtype=dtype)
    matrix = np.zeros((len(rows), 4, 5), np.float32)
    matrix[:, :3, :3], matrix[:, :3, 4], matrix[:, 3, 3] = rows[:, :, :3], rows[:, :, 3], 1
    return transformed(call, call.x, matrix, dtype)


def transformed(call, x, matrix, dtype):
    """The step that gives each pixel weighted sums of its channels and offsets."""
    given = {"MT": each(matrix, len(x), matrix[0].size), "dtype": dtype}
    if x.layout() != "CHW":
        return Step(fn.coord_transform, x, **given)
    there = call.step(fn.transpose, x, perm=[1, 2, 0])
    return Step(fn.transpose, call.step(fn.coord_transform, there, **given), perm=[2, 0, 1])


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
    quality = each(values_of(call.quality).astype(np.int32), len(call.x))
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
