# SPDX-License-Identifier: Apache-2.0
"""Steps that both the policies and the single augmentations are made of: each is a call or two of operators."""

from .. import fn
from . import numbers
from .samples import extents, pixels_of

NEAREST, LINEAR = 0, 1  # fn's interp_type


def adjust_contrast(images, factor):
    """Scales about the mean of the gray picture."""
    return fn.contrast(images, contrast=factor, contrast_center=fn.reductions.mean(fn.grayscale(pixels_of(images))))


def warped(images, matrix, interpolation, fill):
    """An affine map of 6 numbers from the output to the input. Outside the input is `fill`: one number, or one a channel."""
    if isinstance(fill, (list, tuple)):
        fill = [float(v) for v in fill]
        return fn.warp_perspective(
            images, matrix=[*matrix, 0.0, 0.0, 1.0], interp_type=interpolation, fill_value=fill, border_mode="constant"
        )
    return fn.warp_affine(images, matrix=list(matrix), interp_type=interpolation, fill_value=float(fill or 0))


def rotated(images, angle, interpolation, fill):
    """Counter-clockwise about the center, in degrees."""
    if not isinstance(fill, (list, tuple)):
        return fn.rotate(images, angle=angle, keep_size=True, interp_type=interpolation, fill_value=float(fill or 0))
    height, width = extents(images)
    return warped(
        images, affine_matrix(-angle, (0.0, 0.0), 1.0, (0.0, 0.0), (width * 0.5, height * 0.5)), interpolation, fill
    )


def affine_matrix(angle, translate, scale, shear, center):
    """The inverse of: shear, scale and rotate about a center, then translate. Angles in degrees, clockwise."""
    radians = 0.017453292519943295
    turn, across, down = angle * radians, shear[0] * radians, shear[1] * radians
    cos, sin, slope = numbers.cos(turn - down), numbers.sin(turn - down), numbers.tan(across)
    narrow = numbers.cos(down)
    a, c = cos / narrow, sin / narrow
    b, d = numbers.sin(turn) + slope * cos / narrow, numbers.cos(turn) - slope * sin / narrow
    x, y = center[0] + translate[0], center[1] + translate[1]
    rows = [(d / scale, b / scale, center[0]), (-c / scale, a / scale, center[1])]
    return [v for p, q, middle in rows for v in (p, q, middle - p * x - q * y)]
