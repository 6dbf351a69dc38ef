# SPDX-License-Identifier: Apache-2.0
"""What the transforms that move pixels do, as calls of operators. A transform gets a Sample and its arguments."""

import dataclasses
import functools
import math

from .. import fn
from ..augment import draws, numbers
from ..augment.geometry import perspective_matrix
from ..augment.samples import extents
from ..sample import Mask

BORDERS = {0: "constant", 1: "replicate", 2: "reflect", 3: "wrap", 4: "reflect_101"}  # cv2's numbers
WINDOWS = {0: "pad", 1: "edge", 2: "reflect_1001", 4: "reflect_101"}  # the same, as fn.crop names them
RADIANS = 0.017453292519943295


def named(names, argument, value):
    """What a number of cv2 means here."""
    if value not in names:
        raise ValueError(f"{argument}={value!r} is not there; there are {', '.join(map(str, names))} (numbers of cv2)")
    return names[value]


def interpolation(a):
    return named({0: 0, 1: 1, 2: 2}, "interpolation", a.interpolation)


def values(fill):
    return [float(v) for v in (fill if isinstance(fill, (list, tuple)) else [fill])]


def with_fill(sample, fill_mask):
    """The sample, whose masks are filled with another class."""
    made = sample.replaced({})
    kinds = sample.kinds.items()
    made.kinds = {n: dataclasses.replace(k, fill=float(fill_mask)) if isinstance(k, Mask) else k for n, k in kinds}
    return made


def integer(pair):
    """An integer from the first to the second number."""
    low, high = pair
    return draws.below(high - low + 1) + low if low < high else low


def flipped(horizontal, vertical):
    return lambda x, a: fn.flip(x, horizontal=horizontal, vertical=vertical)


def quarter_turns(x, count):
    """`count` turns by 90 degrees, counter-clockwise."""
    return fn.rotate(x, angle=count * 90.0, interp_type=0, fill_value=0)


def transpose(x, a):
    return fn.flip(quarter_turns(x, 1.0), horizontal=0, vertical=1)


def rotate90(x, a):
    return quarter_turns(x, draws.below(4))


def d4(x, a):
    return fn.flip(quarter_turns(x, draws.below(4)), horizontal=draws.coin(0.5))


def warp(x, a, matrix):
    """matrix: where a position of the input goes; (0, 0) is the center of the first pixel."""
    return fn.warp_perspective(
        with_fill(x, a.fill_mask),
        matrix=matrix,
        inverse_map=False,
        pixel_origin="center",
        interp_type=interpolation(a),
        border_mode=named(BORDERS, "border_mode", a.border_mode),
        fill_value=values(a.fill),
    )


def affine_map(x, angle, scale, shear, moved):
    """Scale, turn by `angle` degrees counter-clockwise, shear and move, about the center of the image."""
    height, width = extents(x)
    middle = (width * 0.5 - 0.5, height * 0.5 - 0.5)
    cos, sin = numbers.cos(angle * RADIANS), numbers.sin(angle * RADIANS)
    across, down = numbers.tan(shear[0] * RADIANS), numbers.tan(shear[1] * RADIANS)
    a, b = (cos - across * sin) * scale[0], (sin + across * cos) * scale[1]
    c, d = (down * cos - sin) * scale[0], (down * sin + cos) * scale[1]
    rows = [(a, b, middle[0] + moved[0]), (c, d, middle[1] + moved[1])]
    return [v for p, q, r in rows for v in (p, q, r - p * middle[0] - q * middle[1])] + [0.0, 0.0, 1.0]


def rotate(x, a):
    if a.crop_border:
        raise ValueError("Rotate: crop_border=True is not there: follow it by a CenterCrop")
    return warp(x, a, affine_map(x, draws.uniform(*a.limit), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0)))


def _toward_zero(v):
    return numbers.where(v < 0, -1.0, 1.0) * numbers.floor(numbers.where(v < 0, -1.0, 1.0) * v)


def _part_of(x, across, down):
    height, width = extents(x)
    return _toward_zero(draws.uniform(*across) * width), _toward_zero(draws.uniform(*down) * height)


def shift_scale_rotate(x, a):
    across = a.shift_limit_x if a.shift_limit_x is not None else a.shift_limit
    down = a.shift_limit_y if a.shift_limit_y is not None else a.shift_limit
    scale = draws.uniform(*(1.0 + v for v in a.scale_limit))
    moved = _part_of(x, across, down)
    return warp(x, a, affine_map(x, draws.uniform(*a.rotate_limit), (scale, scale), (0.0, 0.0), moved))


def _both_axes(value, same):
    """A range for x and one for y of an argument that is a number, a range, or a dict of these."""
    if not isinstance(value, dict):
        value = {"x": value, "y": value}
    return [tuple(v) if isinstance(v, (list, tuple)) else (same(v), v) for v in (value["x"], value["y"])]


def affine(x, a):
    for name in ("fit_output", "balanced_scale"):
        if getattr(a, name):
            raise ValueError(f"Affine: {name}=True is not there")
    across, down = _both_axes(a.scale, lambda v: v)
    scale = draws.uniform(*across)
    scales = (scale, scale if a.keep_ratio else draws.uniform(*down))
    moved = (0.0, 0.0)
    if a.translate_px is not None:
        moved = tuple(integer(pair) for pair in _both_axes(a.translate_px, lambda v: v))
    elif a.translate_percent is not None:
        moved = _part_of(x, *_both_axes(a.translate_percent, lambda v: v))
    first, second = _both_axes(a.shear, lambda v: v)
    turned = draws.uniform(*_both_axes(a.rotate, lambda v: -v)[0])
    return warp(x, a, affine_map(x, turned, scales, (-draws.uniform(*first), -draws.uniform(*second)), moved))


def _corners(height, width, scale):
    """Four corners that are drawn, clockwise from the upper left one."""

    def inset():
        part = draws.normal() * scale
        part = part * numbers.where(part < 0, -1.0, 1.0)
        return part - numbers.floor(part / 0.32) * 0.32

    far = lambda: 1.0 - inset()  # noqa: E731
    parts = [(inset(), inset()), (far(), inset()), (far(), far()), (inset(), far())]
    return [(u * width, v * height) for u, v in parts]


def _between(p, q):
    across, down = p[0] - q[0], p[1] - q[1]
    return numbers.sqrt(across * across + down * down)


def _inverse(m):
    """Of nine numbers, up to a factor."""
    a, b, c, d, e, f, g, h, i = m
    return [e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f] + [
        d * h - e * g,
        b * g - a * h,
        a * e - b * d,
    ]


def _around(matrix, height, width):
    """Where the corners of an image go, moved to (0, 0) and rounded; and the extents of what is around them."""
    places = []
    for u, v in ((0.0, 0.0), (width * 1.0, 0.0), (width * 1.0, height * 1.0), (0.0, height * 1.0)):
        x, y, w = (matrix[r] * u + matrix[r + 1] * v + matrix[r + 2] for r in (0, 3, 6))
        places.append((x / w, y / w))
    lows = [functools.reduce(numbers.least, axis) for axis in zip(*places)]
    places = [tuple(numbers.rounded(v - low) * 1.0 for v, low in zip(place, lows)) for place in places]
    wide, tall = (functools.reduce(numbers.greatest, axis) for axis in zip(*places))
    return places, tall, wide


def perspective(x, a):
    height, width = extents(x)
    corners = _corners(height, width, draws.uniform(*a.scale))
    back = perspective_matrix(corners, width + 1.0, height + 1.0)  # from the result to the image
    if a.fit_output:
        places, tall, wide = _around(_inverse(back), height, width)
        back = _inverse(perspective_matrix(places, width + 1.0, height + 1.0))
    else:
        sides = [(corners[k], corners[k - 1]) for k in range(4)]  # left, upper, right, lower
        long = [numbers.greatest(_between(*side), 2.0) for side in sides]
        wide, tall = (numbers.floor(numbers.greatest(long[k], long[k + 2])) for k in (1, 0))
    if a.keep_size:
        back = [v * (wide / width, tall / height, 1.0)[k % 3] for k, v in enumerate(back)]
    return fn.warp_perspective(
        with_fill(x, a.fill_mask),
        matrix=back,
        pixel_origin="center",
        interp_type=interpolation(a),
        border_mode=named(BORDERS, "border_mode", a.border_mode),
        fill_value=values(a.fill),
        **({} if a.keep_size else {"size": [tall * 1.0, wide * 1.0]}),
    )


def optical(x, a):
    if a.mode != "camera":
        raise ValueError(f"OpticalDistortion: mode='camera' is all that is there, got {a.mode!r}")
    k = draws.uniform(*a.distort_limit)
    return fn.optical_distortion(with_fill(x, 0), k=k, interp_type=interpolation(a), fill_value=0)


def grid(x, a):
    def steps():
        drawn = [draws.uniform(*a.distort_limit) + 1.0 for _ in range(a.num_steps)]
        whole = sum(drawn[1:], drawn[0]) / a.num_steps
        return [step / whole for step in drawn] if a.normalized else drawn

    kinds = {"interp_type": interpolation(a), "fill_value": 0}
    return fn.grid_distortion(with_fill(x, 0), steps_x=steps(), steps_y=steps(), **kinds)


def safe_rotate(x, a):
    """Turns, then scales so that all of the image fits."""
    height, width = extents(x)
    angle = draws.uniform(*a.limit) * RADIANS
    cos, sin = numbers.cos(angle), numbers.sin(angle)
    size = lambda v: numbers.where(v < 0, -1.0, 1.0) * v  # noqa: E731
    wide = numbers.floor(height * size(sin) + width * size(cos) + 1e-3)
    tall = numbers.floor(height * size(cos) + width * size(sin) + 1e-3)
    across, down = width / (wide * 1.0), height / (tall * 1.0)
    middle = (width * 0.5 - 0.5, height * 0.5 - 0.5)
    rows = [(cos * across, sin * across, wide * 0.5 * across), (sin * -1.0 * down, cos * down, tall * 0.5 * down)]
    flat = [v for p, q, r in rows for v in (p, q, r - p * middle[0] - q * middle[1])]
    return warp(x, a, [*flat, 0.0, 0.0, 1.0])


def elastic(x, a):
    """Albumentations smooths normal numbers by 17 x 17 taps of a Gaussian, which is wider than they are. The operator
    smooths uniform numbers by a whole Gaussian: its sigma and alpha give displacements of the same width and deviation."""
    if a.same_dxdy:
        raise ValueError("ElasticTransform: same_dxdy=True is not there")
    if a.noise_distribution not in ("gaussian", "uniform"):
        raise ValueError(
            f"ElasticTransform: noise_distribution must be 'gaussian' or 'uniform', got {a.noise_distribution!r}"
        )
    deviation, gain = float(a.sigma), 1.0
    if not a.approximate:
        places = range(-8, 9)
        taps = [math.exp(-0.5 * (k / deviation) ** 2) for k in places]
        taps = [t / sum(taps) for t in taps]
        deviation = math.sqrt(sum(t * k * k for t, k in zip(taps, places)))
        gain = sum(t * t for t in taps) * (2.0 * math.sqrt(math.pi) * deviation)  # of noise, beside the whole Gaussian
    gain *= math.sqrt(3.0) if a.noise_distribution == "gaussian" else 1.0
    kinds = {"interp_type": interpolation(a), "fill_value": 0}
    return fn.elastic_transform(with_fill(x, 0), alpha=float(a.alpha) * gain, sigma=deviation, **kinds)
