# SPDX-License-Identifier: Apache-2.0
"""Augmentations that move pixels. Each ends in one call of an operator with explicit arguments."""

from __future__ import annotations

from typing import Any, Sequence

from .. import control, fn
from . import draws, numbers
from .adjustments import affine_matrix, rotated, warped
from .composition import maybe
from .samples import augmentation, checked_probability, checked_range, extents, interpolation_of


@augmentation
def random_horizontal_flip(images: Any, p: float = 0.5) -> Any:
    """Mirrors a part of the images left to right, as torchvision's RandomHorizontalFlip does.

    Args:
        images: Images of any type and layout with W.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_horizontal_flip(image)
    """
    return fn.flip(images, horizontal=draws.coin(checked_probability(p)))


@augmentation
def random_vertical_flip(images: Any, p: float = 0.5) -> Any:
    """Mirrors a part of the images top to bottom, as torchvision's RandomVerticalFlip does.

    Args:
        images: Images of any type and layout with H.
        p: The probability, for each image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: p is not from 0 to 1.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_vertical_flip(image)
    """
    return fn.flip(images, horizontal=0, vertical=draws.coin(checked_probability(p)))


def _symmetric(name, value):
    return checked_range(name, value if isinstance(value, (list, tuple)) else (-value, value))


@augmentation
def random_rotation(
    images: Any, degrees: float | Sequence[float], interpolation: str = "nearest", fill: float | Sequence[float] = 0
) -> Any:
    """Rotates each image about its center by an angle that it draws, as torchvision's RandomRotation does.

    Args:
        images: Images of any type. Layouts: HWC, CHW.
        degrees: The angle is drawn from [-degrees, degrees], or from this range (low, high); counter-clockwise.
        interpolation: "nearest" or "bilinear".
        fill: The value outside the image: one number, or one for each channel.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_rotation(image, degrees=15)
    """
    angle = draws.uniform(*_symmetric("degrees", degrees))
    return rotated(images, angle, interpolation_of(interpolation), fill)


def _shears(shear):
    if shear is None:
        return (0.0, 0.0), (0.0, 0.0)
    values = tuple(shear) if isinstance(shear, (list, tuple)) else (-shear, shear)
    if len(values) not in (2, 4):
        raise ValueError(f"shear must be a number, or a range of 2 or 4 numbers, got {shear!r}")
    return checked_range("shear", values[:2]), checked_range("shear", values[2:] or (0.0, 0.0))


@augmentation
def random_affine(
    images: Any,
    degrees: float | Sequence[float],
    translate: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
    shear: float | Sequence[float] | None = None,
    interpolation: str = "nearest",
    fill: float | Sequence[float] = 0,
    center: Sequence[float] | None = None,
) -> Any:
    """Shears, scales, rotates and moves each image, as torchvision's RandomAffine does.

    Args:
        images: Images of any type. Layouts: HWC, CHW.
        degrees: The angle is drawn from [-degrees, degrees], or from this range (low, high); clockwise.
        translate: The largest translations, as parts of the width and of the height; whole pixels are drawn.
        scale: The scale is drawn from this range.
        shear: The angle of the shear along x is drawn from [-shear, shear], or from this range; four numbers are a
            range along x and one along y.
        interpolation: "nearest" or "bilinear".
        fill: The value outside the image: one number, or one for each channel.
        center: The point (x, y) that rotation, scale and shear keep; default: the center of the image.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_affine(image, degrees=10, translate=(0.1, 0.1), scale=(0.9, 1.1))
    """
    angle = draws.uniform(*_symmetric("degrees", degrees))
    across, down = (draws.uniform(*pair) for pair in _shears(shear))
    factor = 1.0 if scale is None else draws.uniform(*checked_range("scale", scale))
    if scale is not None and not scale[0] > 0:
        raise ValueError(f"scale must be positive, got {scale!r}")
    height, width = extents(images)
    moved = (0.0, 0.0)
    if translate is not None:
        if len(translate) != 2 or not all(0 <= t <= 1 for t in translate):
            raise ValueError(f"translate must be two numbers from 0 to 1, got {translate!r}")
        moved = tuple(numbers.rounded(draws.uniform(-1.0, 1.0) * (n * t)) for n, t in zip((width, height), translate))
    middle = (width * 0.5, height * 0.5) if center is None else tuple(center)
    matrix = affine_matrix(angle, moved, factor, (across, down), middle)
    return warped(images, matrix, interpolation_of(interpolation), fill)


def perspective_matrix(corners, width, height):
    """The matrix that maps the corners of an image to four others, clockwise from the upper left one."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = corners
    rx, ry, bx, by = x1 - x2, y1 - y2, x3 - x2, y3 - y2
    sx, sy = x0 - x1 + x2 - x3, y0 - y1 + y2 - y3
    area = rx * by - bx * ry
    area = numbers.where(area == 0, 1.0, area)
    g, h = (sx * by - bx * sy) / area, (rx * sy - sx * ry) / area
    across, down = 1.0 / numbers.greatest(width - 1.0, 1.0), 1.0 / numbers.greatest(height - 1.0, 1.0)
    return [
        *((x1 - x0 + g * x1) * across, (x3 - x0 + h * x3) * down, x0),
        *((y1 - y0 + g * y1) * across, (y3 - y0 + h * y3) * down, y0),
        *(g * across, h * down, 1.0),
    ]


def _has_area(corners):
    """Whether no three neighbors of four corners lie on a line."""
    has = True
    for k in range(4):
        (x0, y0), (x1, y1), (x2, y2) = corners[k], corners[k - 1], corners[k - 2]
        has = ((x0 - x1) * (y2 - y1) != (x2 - x1) * (y0 - y1)) & has
    return has


@augmentation
def random_perspective(
    images: Any,
    distortion_scale: float = 0.5,
    p: float = 0.5,
    interpolation: str = "bilinear",
    fill: float | Sequence[float] = 0,
) -> Any:
    """Moves the corners of a part of the images inward, as torchvision's RandomPerspective does.

    An image so small that three of its corners come to lie on a line stays the same.

    Args:
        images: Images of any type. Layouts: HWC, CHW.
        distortion_scale: How far the corners move at most, as a part of half the width and height, 0 to 1.
        p: The probability, for each image.
        interpolation: "nearest" or "bilinear".
        fill: The value outside the image: one number, or one for each channel.

    Returns:
        Images of the same shapes and type.

    Raises:
        ValueError: An argument is out of its range.

    Example:
        >>> image = np.zeros((48, 64, 3), np.uint8)
        >>> result = penstock.augment.random_perspective(image, distortion_scale=0.3)
    """
    if not 0 <= distortion_scale <= 1:
        raise ValueError(f"distortion_scale must be from 0 to 1, got {distortion_scale!r}")
    kind = interpolation_of(interpolation)
    values = [float(v) for v in (fill if isinstance(fill, (list, tuple)) else [fill])]

    def distorted(image):
        height, width = extents(image)
        most_x, most_y = (numbers.whole(numbers.floor(n * 0.5) * distortion_scale) + 1.0 for n in (width, height))
        inset = lambda most: numbers.least(numbers.floor(draws.uniform(0.0, 1.0) * most), most - 1.0)  # noqa: E731
        right, bottom = width - 1.0, height - 1.0
        corners = [
            (inset(most_x), inset(most_y)),
            (right - inset(most_x), inset(most_y)),
            (right - inset(most_x), bottom - inset(most_y)),
            (inset(most_x), bottom - inset(most_y)),
        ]
        return control.if_(_has_area(corners), lambda: moved(image, corners, width, height), lambda: image)

    def moved(image, corners, width, height):
        matrix = perspective_matrix(corners, width, height)
        return fn.warp_perspective(
            image, matrix=matrix, inverse_map=False, interp_type=kind, border_mode="constant", fill_value=values
        )

    return maybe(images, distorted, p)
