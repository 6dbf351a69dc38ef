# SPDX-License-Identifier: Apache-2.0
"""What functions and transforms do to one Tensor of Penstock."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..... import fn
from ....._base.element_types import DType
from .images import channels, extents
from .interpolations import interpolation_of

_BORDERS = {"constant": "constant", "edge": "edge", "reflect": "reflect_101", "symmetric": "reflect_1001"}


def pair_of(name: str, size: Any) -> tuple[int, int]:
    """(height, width) of one number or two.

    Args:
        name: What messages call it.
        size: The numbers.

    Raises:
        ValueError: They are not positive integers.
    """
    numbers = [size, size] if isinstance(size, (int, np.integer)) else list(size) * (2 if len(size) == 1 else 1)
    if len(numbers) != 2 or any(int(n) != n or n < 1 for n in numbers):
        raise ValueError(f"{name} must be a positive integer or a pair (height, width), got {size!r}")
    return int(numbers[0]), int(numbers[1])


def resized_extents(have: tuple[int, int], size: Any, max_size: int | None) -> tuple[int, int]:
    """The height and width of a resized image: one number is the length of the shorter edge.

    Args:
        have: Those of the image.
        size: One number, two, or None: max_size is the length of the longer edge.
        max_size: The largest length of the longer edge.

    Raises:
        ValueError: The sizes do not fit together.
    """
    if size is not None and not isinstance(size, (int, np.integer)) and len(size) == 2:
        if max_size is not None:
            raise ValueError("max_size is for a size of one number, got two")
        return pair_of("size", size)
    if size is None and max_size is None:
        raise ValueError("Resize needs a size, or size=None with max_size")
    short, long = min(have), max(have)
    if size is None:
        new = max(1, int(max_size * short / long)), max_size
    else:
        edge = pair_of("size", size)[0]
        new = edge, int(edge * long / short)
        if max_size is not None:
            if max_size <= edge:
                raise ValueError(f"max_size must be larger than size, got {max_size} and {edge}")
            if new[1] > max_size:
                new = int(max_size * new[0] / new[1]), max_size
    return new if have[0] <= have[1] else (new[1], new[0])


def resize(x: Any, size: Any, interpolation: Any, max_size: int | None, antialias: bool | None) -> Any:
    new = resized_extents(extents(x), size, max_size)
    if new == extents(x):
        return x
    kind = interpolation_of(interpolation)
    exact = {"weights": "int16"} if x.dtype == DType.UINT8 else {}  # as torchvision does for bytes
    return fn.resize(
        x,
        size=[float(n) for n in new],
        interp_type=kind,
        antialias=antialias is not False,
        outside="cut" if antialias is not False else "repeat",
        **exact,
    )


def crop(x: Any, top: int, left: int, height: int, width: int) -> Any:
    """A window; what is outside is 0."""
    given = {"axis_names": "HW", "out_of_bounds_policy": "constant"}
    return fn.slice(x, start=[int(top), int(left)], shape=[int(height), int(width)], **given)


def center_crop(x: Any, size: Any) -> Any:
    """A window in the middle. What is missing goes half before, half after; only then the window is rounded to even."""
    wanted = pair_of("output_size", size)
    start = [round((have - n) / 2) if have >= n else -((n - have) // 2) for n, have in zip(wanted, extents(x))]
    return crop(x, *start, *wanted)


def sides_of(padding: Any) -> list[int]:
    """Left, top, right and bottom of one, two or four numbers.

    Args:
        padding: The numbers.

    Raises:
        ValueError: There are not so many.
    """
    numbers = [padding] if isinstance(padding, (int, np.integer)) else list(padding)
    if len(numbers) not in (1, 2, 4):
        raise ValueError(f"padding has 1, 2 or 4 numbers, got {padding!r}")
    return [int(n) for n in numbers * (4 // len(numbers))]


def pad(x: Any, padding: Any, fill: Any, mode: str) -> Any:
    """Pixels added at the sides, or removed where a number is negative."""
    if mode not in _BORDERS:
        raise ValueError(f"padding_mode must be one of {', '.join(_BORDERS)}, got {mode!r}")
    left, top, right, bottom = sides_of(padding)
    height, width = extents(x)
    values = [0.0] if fill is None else [float(v) for v in np.atleast_1d(fill)]
    return fn.slice(
        x,
        start=[-top, -left],
        shape=[height + top + bottom, width + left + right],
        axis_names="HW",
        out_of_bounds_policy=_BORDERS[mode],
        fill_values=values,
    )


def grayscale(x: Any, count: int) -> Any:
    """The gray picture, with 1 or 3 equal channels."""
    if count not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {count!r}")
    if channels(x) == 1:
        if count == 1:
            return x
        return fn.cat(x, x, x, axis=x.layout().index("C"))
    return fn.grayscale(x, num_output_channels=count)


def blur(x: Any, kernel_size: Any, sigma: Any) -> Any:
    """A Gaussian filter. kernel_size and sigma are (x, y)."""
    kernel = (
        [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size) * (2 if len(kernel_size) == 1 else 1)
    )
    if len(kernel) != 2 or any(k < 1 or k % 2 == 0 for k in kernel):
        raise ValueError(f"kernel_size must be odd and positive, got {kernel_size!r}")
    if sigma is None:
        sigmas = [0.3 * ((k - 1) * 0.5 - 1) + 0.8 for k in kernel]
    else:
        sigmas = [float(v) for v in np.atleast_1d(sigma)] * (1 if np.size(sigma) == 2 else 2)
    if len(sigmas) != 2 or min(sigmas) <= 0:
        raise ValueError(f"sigma must be positive, got {sigma!r}")
    return fn.gaussian_blur(x, window_size=kernel[::-1], sigma=sigmas[::-1])


def normalize(x: Any, mean: Sequence[float], std: Sequence[float]) -> Any:
    """(x - mean) / std as float32, for each channel."""
    count = channels(x)
    for name, values in (("mean", mean), ("std", std)):
        if np.size(values) not in (1, count):
            raise ValueError(f"{name} must have one number, or one for each of {count} channels, got {values!r}")
    if not np.all(np.asarray(std, float)):
        raise ValueError(f"std must not be 0, got {std!r}")
    return fn.crop_mirror_normalize(
        x, mean=[float(v) for v in np.atleast_1d(mean)], std=[float(v) for v in np.atleast_1d(std)], dtype=DType.FLOAT,
        output_layout=x.layout(),
    )  # fmt: skip
