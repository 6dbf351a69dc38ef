# SPDX-License-Identifier: Apache-2.0
"""What the transforms do that draw fog, rain, gravel and flares into images."""

import math

import numpy as np

from .. import fn
from ..augment import draws, numbers
from ..augment.samples import extents
from .._base.element_types import DType
from . import drawn
from .checks import check_colors
from .colors import largest
from .geometry import integer
from .light import places
from .noises import with_lightness


def _empty(image, channels, dtype=DType.UINT8):
    """An image of zeros, of the height and width of another one."""
    first = drawn.with_channels(fn.brightness(image[:, :, 0:1], brightness=0.0, dtype=dtype))
    return first if channels == 1 else drawn.with_channels(fn.cat(*[first] * channels, axis=2))


def _discs(x, y, radius):
    return {"segments": drawn.given(drawn.rows(x, y, x, y)), "radius": drawn.given(radius), "pixel_origin": "center"}


def _fog_regions(height, width, least, intensity):
    """(first particle, height, width) of regions that shrink toward the middle, and the number of all particles."""
    tall, wide, first, inside, found = height * 1.0, width * 1.0, 0.0, True, []
    for _ in range(10):
        inside = (tall > least) & (wide > least) & inside
        found.append((first, tall, wide))
        many = numbers.floor(tall * wide / (least * least) * intensity * 10.0 + 1e-4)
        first = first + numbers.where(inside, many, 0.0)
        tall, wide = numbers.floor(tall * 0.9 + 1e-4), numbers.floor(wide * 0.9 + 1e-4)
    return found, first


def fog(x, a):
    check_colors("RandomFog", x)
    intensity, (height, width) = draws.uniform(*a.fog_coef_range), extents(x)
    least = numbers.greatest(numbers.floor(numbers.floor(width / 3 + 1e-4) * intensity), 1.0)
    regions, count = _fog_regions(height, width, least, intensity)
    index, sides = drawn.counted(count), [height * 1.0, width * 1.0]
    for (_, *before), (first, *after) in zip(regions, regions[1:]):
        here = drawn.as_float(index >= first)
        sides = [side + here * (new - old) for side, old, new in zip(sides, before, after)]
    spots = []
    for side, extent in zip(sides, (height, width)):
        middle, half = numbers.floor((extent - 1) * 0.5), drawn.floor(side * 0.5)
        spots.append(drawn.within(drawn.uniform_as(index), middle - half, middle + half))
    most = numbers.greatest(numbers.floor(numbers.least(height, width) * 0.1 * intensity), 2.0)
    least = numbers.greatest(numbers.floor(most * 0.5), 1.0)
    radius = drawn.within(drawn.uniform_as(index), least, most - 1.0)
    top, strength = largest(x), intensity * float(a.alpha_coef)

    def foggy(image):
        layer = fn.draw_segments(_empty(image, 1), color=[255.0], **_discs(spots[1], spots[0], radius))
        part = fn.cast(fn.gaussian_blur(layer, window_size=[25], sigma=[0.0]), dtype=DType.FLOAT) / 255.0
        own = fn.cast(image, dtype=DType.FLOAT)
        return drawn.as_type_of(own + (part * top - own) * (part * strength), image)

    return x.with_images(foggy)


def _half_width(width):
    """Of lines as cv2.line draws them: odd widths from 3 on are one pixel wider."""
    return 0.5 if width <= 1 else (width + width % 2) / 2.0 + 0.2


_RAIN = {"drizzle": (770, 10), "heavy": (600, 30), "torrential": (500, 60), "default": (600, None)}


def rain(x, a):
    if a.rain_type not in _RAIN:
        raise ValueError(f"RandomRain: rain_type must be one of {', '.join(_RAIN)}, got {a.rain_type!r}")
    check_colors("RandomRain", x)
    per_drop, length = _RAIN[a.rain_type]
    length = float(a.drop_length if length is None else length)
    slant, (height, width) = draws.uniform(*a.slant_range), extents(x)
    slant = numbers.floor(slant) + numbers.where(slant < 0, numbers.where(numbers.floor(slant) == slant, 0.0, 1.0), 0.0)
    index = drawn.counted(numbers.floor(height * width / per_drop + 1e-4))
    first = numbers.where(slant < 0, slant, 0.0)
    last = numbers.where(slant < 0, width * 1.0, numbers.greatest(width - slant, 0.0))
    at = drawn.within(drawn.uniform_as(index), first, last)
    down = drawn.within(drawn.uniform_as(index), 0.0, numbers.greatest(height - length, 0.0))
    color = [float(v) * largest(x) / 255.0 for v in a.drop_color]
    drops = {
        "segments": drawn.given(drawn.rows(at, down, at + slant, down + length)),
        "radius": [_half_width(int(a.drop_width))],
        "color": color,
        "pixel_origin": "center",
    }

    def rainy(image):
        blurred = fn.box_blur(fn.draw_segments(image, **drops), window_size=[int(a.blur_value)])
        return fn.brightness(blurred, brightness=float(a.brightness_coefficient))

    return x.with_images(rainy)


def gravel(x, a):
    check_colors("RandomGravel", x)
    height, width = extents(x)
    left, top, right, bottom = (numbers.floor(v * n) for v, n in zip(a.gravel_roi, (width, height, width, height)))
    most = largest(x)
    for _ in range(a.number_of_patches):
        window, grains = _patch((left, right, width), (top, bottom, height))
        x = x.with_images(lambda image, w=window, g=grains: _with_grains(image, most, w, *g))
    return x


_WIDEST = 3.0  # radius of a grain


def _patch(*axes):
    """((left, top, right, bottom) of a patch, (x, y, radii, lightness) of its grains, from its left upper corner on)."""
    sides, starts, windows = [], [], []
    for low, high, extent in axes:
        least, most = (numbers.floor((high - low) / part + 1e-4) for part in (10.0, 5.0))
        side = numbers.least(numbers.floor(draws.uniform(0.0, 1.0) * (most - least + 1.0)) + least, most)
        start = numbers.floor(draws.uniform(0.0, 1.0) * (high - side - low + 1.0)) + low
        first = numbers.greatest(numbers.least(start - _WIDEST, extent - 1.0), 0.0)
        windows.append((first, numbers.greatest(numbers.least(start + side + _WIDEST, extent * 1.0), first + 1.0)))
        sides, starts = [*sides, side], [*starts, start - first]
    index = drawn.counted(numbers.floor(sides[0] * sides[1] / 100.0 + 1e-4))
    part = lambda: drawn.uniform_as(index)  # noqa: E731
    at, down = (drawn.within(part(), low, low + side) for low, side in zip(starts, sides))
    grains = at - 0.5, down - 0.5, drawn.within(part(), 1.0, _WIDEST), drawn.within(part(), 0.0, 255.0)
    return tuple(zip(*windows)), grains


def _with_grains(image, most, window, at, down, radius, light):
    """The image whose pixels under grains have their lightness. Only the window around them is computed."""
    (left, top), (right, bottom) = ([numbers.integer(v) for v in corner] for corner in window)

    def covered(lightness):
        return fn.draw_segments(
            drawn.with_channels(lightness), color=drawn.given(light / 255.0), **_discs(at, down, radius)
        )

    part = fn.slice(image, start=[top, left], end=[bottom, right], axes=[0, 1])
    return drawn.replaced(image, with_lightness(part, most, covered), slice(top, bottom), slice(left, right))


class _Flare:
    """What is drawn of a flare: the sun, and circles on a line through it."""

    def __init__(self, x, a):
        height, width = extents(x)
        turn = draws.uniform(*a.angle_range) * (2.0 * math.pi)
        left, top, right, bottom = (float(v) for v in a.flare_roi)
        self.at = numbers.floor(draws.uniform(left, right) * width), numbers.floor(draws.uniform(top, bottom) * height)
        step = numbers.greatest(numbers.floor(numbers.sqrt((height * height + width * width) * 1.0) * 0.01), 1.0)
        most = numbers.greatest(numbers.floor(height * 0.01 + 1e-4), 2.0)
        darker = int(max(a.src_color) * 0.2)
        low, high = (int(n) for n in a.num_flare_circles_range)
        drawn_count = integer((low, high))
        self.circles = []
        for k in range(high):
            alpha = draws.uniform(0.05, 0.2) * (numbers.where(k < drawn_count, 1.0, 0.0) if low <= k else 1.0)
            steps = numbers.floor((width - 1.0) / step)
            along = numbers.floor(draws.uniform(0.0, 1.0) * (steps + 1.0)) * step - self.at[0]
            place = [v + along * turned(turn) for v, turned in zip(self.at, (numbers.cos, numbers.sin))]
            radius = numbers.least(numbers.floor(draws.uniform(0.0, 1.0) * most) + 1.0, most)
            color = [integer((max(int(c) - darker, 0), int(c))) * 1.0 for c in a.src_color]
            place = [numbers.floor(v) for v in place]
            self.circles.append((alpha, place, radius * radius * radius, color))


def _drawn_circles(circles, scale):
    """Arguments of draw_segments: opacities, places (x, y), radii, colors."""
    flat = lambda rows: [v for row in rows for v in row]  # noqa: E731
    return {
        "segments": flat([*c[1], *c[1]] for c in circles),
        "radius": [c[2] for c in circles],
        "opacity": [c[0] for c in circles],
        "color": flat([v * scale for v in c[3]] for c in circles),
        "pixel_origin": "center",
    }


def _overlay(x, a, flare):
    """A circle is blended again with each circle after it, and the sun is discs of growing opacity."""
    left, weights, sizes, seen = 1.0, 0.0, 0.0, []
    for alpha, place, radius, color in reversed(flare.circles):
        left = left * (1.0 - alpha)
        seen.insert(0, (1.0 - left, place, radius, color))
        shown = numbers.where(alpha > 0, 1.0, 0.0)
        weights, sizes = weights + alpha * radius, sizes + radius * shown
    count = a.src_radius // 10
    brightest = numbers.least(weights / sizes * 5.0, 1.0)
    for k in range(count):
        alpha = brightest * ((count - 1 - k) / max(count - 1, 1))
        radius = float(int(np.linspace(1, a.src_radius, count)[k]))
        seen.append((alpha * alpha * alpha, list(flare.at), radius, [float(c) for c in a.src_color]))
    return x.with_images(lambda image: fn.draw_segments(image, **_drawn_circles(seen, largest(x) / 255.0)))


def _physics(x, a, flare):
    height, width = extents(x)
    far, color = numbers.greatest(height, width) * 1.0, [float(c) for c in a.src_color]
    sun = [(1.0, list(flare.at), float(a.src_radius), color)]
    spots = [
        (numbers.where(alpha > 0, 1.0, 0.0), place, numbers.floor(drawn.power(radius, 0.33)), shade)
        for alpha, place, radius, shade in flare.circles
    ]
    rays = []
    for angle in (0, 45, 90, 135):
        turned = [float(f(math.radians(angle))) for f in (math.cos, math.sin)]
        rays += [*flare.at, *(numbers.floor(v + far * t) for v, t in zip(flare.at, turned))]
    y, across = places(x)
    by_x, by_y = across - flare.at[0], y - flare.at[1]
    away = drawn.root(by_x * by_x + by_y * by_y) * (1.0 / (far * 0.7))
    near, most = 1.0 - drawn.clipped(away, 0.0, 1.0), largest(x)

    def lit(image):
        layer = fn.draw_segments(_empty(image, 3, DType.FLOAT), **_drawn_circles(sun, 1.0))
        layer = fn.draw_segments(layer, segments=rays, radius=[_half_width(2)], color=color, pixel_origin="center")
        layer = fn.draw_segments(layer, **_drawn_circles(spots, 1.0))
        layer = fn.gaussian_blur(layer, window_size=[121], sigma=[15.0]) * near
        red, green, blue = (drawn.with_channels(layer[:, :, k : k + 1]) for k in range(3))
        red = fn.gaussian_blur(red, window_size=[25], sigma=[3.0])
        blue = fn.gaussian_blur(blue, window_size=[41], sigma=[5.0])
        part = fn.cat(red, green, blue, axis=2) * (1.0 / 255.0)
        own = fn.cast(image, dtype=DType.FLOAT)
        return drawn.as_type_of(own + (most - own) * part, image)

    return x.with_images(lit)


def sun_flare(x, a):
    kinds = {"overlay": _overlay, "physics_based": _physics}
    if a.method not in kinds:
        raise ValueError(f"RandomSunFlare: method must be 'overlay' or 'physics_based', got {a.method!r}")
    check_colors("RandomSunFlare", x)
    return kinds[a.method](x, a, _Flare(x, a))
