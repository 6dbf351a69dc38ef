# SPDX-License-Identifier: Apache-2.0
"""Functions of images with torchvision's names and positions. Each takes an image of Pillow, a tensor (..., C, H, W) of torch, an array
(H, W, C), or a Tensor or a Batch of the dynamic mode, and gives the same kind; `device` is where it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import _core, fn
from . import steps
from .images import channels, extents, functional, held, is_pillow, is_torch, pillow
from .interpolations import InterpolationMode

__all__ = [
    "center_crop",
    "crop",
    "gaussian_blur",
    "get_dimensions",
    "get_image_size",
    "get_size",
    "horizontal_flip",
    "normalize",
    "pad",
    "pil_to_tensor",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vertical_flip",
]


@functional
def horizontal_flip(inpt: Any) -> Any:
    """Mirrors images left and right.

    Args:
        inpt: An image.
        device: Where it runs.
    """
    return fn.flip(inpt, horizontal=1)


@functional
def vertical_flip(inpt: Any) -> Any:
    """Mirrors images up and down.

    Args:
        inpt: An image.
        device: Where it runs.
    """
    return fn.flip(inpt, horizontal=0, vertical=1)


@functional
def center_crop(inpt: Any, output_size: Any) -> Any:
    """Cuts a window out of the middle; what is outside is 0.

    Args:
        inpt: An image.
        output_size: One number, or (height, width).
        device: Where it runs.
    """
    return steps.center_crop(inpt, output_size)


@functional
def crop(inpt: Any, top: Any, left: Any, height: Any, width: Any) -> Any:
    """Cuts a window; what is outside is 0.

    Args:
        inpt: An image.
        top, left: The upper left pixel.
        height, width: The size.
        device: Where it runs.
    """
    return steps.crop(inpt, top, left, height, width)


@functional
def resized_crop(
    inpt: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Any,
    interpolation: Any = InterpolationMode.BILINEAR,
    antialias: bool = True,
) -> Any:
    """Cuts a window and resizes it.

    Args:
        inpt: An image.
        top, left, height, width: The window.
        size, interpolation, antialias: As those of resize().
        device: Where it runs.
    """
    return steps.resize(steps.crop(inpt, top, left, height, width), size, interpolation, None, antialias)


@functional
def resize(
    inpt: Any,
    size: Any,
    interpolation: Any = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """Resizes images.

    Args:
        inpt: An image.
        size: (height, width), or the length of the shorter edge.
        interpolation: An InterpolationMode.
        max_size: The largest length of the longer edge.
        antialias: Filter what becomes smaller.
        device: Where it runs.
    """
    return steps.resize(inpt, size, interpolation, max_size, antialias)


@functional
def pad(inpt: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """Adds pixels at the sides.

    Args:
        inpt: An image.
        padding: One number; (left and right, top and bottom); or (left, top, right, bottom).
        fill: Their value, one number or one for each channel.
        padding_mode: "constant", "edge", "reflect" or "symmetric".
        device: Where it runs.
    """
    return steps.pad(inpt, padding, fill, padding_mode)


@functional
def gaussian_blur(inpt: Any, kernel_size: Any, sigma: Any = (0.1, 2.0)) -> Any:
    """Blurs images.

    Args:
        inpt: An image.
        kernel_size: Odd, one number or (x, y).
        sigma: One number or (x, y); None: by the kernel's size.
        device: Where it runs.
    """
    return steps.blur(inpt, kernel_size, sigma)


@functional
def to_grayscale(inpt: Any, num_output_channels: int = 1) -> Any:
    """Makes gray images.

    Args:
        inpt: An image.
        num_output_channels: 1, or 3 equal ones.
        device: Where it runs.
    """
    return steps.grayscale(inpt, num_output_channels)


rgb_to_grayscale = to_grayscale


@functional
def normalize(input_data: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    """Subtracts means and divides by deviations, for each channel; float32.

    Args:
        input_data: An image, but not one of Pillow, which holds bytes.
        mean, std: One number for each channel.
        inplace: Accepted without effect.
        device: Where it runs.
    """
    return steps.normalize(input_data, mean, std)


def get_dimensions(inpt: Any) -> list[int]:
    """Channels, height and width of an image.

    Args:
        inpt: An image.
    """
    sample = held(inpt)[0]
    return [channels(sample), *extents(sample)]


def get_size(inpt: Any) -> list[int]:
    """Height and width of an image.

    Args:
        inpt: An image.
    """
    return list(extents(held(inpt)[0]))


def get_image_size(inpt: Any) -> list[int]:
    """Width and height of an image, as torchvision's first version ordered them.

    Args:
        inpt: An image.
    """
    return get_size(inpt)[::-1]


def pil_to_tensor(inpt: Any) -> Any:
    """A tensor (C, H, W) of torch with the values of an image of Pillow.

    Args:
        inpt: The image.

    Raises:
        TypeError: This is not an image of Pillow.
    """
    if not is_pillow(inpt):
        raise TypeError(f"pil_to_tensor takes an image of Pillow, got {type(inpt).__name__}")
    return _planar(held(inpt)[0]).torch()


def _planar(sample):
    return fn.transpose(sample, perm=[2, 0, 1]) if sample.layout() == "HWC" else sample


def to_tensor(inpt: Any) -> Any:
    """A tensor (C, H, W) of torch, of float32 from 0 to 1 for bytes.

    Args:
        inpt: An image of Pillow, or an array (H, W, C).

    Raises:
        TypeError: This is neither.
    """
    if not is_pillow(inpt) and not isinstance(inpt, np.ndarray):
        raise TypeError(f"to_tensor takes an image of Pillow or an array, got {type(inpt).__name__}")
    sample = held(inpt if is_pillow(inpt) or inpt.ndim == 3 else inpt[..., None])[0]
    made = _planar(sample).torch()
    return made.float() / 255 if made.dtype.itemsize == 1 and not made.dtype.is_floating_point else made


def to_pil_image(inpt: Any, mode: str | None = None, input_layout: str = "CHW") -> Any:
    """An image of Pillow.

    Args:
        inpt: A tensor of torch or an array; floating point from 0 to 1 becomes bytes.
        mode: The mode of the image, which must fit to its channels. Default: "L" or "RGB".
        input_layout: The layout of `inpt`.

    Raises:
        ValueError: The layout or the mode does not fit.
    """
    array = inpt.detach().cpu().numpy() if is_torch(inpt) else np.asarray(inpt)
    if array.ndim == 3 and input_layout not in ("CHW", "HWC"):
        raise ValueError(f"input_layout must be CHW or HWC, got {input_layout!r}")
    if array.dtype.kind == "f":
        array = (array * 255).astype(np.uint8)
    layout = input_layout if array.ndim == 3 else "HW"
    made = pillow(_core.tensor(np.ascontiguousarray(array), layout=layout))
    if mode is not None and mode != made.mode:
        raise ValueError(f"{channels(held(made)[0])} channels of bytes are the mode {made.mode}, not {mode!r}")
    return made
