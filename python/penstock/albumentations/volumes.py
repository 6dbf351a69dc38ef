# SPDX-License-Identifier: Apache-2.0
"""What the transforms of volumes do: windows, holes and the symmetries of a cube."""

from .. import fn
from ..augment import draws, numbers
from ..augment.samples import axes_of, extents
from ..sample import Mask, Volume
from .geometry import integer, values, with_fill

_AXES = "DHW"


def _extents(name, x):
    """(depth, height, width)"""
    if not any(isinstance(kind, Volume) for kind in x.kinds.values()):
        raise ValueError(f"{name} needs a volume: volume=")
    return extents(x, _AXES)


def _three(name, argument, given):
    """Three whole numbers, for depth, height and width."""
    found = tuple(given) if isinstance(given, (list, tuple)) else ()
    if len(found) != 3 or not all(isinstance(n, int) and n > 0 for n in found):
        raise ValueError(f"{name}: {argument} must be three positive numbers (depth, height, width), got {given!r}")
    return found


def _window(x, starts, sizes, a):
    """A window that may reach beyond the volume, where it is filled."""
    starts = [numbers.integer(v) for v in starts]
    return fn.slice(
        with_fill(x, a.fill_mask),
        start=starts,
        end=[first + numbers.integer(size) for first, size in zip(starts, sizes)],
        axis_names=_AXES,
        out_of_bounds_policy="pad",
        fill_values=values(a.fill),
    )


def _half(room):
    """Half of the room before a window, rounded toward 0; negative: what is added before it."""
    return numbers.where(room < 0, -1, 1) * numbers.floor(_size(room) * 0.5 + 1e-4)


def _size(v):
    return numbers.where(v < 0, -1, 1) * v


def _anywhere(room):
    """A place in the room before a window, or in that around the volume."""
    drawn = draws.below(numbers.integer(_size(room)) + 1)
    return numbers.where(room < 0, -1, 1) * drawn


def _cropped(name, place):
    def crop(x, a):
        size, extent = _three(name, "size", a.size), _extents(name, x)
        if not a.pad_if_needed and isinstance(extent[0], int) and any(n < s for n, s in zip(extent, size)):
            raise ValueError(
                f"{name}: the window {size} is larger than the volume {tuple(extent)}: pad_if_needed=True fills it"
            )
        return _window(x, [place(n - s) for n, s in zip(extent, size)], size, a)

    return crop


center_crop, random_crop = _cropped("CenterCrop3D", _half), _cropped("RandomCrop3D", _anywhere)


def pad(x, a):
    extent = _extents("Pad3D", x)
    given = [a.padding] * 6 if isinstance(a.padding, int) else list(a.padding)
    sides = [n for n in given for _ in range(2)] if len(given) == 3 else given
    if len(sides) != 6 or not all(isinstance(n, int) and n >= 0 for n in sides):
        raise ValueError(f"Pad3D: padding must be 1, 3 or 6 numbers that are not negative, got {a.padding!r}")
    before, after = sides[::2], sides[1::2]
    return _window(x, [-n for n in before], [n + b + e for n, b, e in zip(extent, before, after)], a)


def _padded(extent, least, divisor):
    made = extent
    if least is not None:
        made = numbers.greatest(made, least)
    elif divisor is not None:
        made = numbers.integer(numbers.floor((made + divisor - 1) / divisor + 1e-4)) * divisor
    return made


def pad_if_needed(x, a):
    if a.min_zyx is None and a.pad_divisor_zyx is None:
        raise ValueError("PadIfNeeded3D: give min_zyx or pad_divisor_zyx")
    if a.position not in ("center", "random"):
        raise ValueError(f"PadIfNeeded3D: position must be 'center' or 'random', got {a.position!r}")
    least = _three("PadIfNeeded3D", "min_zyx", a.min_zyx) if a.min_zyx is not None else (None,) * 3
    divisor = (None,) * 3
    if a.pad_divisor_zyx is not None:
        divisor = _three("PadIfNeeded3D", "pad_divisor_zyx", a.pad_divisor_zyx)
    extent = _extents("PadIfNeeded3D", x)
    sizes = [_padded(*three) for three in zip(extent, least, divisor)]
    place = _half if a.position == "center" else _anywhere
    return _window(x, [place(n - s) for n, s in zip(extent, sizes)], sizes, a)


def coarse_dropout(x, a):
    name, least, most = "CoarseDropout3D", *(int(n) for n in a.num_holes_range)
    if not 0 <= least <= most:
        raise ValueError(f"{name}: num_holes_range must be a range from 0 on, got {a.num_holes_range!r}")
    ranges = [getattr(a, f"hole_{side}_range") for side in ("depth", "height", "width")]
    if not all(0 <= low <= high <= 1 for low, high in ranges):
        raise ValueError(f"{name}: the ranges of sides are parts of the volume's, from 0 to 1, got {ranges!r}")
    extent, count, anchors, shapes = _extents(name, x), integer((least, most)), [], []
    for k in range(most):
        used = numbers.where(k < count, 1, 0) if least <= k else 1
        for n, (low, high) in zip(extent, ranges):
            part = draws.uniform(low, high)
            long = numbers.greatest(-1 * numbers.floor(-1.0 * (n * part)), 1)
            anchors.append(draws.below(numbers.integer(n - long) + 1))
            shapes.append(long * used)
    if not anchors:
        return x
    holes = {"anchor": anchors, "shape": shapes, "axes": axes_of(x, _AXES)}
    made = fn.erase(x, **holes, fill_value=values(a.fill))
    if a.fill_mask is None:
        return made
    masks = [n for n, kind in x.kinds.items() if isinstance(kind, Mask)]
    filled = {n: fn.erase(x[n], **holes, fill_value=values(a.fill_mask)) for n in masks}
    return made.mixed({**made, **filled})


# Turns that bring each of the six faces to the front: the axis (x, y, z), and the angle in degrees.
_FACES = ((0, 1, 0), 0), ((0, 1, 0), 90), ((0, 1, 0), 180), ((0, 1, 0), 270), ((1, 0, 0), 90), ((1, 0, 0), 270)


def cubic_symmetry(x, a):
    """One of 48: a mirror image or not, one of six faces in front, turned by one of four angles."""
    _extents("CubicSymmetry", x)
    mirrored, face, turns = draws.below(2), draws.below(6), draws.below(4)
    axis = [numbers.entry([float(found[k]) for found, _ in _FACES], face) for k in range(3)]
    angle = numbers.entry([float(found) for _, found in _FACES], face)
    kinds = {"interp_type": 0, "fill_value": 0}
    x = fn.flip(x, horizontal=mirrored)
    x = fn.rotate(x, angle=angle, axis=axis, **kinds)
    return fn.rotate(x, angle=turns * 90.0, axis=[0.0, 0.0, 1.0], **kinds)
