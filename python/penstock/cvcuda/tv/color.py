# SPDX-License-Identifier: Apache-2.0
"""Functions of cvcuda.tv that change values."""

import numpy as np

import penstock.cvcuda as cvcuda

from ... import fn
from ... import math as value_math
from ..._base.limits import integer
from .. import operands, streams
from ..calls import Step
from ..values import largest
from .arrays import applied, extents, finished, functional

_TRUNCATE = cvcuda.Round.TRUNCATE


@functional
def invert(inpt, *, stream=None):
    """Subtracts each value from the largest one."""
    return cvcuda.invert(inpt, stream=stream)


@functional
def permute_channels(inpt, permutation, *, stream=None):
    """Puts channels into another order; negative numbers count from the end."""
    channels = extents(inpt)[2]
    permutation = [integer("permutation", k) for k in permutation]
    if len(permutation) != channels or any(not -channels <= k < channels for k in permutation):
        raise ValueError(
            f"permutation has a number from {-channels} to {channels - 1} for each channel, got {permutation}"
        )
    return cvcuda.channelreorder(inpt, [k % channels for k in permutation], stream=stream)


@functional
def rgb_to_grayscale(inpt, num_output_channels=1, *, stream=None):
    """Makes gray images of ones in color, of one channel or of three equal ones."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels is 1 or 3, got {num_output_channels}")
    if extents(inpt)[2] == 1:
        return inpt if num_output_channels == 1 else grayscale_to_rgb(inpt, stream=stream)
    return applied(inpt, stream, fn.grayscale, num_output_channels=num_output_channels)


@functional
def grayscale_to_rgb(inpt, *, stream=None):
    """Repeats a channel three times."""
    if extents(inpt)[2] >= 3:
        return inpt
    batch = operands.batch_of(inpt)
    return finished(inpt, stream, Step(fn.cat, batch, batch, batch, axis=batch.layout().index("C")))


@functional
def adjust_brightness(inpt, brightness_factor, *, stream=None):
    """Multiplies values, within their range; integers are rounded down."""
    _check_factor("brightness_factor", brightness_factor)
    given = {"clamp": True, "round": _TRUNCATE, "stream": stream}
    return cvcuda.brightness_contrast(inpt, float(brightness_factor), 1.0, 0.0, 0.0, **given)


@functional
def adjust_contrast(inpt, contrast_factor, *, stream=None):
    """Mixes images with the mean of their gray values; integers are rounded down."""
    _check_factor("contrast_factor", contrast_factor)
    return cvcuda.adjust_contrast(inpt, contrast_factor, round=_TRUNCATE, stream=stream)


def _check_factor(name, value):
    if not value >= 0:
        raise ValueError(f"{name} must not be negative, got {value}")


@functional
def adjust_saturation(inpt, saturation_factor, *, stream=None):
    """Mixes images with their gray ones."""
    _check_factor("saturation_factor", saturation_factor)
    if extents(inpt)[2] == 1:
        return inpt
    return _within(cvcuda.adjust_saturation(inpt, saturation_factor, stream=stream), stream)


def _within(image, stream):
    """Floating point limited to 0 to 1, as torchvision does; integers are within their range."""
    if image.dtype.kind != "f":
        return image
    return finished(
        image, stream, Step(fn.cast, value_math.clamp(operands.batch_of(image), 0.0, 1.0), dtype=str(image.dtype))
    )


@functional
def adjust_hue(inpt, hue_factor, *, stream=None):
    """Rotates the hue of colors, by -0.5 to 0.5 of a turn."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor is from -0.5 to 0.5, got {hue_factor}")
    return inpt if extents(inpt)[2] == 1 else cvcuda.adjust_hue(inpt, hue_factor, stream=stream)


@functional
def adjust_gamma(inpt, gamma, gain=1.0, *, stream=None):
    """Raises values from 0 to 1 to a power; integers are rounded down as torchvision does."""
    _check_factor("gamma", gamma)
    full, dtype = largest(inpt.dtype), inpt.dtype
    x = Step(fn.cast, operands.batch_of(inpt), dtype="float32").run(streams.chosen(stream))
    y = value_math.clamp(value_math.pow(x / full, float(gamma)) * float(gain), 0.0, 1.0)
    if dtype.kind != "f":
        y = value_math.floor(y * (full + 1.0 - 1e-3))
    return finished(inpt, stream, Step(fn.cast, y, dtype=str(dtype)))


@functional
def adjust_sharpness(inpt, sharpness_factor, *, stream=None):
    """Mixes images with blurred ones; smaller images than 3 x 3 stay."""
    _check_factor("sharpness_factor", sharpness_factor)
    small = min(extents(inpt)[:2]) < 3
    return inpt if small else _within(cvcuda.adjust_sharpness(inpt, sharpness_factor, stream=stream), stream)


@functional
def posterize(inpt, bits, *, stream=None):
    """Keeps the upper bits of each value."""
    return cvcuda.posterize(inpt, bits, stream=stream)


@functional
def solarize(inpt, threshold, *, stream=None):
    """Inverts the values that are at least a threshold."""
    return cvcuda.solarize(inpt, threshold, stream=stream)


@functional
def autocontrast(inpt, *, stream=None):
    """Stretches the values of each channel over the whole range."""
    return cvcuda.autocontrast(inpt, stream=stream)


@functional
def equalize(inpt, *, stream=None):
    """Equalizes the histogram of each channel, as Pillow does."""
    return cvcuda.histogrameq(inpt, inpt.dtype, method=cvcuda.HistogramEq.PILLOW, stream=stream)


@functional
def jpeg(image, quality, *, stream=None):
    """Compresses images to JPEG and decodes them."""
    if not 1 <= quality <= 100:
        raise ValueError(f"quality is from 1 to 100, got {quality}")
    return cvcuda.jpeg_compression_distortion(image, integer("quality", quality), stream=stream)


@functional
def erase(inpt, i, j, h, w, v, inplace=False, *, stream=None):
    """Overwrites a rectangle with a value, or one for each channel."""
    value = cvcuda.as_tensor(np.asarray(operands.values_of(v), np.float32).reshape(-1), "C")
    if inplace:
        return cvcuda.erase_into(inpt, inpt, i, j, h, w, value, stream=stream)
    return cvcuda.erase(inpt, i, j, h, w, value, stream=stream)


@functional
def normalize(inpt, mean, std, inplace=False, *, stream=None):
    """Subtracts the mean of each channel and divides by its standard deviation."""
    if inpt.dtype.kind != "f":
        raise TypeError(f"normalize takes floating point, got {inpt.dtype}: write to_dtype(image, scale=True) before")
    mean, std = ([float(v) for v in np.reshape(values, -1)] for values in (mean, std))
    if 0 in std:
        raise ValueError(f"std must not be 0, got {std}")
    flags = cvcuda.NormalizeFlags.SCALE_IS_STDDEV
    if inplace:
        return cvcuda.normalize_into(inpt, inpt, mean, std, flags, stream=stream)
    return cvcuda.normalize(inpt, mean, std, flags, stream=stream)


@functional
def gaussian_blur(inpt, kernel_size, sigma=None, *, stream=None):
    """Blurs images with a Gaussian, mirrored at the border."""
    sizes = np.broadcast_to(np.asarray(kernel_size, np.int64).reshape(-1), 2)
    if (sizes < 1).any() or (sizes % 2 == 0).any():
        raise ValueError(f"kernel_size is odd and positive, got {kernel_size}")
    sigmas = sizes * 0.15 + 0.35 if sigma is None else np.broadcast_to(np.asarray(sigma, np.float64).reshape(-1), 2)
    if (sigmas <= 0).any():
        raise ValueError(f"sigma must be positive, got {sigma}")
    return cvcuda.gaussian(inpt, tuple(sizes), tuple(sigmas), cvcuda.Border.REFLECT101, stream=stream)


@functional
def gaussian_noise(inpt, mean=0.0, sigma=0.1, clip=True, *, seed=None, stream=None):
    """Adds normally distributed noise, in parts of the range of values."""
    _check_factor("sigma", sigma)
    full = largest(inpt.dtype)
    noisy = cvcuda.gaussiannoise(inpt, mean * full, sigma * full, True, seed=seed, clip=clip, stream=stream)
    return _within(noisy, stream) if clip else noisy


@functional
def to_dtype(inpt, dtype=np.float32, scale=False, *, stream=None):
    """Gives images another type; with scale=True the range of values becomes that of the type."""
    target, own = np.dtype(str(dtype).removeprefix("torch.") if "torch" in str(dtype) else dtype), inpt.dtype
    if target == own:
        return inpt
    rounding = cvcuda.Round.NEAREST if target.kind == "f" else _TRUNCATE
    factor = 1.0
    if scale and (own.kind, target.kind) != ("f", "f"):
        factor = 1.0 / largest(own) if target.kind == "f" else largest(target) + 1.0 - 1e-3
        if own.kind != "f" and target.kind != "f":
            bits = [int(largest(d)).bit_length() for d in (own, target)]
            factor = 2.0 ** (bits[1] - bits[0])
    return cvcuda.convertto(inpt, target, factor, round=rounding, stream=stream)


__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation", "adjust_sharpness", "autocontrast",
    "equalize", "erase", "gaussian_blur", "gaussian_noise", "grayscale_to_rgb", "invert", "jpeg", "normalize",
    "permute_channels", "posterize", "rgb_to_grayscale", "solarize", "to_dtype",
]  # fmt: skip
