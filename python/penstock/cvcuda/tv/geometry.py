# SPDX-License-Identifier: Apache-2.0
"""Functions of cvcuda.tv that move pixels, with torchvision's positions."""

import math

import numpy as np

import penstock.cvcuda as cvcuda

from ... import _core, fn
from ..._base.limits import integer
from .. import operands
from ..calls import Step
from .arrays import applied, extents, finished, functional

Interp = cvcuda.Interp
_NAMES = {
    "nearest": Interp.NEAREST_FLOOR, "nearest-exact": Interp.NEAREST, "nearest_exact": Interp.NEAREST, "bilinear": Interp.LINEAR,
    "bicubic": Interp.CUBIC, "lanczos": Interp.LANCZOS, "box": Interp.BOX, "hamming": Interp.HAMMING,
}  # fmt: skip
_PILLOWS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


def interpolation_of(value):
    """The Interp of torchvision's InterpolationMode, of its text or of Pillow's number."""
    text = getattr(value, "value", value)
    text = _PILLOWS.get(text, text)
    if isinstance(value, Interp):
        return value
    if text not in _NAMES:
        raise ValueError(f"interpolation is one of {sorted(_NAMES)}, got {value!r}")
    return _NAMES[text]


@functional
def horizontal_flip(inpt, *, stream=None):
    """Mirrors images left and right."""
    return cvcuda.flip(inpt, 1, stream=stream)


@functional
def vertical_flip(inpt, *, stream=None):
    """Mirrors images up and down."""
    return cvcuda.flip(inpt, 0, stream=stream)


@functional
def resize(inpt, size, interpolation="bilinear", max_size=None, antialias=True, *, stream=None):
    """Resizes images; one number is the length of the shorter edge."""
    return cvcuda.tvresize(inpt, size, interpolation_of(interpolation), max_size, antialias, stream=stream)


@functional
def crop(inpt, top, left, height, width, *, stream=None):
    """Cuts a window; what is outside is 0."""
    given = {"axis_names": "HW", "out_of_bounds_policy": "constant"}
    start = [integer("top", top), integer("left", left)]
    shape = [integer("height", height), integer("width", width)]
    return applied(inpt, stream, fn.slice, start=start, shape=shape, **given)


@functional
def resized_crop(inpt, top, left, height, width, size, interpolation="bilinear", antialias=True, *, stream=None):
    """Cuts a window and resizes it."""
    return resize(
        crop(inpt, top, left, height, width, stream=stream), size, interpolation, None, antialias, stream=stream
    )


def _pair(size):
    size = [integer("size", n) for n in np.reshape(size, -1)]
    return (size * 2)[:2] if len(size) == 1 else size


@functional
def center_crop(inpt, output_size, *, stream=None):
    """Cuts a window out of the middle; what is outside is 0."""
    (height, width), (h, w, _) = _pair(output_size), extents(inpt)
    # What is missing goes half before, half after; only then the window is rounded to even, as torchvision does.
    before = [max(n - have, 0) // 2 for n, have in ((height, h), (width, w))]
    top = round((h - height) / 2.0) if h >= height else -before[0]
    left = round((w - width) / 2.0) if w >= width else -before[1]
    return crop(inpt, top, left, height, width, stream=stream)


_PADS = {"constant": "constant", "edge": "edge", "reflect": "reflect_101", "symmetric": "reflect"}


def _fill(fill, channels):
    values = [float(v) for v in np.reshape([] if fill is None else fill, -1)]
    return values if len(values) == channels else [values[0] if values else 0.0]


@functional
def pad(inpt, padding, fill=None, padding_mode="constant", *, stream=None):
    """Adds pixels on all sides: one number, (left and right, top and bottom), or (left, top, right, bottom)."""
    sides = [integer("padding", n) for n in np.reshape(padding, -1)]
    if len(sides) not in (1, 2, 4) or padding_mode not in _PADS:
        raise ValueError(
            f"padding has 1, 2 or 4 numbers and padding_mode is one of {sorted(_PADS)}, got {padding}, {padding_mode!r}"
        )
    left, top, right, bottom = {1: sides * 4, 2: sides * 2, 4: sides}[len(sides)]
    height, width, channels = extents(inpt)
    given = {"axis_names": "HW", "out_of_bounds_policy": _PADS[padding_mode], "fill_values": _fill(fill, channels)}
    return applied(inpt, stream, fn.slice, start=[-top, -left], end=[height + bottom, width + right], **given)


def _warped(inpt, stream, matrix, size, interpolation, fill):
    """Moves pixels by a matrix from positions of the result to those of the input, 0 at the corner of the first pixel."""
    interp = {
        Interp.NEAREST_FLOOR: "nearest",
        Interp.NEAREST: "nearest",
        Interp.LINEAR: "linear",
        Interp.CUBIC: "cubic",
    }
    chosen = interpolation_of(interpolation)
    if chosen not in interp:
        raise ValueError(f"interpolation is nearest, bilinear or bicubic here, got {interpolation!r}")
    given = {"matrix": [float(v) for v in np.reshape(matrix, -1)], "size": list(size), "interp_type": interp[chosen]}
    return applied(inpt, stream, fn.warp_perspective, fill_value=_fill(fill, extents(inpt)[2]), **given)


def _shift(x, y):
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]], np.float64)


def _inverse(angle, translate, scale, shear, center):
    """The matrix from positions of the result to those of the input, both from the middle of the image."""
    turn, sx, sy = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    sheared = np.array([[1, -math.tan(sx)], [0, 1]])
    first = np.array([[math.cos(turn - sy), 0], [math.sin(turn - sy), 0]]) / math.cos(sy)
    forward = np.eye(3)
    forward[:2, :2] = scale * (first @ sheared + np.array([[0, -math.sin(turn)], [0, math.cos(turn)]]))
    return np.linalg.inv(_shift(*translate) @ _shift(*center) @ forward @ _shift(-center[0], -center[1]))


def _expanded(inverse, height, width):
    """The extents that hold the whole result."""
    half = np.array([[x, y, 1] for x in (-width / 2, width / 2) for y in (-height / 2, height / 2)])
    places = half @ inverse.T[:, :2] + [width / 2, height / 2]
    places = np.trunc(places / 1e-4) * 1e-4
    across = np.ceil(places.max(axis=0)) - np.floor(places.min(axis=0))
    return int(across[1]), int(across[0])


def _moved(inpt, stream, inverse, interpolation, fill, expand=False):
    height, width, _ = extents(inpt)
    rows, columns = _expanded(inverse, height, width) if expand else (height, width)
    matrix = _shift(width / 2, height / 2) @ inverse @ _shift(-columns / 2, -rows / 2)
    return _warped(inpt, stream, matrix, (rows, columns), interpolation, fill)


def _from_middle(center, inpt):
    height, width, _ = extents(inpt)
    return (0.0, 0.0) if center is None else (center[0] - width / 2, center[1] - height / 2)


@functional
def rotate(inpt, angle, interpolation="nearest", expand=False, center=None, fill=None, *, stream=None):
    """Rotates images counter-clockwise about their middle or a center."""
    inverse = _inverse(-float(angle), (0, 0), 1.0, (0.0, 0.0), _from_middle(None if expand else center, inpt))
    return _moved(inpt, stream, inverse, interpolation, fill, expand)


@functional
def affine(inpt, angle, translate, scale, shear, interpolation="nearest", fill=None, center=None, *, stream=None):
    """Rotates clockwise, shears, scales and shifts images."""
    shear = ([float(s) for s in np.reshape(shear, -1)] + [0.0])[:2]
    if not scale > 0:
        raise ValueError(f"scale must be positive, got {scale}")
    inverse = _inverse(float(angle), translate, float(scale), shear, _from_middle(center, inpt))
    return _moved(inpt, stream, inverse, interpolation, fill)


def _coefficients(startpoints, endpoints):
    """The matrix that takes the end points to the start points."""
    rows, values = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return [*np.linalg.lstsq(np.array(rows, np.float64), np.array(values, np.float64), rcond=None)[0], 1.0]


@functional
def perspective(inpt, startpoints, endpoints, interpolation="bilinear", fill=None, coefficients=None, *, stream=None):
    """Moves the four start points to the end points, as a perspective does."""
    if coefficients is not None and (startpoints is not None or endpoints is not None or len(coefficients) != 8):
        raise ValueError("coefficients are 8 numbers, in the place of both startpoints and endpoints")
    matrix = [*coefficients, 1.0] if coefficients is not None else _coefficients(startpoints, endpoints)
    return _warped(inpt, stream, matrix, extents(inpt)[:2], interpolation, fill)


@functional
def elastic(inpt, displacement, interpolation="bilinear", fill=None, *, stream=None):
    """Moves each pixel by a displacement, (1, height, width, 2) in halves of the extents."""
    height, width, channels = extents(inpt)
    shifts = np.asarray(operands.values_of(displacement), np.float64).reshape(height, width, 2)
    y, x = np.mgrid[0:height, 0:width]
    maps = [np.float32(x + shifts[..., 0] * width / 2), np.float32(y + shifts[..., 1] * height / 2)]
    count = inpt.shape[0] if inpt.layout[0] == "N" else 1
    given = {
        "interp": {Interp.LINEAR: 1, Interp.CUBIC: 2}.get(interpolation_of(interpolation), 0),
        "pixel_origin": "center",
    }
    values = _fill(fill, channels)
    if len(set(values)) > 1:
        raise ValueError(f"fill is one number here, got {values}")
    batch, planar = operands.batch_of(inpt), "CHW" in inpt.layout
    batch = fn.transpose(batch, perm=[1, 2, 0]) if planar else batch
    moved = Step(fn.remap, batch, *(_core.Batch([m] * count) for m in maps), fill_value=values[0], **given)
    return finished(inpt, stream, Step(fn.transpose, moved.run(None), perm=[2, 0, 1]) if planar else moved)


@functional
def five_crop(inpt, size, *, stream=None):
    """The four corners and the middle."""
    (height, width), (h, w, _) = _pair(size), extents(inpt)
    if height > h or width > w:
        raise ValueError(f"five_crop: {height} x {width} is larger than the image, {h} x {w}")
    places = [(0, 0), (0, w - width), (h - height, 0), (h - height, w - width)]
    corners = [crop(inpt, top, left, height, width, stream=stream) for top, left in places]
    return (*corners, center_crop(inpt, [height, width], stream=stream))


@functional
def ten_crop(inpt, size, vertical_flip=False, *, stream=None):
    """five_crop() of the images and of their mirrored ones."""
    mirrored = cvcuda.flip(inpt, 0 if vertical_flip else 1, stream=stream)
    return five_crop(inpt, size, stream=stream) + five_crop(mirrored, size, stream=stream)


__all__ = [
    "affine", "center_crop", "crop", "elastic", "five_crop", "horizontal_flip", "pad", "perspective", "resize", "resized_crop",
    "rotate", "ten_crop", "vertical_flip",
]  # fmt: skip
