# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that depend on where a pixel is: light, shadows, lenses."""

import numpy as np

from .. import control, fn
from .. import math as values_math
from ..augment import draws, numbers
from ..augment.samples import extents
from .._base.element_types import DType
from . import drawn
from .geometry import BORDERS, RADIANS, integer, interpolation

_LONGEST = 16384  # of an image in a pipeline, where extents are not known when the numbers are made


def _line(extent, shape):
    """0, 1, 2 and so on, along one axis."""
    if not hasattr(extent, "node"):
        return np.arange(extent, dtype=np.float32).reshape(shape)
    whole = np.arange(_LONGEST, dtype=np.float32)
    return fn.reshape(fn.slice(whole, start=[0], end=[numbers.integer(extent)], axes=[0]), shape=shape)


def places(x):
    """(y, x): (H, 1, 1) and (1, W, 1)."""
    height, width = extents(x)
    return _line(height, [-1, 1, 1]), _line(width, [1, -1, 1])


def _scaled(x, factors):
    """The images times an array of (H, W, 1)."""

    def scaled(image):
        return drawn.as_type_of(fn.cast(image, dtype=DType.FLOAT) * factors, image)

    return x.with_images(scaled)


def _gradient(x, a):
    height, width = extents(x)
    y, across = places(x)
    angle, diagonal = draws.uniform(*a.angle_range) * RADIANS, numbers.sqrt((height * height + width * width) * 1.0)
    return (across * (numbers.cos(angle) / diagonal) + y * (numbers.sin(angle) / diagonal) + 1.0) * 0.5


def _from_a_corner(x, a):
    height, width = extents(x)
    y, across = places(x)
    corner, diagonal = draws.below(4), numbers.sqrt((height * height + width * width) * 1.0)
    right, low = (corner == 1) | (corner == 2), corner >= 2
    by_x = across - numbers.where(right, 1.0, 0.0) * (width - 1.0)
    by_y = y - numbers.where(low, 1.0, 0.0) * (height - 1.0)
    return 1.0 - values_math.sqrt(by_x * by_x + by_y * by_y) * (1.0 / diagonal)


def _spot(x, a):
    height, width = extents(x)
    y, across = places(x)
    middle = draws.uniform(*a.center_range) * width, draws.uniform(*a.center_range) * height
    deviation = draws.uniform(*a.sigma_range) * numbers.greatest(height, width)
    by_x, by_y = across - middle[0], y - middle[1]
    return values_math.exp((by_x * by_x + by_y * by_y) * (-0.5 / (deviation * deviation)))


_PATTERNS = {"linear": _gradient, "corner": _from_a_corner, "gaussian": _spot}
_SIGNS = {"both": draws.sign, "brighten": lambda: 1.0, "darken": lambda: -1.0}


def illumination(x, a):
    for name, known in (("mode", _PATTERNS), ("effect_type", _SIGNS)):
        if getattr(a, name) not in known:
            raise ValueError(f"Illumination: {name} must be one of {', '.join(known)}, got {getattr(a, name)!r}")
    strength = draws.uniform(*a.intensity_range) * _SIGNS[a.effect_type]()
    return _scaled(x, _PATTERNS[a.mode](x, a) * strength + 1.0)


def _inside(y, across, corners):
    """1 inside a polygon, whose edges may cross, by the parity of the edges to the right of a pixel."""
    crossings = 0
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]]):
        spans = (y >= y0) != (y >= y1)
        run = numbers.where(y0 == y1, 1.0, y1 - y0)
        at = (y - y0) * ((x1 - x0) / run) + x0
        crossings = fn.cast(spans & (across < at), dtype=DType.INT32) + crossings
    return crossings & 1


def shadow(x, a):
    height, width = extents(x)
    left, top, right, bottom = (numbers.floor(v * n) for v, n in zip(a.shadow_roi, (width, height, width, height)))
    least, most = a.num_shadows_limit
    count, (y, across) = integer((least, most)), places(x)
    factors = 1.0
    for k in range(most):
        corners = []
        for _ in range(a.shadow_dimension):
            place = [draws.uniform(0.0, 1.0) * (high - low) + low for low, high in ((left, right), (top, bottom))]
            corners.append([numbers.floor(v) for v in place])
        depth = draws.uniform(*a.shadow_intensity_range) * (numbers.where(k < count, 1.0, 0.0) if least <= k else 1.0)
        factors = factors * (1.0 - fn.cast(_inside(y, across, corners), dtype=DType.FLOAT) * depth)
    return _scaled(x, factors)


def _lens(image, y, across, size, near, far, kind):
    """A channel through a lens that moves a pixel by its distance from the middle, as OpenCV's camera model does."""
    height, width = size
    by_x, by_y = (across - width * 0.5) * (1.0 / width), (y - height * 0.5) * (1.0 / height)
    square = by_x * by_x + by_y * by_y
    factor = square * (square * far + near) + 1.0
    maps = [fn.reshape(part, shape=[height, width]) for part in (
        by_x * factor * (width * 1.0) + width * 0.5, by_y * factor * (height * 1.0) + height * 0.5
    )]  # fmt: skip
    return fn.remap(image, *maps, pixel_origin="center", interp=kind, border_mode=BORDERS[1])


def chromatic_aberration(x, a):
    if a.mode not in ("green_purple", "red_blue", "random"):
        raise ValueError(f"ChromaticAberration: mode must be green_purple, red_blue or random, got {a.mode!r}")
    size, (y, across), kind = extents(x), places(x), interpolation(a)
    near, far = ([draws.uniform(*limit) for _ in range(2)] for limit in (
        a.primary_distortion_limit, a.secondary_distortion_limit
    ))  # fmt: skip
    signed = lambda v, like: numbers.where(v < 0, -1.0, 1.0) * v * numbers.where(like < 0, -1.0, 1.0)  # noqa: E731
    if a.mode != "random":
        near[1] = signed(near[1], near[0] * (1.0 if a.mode == "green_purple" else -1.0))
    far = [signed(f, n) for f, n in zip(far, near)]

    def apart(image):
        red, green, blue = (image[:, :, k : k + 1] for k in range(3))
        red, blue = (_lens(c, y, across, size, n, f, kind) for c, n, f in zip((red, blue), near, far))
        return fn.cat(red, green, blue, axis=2)

    return x.with_images(apart)


def zoom_blur(x, a):
    """The mean of an image and of itself enlarged about its middle, by 1, 1 + step, 1 + 2 steps and so on."""
    step, (height, width) = draws.uniform(*a.step_factor), extents(x)
    most = numbers.greatest(draws.uniform(*a.max_factor), step + 1.0)
    count = numbers.integer(numbers.floor((most - 1.0) / step - 1e-3) + 1)
    middle = (width * 0.5, height * 0.5)

    def blurred(image):
        own = fn.cast(image, dtype=DType.FLOAT)

        def more(k, total):
            part = 1.0 / (k * step + 1.0)
            rows = [part, 0.0, middle[0] * (1.0 - part), 0.0, part, middle[1] * (1.0 - part), 0.0, 0.0, 1.0]
            return (total + fn.warp_perspective(own, matrix=rows, border_mode=BORDERS[1]),)

        (total,) = control.for_(control.range_(count), more, (own,))
        return drawn.as_type_of(total * (1.0 / (count + 1.0)), image)

    return x.with_images(blurred)
