# SPDX-License-Identifier: Apache-2.0
"""What the transforms that change sizes do: resize, crop, pad."""

import types

from .. import augment, fn
from ..augment import draws, numbers
from ..augment.samples import extents
from .geometry import WINDOWS, integer, interpolation, named, values, with_fill


def _resized(x, a, **size):
    return fn.resize(x, antialias=False, interp_type=interpolation(a), subpixel_scale=False, **size)


def resize(x, a):
    return _resized(x, a, size=[a.height, a.width])


def _max_size(a):
    if getattr(a, "max_size_hw", None) is not None or not isinstance(a.max_size, int):
        raise ValueError("max_size must be one number; max_size_hw and several sizes are not there")
    return float(a.max_size)


def longest(x, a):
    return _resized(x, a, resize_longer=_max_size(a))


def smallest(x, a):
    return _resized(x, a, resize_shorter=_max_size(a))


def random_scale(x, a):
    height, width = extents(x)
    factor = 1.0 + draws.uniform(*a.scale_limit)
    return _resized(x, a, size=[numbers.floor(height * factor), numbers.floor(width * factor)])


def window(x, height, width, place, policy="error", fill=0):
    """A window; place is (x, y), from 0 for the first position to 1 for the last one."""
    return fn.crop(
        x,
        crop=[height, width],
        crop_pos_x=place[0],
        crop_pos_y=place[1],
        rounding="truncate",
        out_of_bounds_policy=policy,
        fill_values=values(fill),
    )


def _no_padding(a):
    if a.pad_if_needed:
        raise ValueError("pad_if_needed=True is not there: put a PadIfNeeded before the crop")


def center_crop(x, a):
    _no_padding(a)
    return window(x, a.height, a.width, (0.5, 0.5))


def _at(start, room):
    """The place of a window that begins at `start` of `room` positions; half a sample keeps it off rounding down."""
    return numbers.least((start + 0.25) / numbers.greatest(room, 1), 1.0)


def crop(x, a):
    _no_padding(a)
    height, width = extents(x)
    tall, wide = a.y_max - a.y_min, a.x_max - a.x_min
    return window(x, tall, wide, (_at(a.x_min, width - wide), _at(a.y_min, height - tall)))


def _anywhere(x, tall, wide):
    height, width = extents(x)
    place = [_at(draws.below(room + 1), room) for room in (width - wide, height - tall)]
    return window(x, tall, wide, place)


def random_crop(x, a):
    _no_padding(a)
    height, width = extents(x)
    if isinstance(height, int) and (height < a.height or width < a.width):
        raise ValueError(
            f"RandomCrop: the window of {a.height} x {a.width} is larger than the image of {height} x {width}: "
            "put a PadIfNeeded before it"
        )
    return _anywhere(x, a.height, a.width)


def random_sized_crop(x, a):
    tall = integer(a.min_max_height)
    wide = numbers.floor(tall * a.w2h_ratio)
    return _resized(_anywhere(x, tall, wide), a, size=list(a.size))


def random_resized_crop(x, a):
    return fn.random_resized_crop(
        x,
        size=list(a.size),
        random_area=list(a.scale),
        random_aspect_ratio=list(a.ratio),
        interp_type=interpolation(a),
        antialias=False,
    )


PLACES = {
    "center": (0.5, 0.5),
    "top_left": (0.0, 0.0),
    "top_right": (1.0, 0.0),
    "bottom_left": (0.0, 1.0),
    "bottom_right": (1.0, 1.0),
}


def _padded_extent(extent, least, divisor):
    if (least is None) == (divisor is None):
        raise ValueError("PadIfNeeded: give one of min_height and pad_height_divisor, and one of min_width and "
                         "pad_width_divisor; the other is None")  # fmt: skip
    if divisor is None:
        return numbers.greatest(extent, least)
    return numbers.floor((extent + divisor - 1) / divisor) * divisor


def pad_if_needed(x, a):
    if a.position not in PLACES:
        raise ValueError(f"PadIfNeeded: position must be one of {', '.join(PLACES)}, got {a.position!r}")
    height, width = extents(x)
    tall = _padded_extent(height, a.min_height, a.pad_height_divisor)
    wide = _padded_extent(width, a.min_width, a.pad_width_divisor)
    policy = named(WINDOWS, "border_mode", a.border_mode)
    return window(with_fill(x, a.fill_mask), tall, wide, PLACES[a.position], policy, a.fill)


def pad(x, a):
    sides = [a.padding] * 4 if isinstance(a.padding, int) else list(a.padding)
    left, top, right, bottom = sides * 2 if len(sides) == 2 else sides
    height, width = extents(x)
    place = [first / (first + last) if first + last else 0.5 for first, last in ((left, right), (top, bottom))]
    place = (
        [min((n + 0.25) / (n + m), 1.0) if n else 0.0 for n, m in ((left, right), (top, bottom))]
        if any(place)
        else place
    )
    policy = named(WINDOWS, "border_mode", a.border_mode)
    return window(with_fill(x, a.fill_mask), height + top + bottom, width + left + right, place, policy, a.fill)


def box_safe_crop(x, a):
    return augment.random_box_safe_crop(x, erosion=a.erosion_rate)


def sized_box_safe_crop(x, a):
    cut = augment.random_box_safe_crop(x, erosion=a.erosion_rate)
    return fn.resize(cut, size=[a.height, a.width], interp_type=interpolation(a), antialias=False)


def downscale(x, a):
    """Makes images smaller and as large again; nothing moves."""
    kinds = [
        interpolation(types.SimpleNamespace(interpolation=a.interpolation_pair[n])) for n in ("downscale", "upscale")
    ]
    scale, (height, width) = draws.uniform(*a.scale_range), extents(x)
    small = [numbers.greatest(numbers.rounded(n * scale), 1) for n in (height, width)]

    def coarse(image):
        for size, kind in zip((small, [height, width]), kinds):
            image = fn.resize(image, size=size, interp_type=kind, antialias=False, subpixel_scale=False)
        return image

    return x.with_images(coarse)
