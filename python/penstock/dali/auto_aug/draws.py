# SPDX-License-Identifier: Apache-2.0
"""Draws of the schemes, and arguments that they share."""

from __future__ import annotations

from typing import Any

from ... import fn
from ..._base.element_types import DType
from .augmentations import translate_x, translate_x_no_shape, translate_y, translate_y_no_shape
from .core.arguments import takes


def seed_of(seed, draw):
    """The arguments of the draw of this number. Draws of one seed must not be equal."""
    return {} if seed is None else {"seed": (seed * 0x9E3779B1 + draw * 0x85EBCA6B) % (1 << 31)}


def below(count, seed, draw, shape=()):
    """Integers from 0 to count - 1."""
    given = seed_of(seed, draw) | ({"shape": list(shape)} if shape else {})
    return fn.random.uniform(values=[float(k) for k in range(count)], dtype=DType.INT32, **given)


def of_warps(shape, fill_value, interp_type) -> dict[str, Any]:
    """The arguments that the augmentations of the suites take."""
    given = {"fill_value": fill_value}
    if interp_type is not None:
        given["interp_type"] = interp_type
    if shape is not None:
        given["shape"] = shape
    return given


def used(augmentations, given):
    """The arguments that any of the augmentations takes: a program may have excluded all that do."""
    return {name: value for name, value in given.items() if any(takes(a.op, name) for a in augmentations)}


def translations(use_shape, most_pixels, most_part, max_translate_abs, max_translate_rel):
    """The translations along x and y; most_pixels and most_part are the defaults of the limits."""
    other, unfit = ("max_translate_rel", max_translate_abs) if use_shape else ("max_translate_abs", max_translate_rel)
    if unfit is not None:
        name = "max_translate_abs" if use_shape else "max_translate_rel"
        word = "with" if use_shape else "without"
        raise ValueError(f"`{name}` has no meaning {word} the shape of the images: use `{other}`")
    most = max_translate_rel if use_shape else max_translate_abs
    height, width = _limits(other, most if most is not None else most_part if use_shape else most_pixels)
    across, down = (translate_x, translate_y) if use_shape else (translate_x_no_shape, translate_y_no_shape)
    return across.augmentation(mag_range=(0, width)), down.augmentation(mag_range=(0, height))


def _limits(name, most):
    pair = tuple(most) if isinstance(most, (list, tuple)) else (most, most)
    if len(pair) != 2 or any(isinstance(m, str) or m < 0 for m in pair):
        raise ValueError(f"`{name}` must be a number that is not negative or a pair (height, width), got {most!r}")
    return pair


def without(augmentations, excluded, suite):
    """The augmentations without those of these names."""
    names = [a.name for a in augmentations]
    for name in excluded or ():
        if name not in names:
            raise ValueError(
                f"`excluded` has {name!r}, which is none of {suite}'s augmentations: {', '.join(sorted(names))}"
            )
    return [a for a in augmentations if a.name not in (excluded or ())]
