# SPDX-License-Identifier: Apache-2.0
"""The operations of the policies with their magnitudes, and the policies of AutoAugment, as torchvision has them."""

from dataclasses import dataclass

from . import numbers


@dataclass(frozen=True)
class Operation:
    """An operation that draws one of `count` magnitudes, or has none (count 0)."""

    name: str
    first: float = 0.0
    last: float = 0.0
    count: int = 0
    signed: bool = False
    relative: str = ""  # "H", "W": `last` is a part of this extent
    bits: tuple = ()  # the magnitudes, instead of `first` and `last`

    def magnitude(self, place, extent=1):
        """The number at a place from 0 to count - 1."""
        if not self.count:
            return 0.0
        if self.bits:
            return numbers.entry(self.bits, place)
        return place * ((self.last - self.first) / max(self.count - 1, 1)) * extent + self.first


def _bits(most, range_, count):
    """Fewer bits for larger magnitudes; the differences of `range_` / (count - 1) are rounded half to even."""
    return tuple(round(most - k / ((count - 1) / range_)) if count > 1 else most for k in range(count))


def _geometric(count, shear, translate, relative, angle):
    return [
        Operation("ShearX", 0.0, shear, count, True),
        Operation("ShearY", 0.0, shear, count, True),
        Operation("TranslateX", 0.0, translate, count, True, "W" if relative else ""),
        Operation("TranslateY", 0.0, translate, count, True, "H" if relative else ""),
        Operation("Rotate", 0.0, angle, count, True),
    ]


def _colors(count, most):
    return [Operation(name, 0.0, most, count, True) for name in ("Brightness", "Color", "Contrast", "Sharpness")]


def _values(count, most_bits, bits):
    return [
        Operation("Posterize", count=count, bits=_bits(most_bits, bits, count)),
        Operation("Solarize", 1.0, 0.0, count),
        Operation("AutoContrast"),
        Operation("Equalize"),
    ]


def of_auto_augment():
    return [*_geometric(10, 0.3, 150 / 331, True, 30.0), *_colors(10, 0.9), *_values(10, 8, 4), Operation("Invert")]


def of_rand_augment(count):
    return [
        Operation("Identity"),
        *_geometric(count, 0.3, 150 / 331, True, 30.0),
        *_colors(count, 0.9),
        *_values(count, 8, 4),
    ]


def of_trivial_augment(count):
    return [
        Operation("Identity"),
        *_geometric(count, 0.99, 32.0, False, 135.0),
        *_colors(count, 0.99),
        *_values(count, 8, 6),
    ]


def of_aug_mix(all_ops):
    operations = [*_geometric(10, 0.3, 1 / 3, True, 30.0), *_values(10, 4, 4)]
    return [*operations, *_colors(10, 0.9)] if all_ops else operations


# Pairs of (operation, probability, place among 10 magnitudes): "AutoAugment: Learning Augmentation Strategies from Data".
_POLICIES = {
    "imagenet": """
        Posterize .4 8 Rotate .6 9, Solarize .6 5 AutoContrast .6 -, Equalize .8 - Equalize .6 -,
        Posterize .6 7 Posterize .6 6, Equalize .4 - Solarize .2 4, Equalize .4 - Rotate .8 8,
        Solarize .6 3 Equalize .6 -, Posterize .8 5 Equalize 1 -, Rotate .2 3 Solarize .6 8,
        Equalize .6 - Posterize .4 6, Rotate .8 8 Color .4 0, Rotate .4 9 Equalize .6 -,
        Equalize 0 - Equalize .8 -, Invert .6 - Equalize 1 -, Color .6 4 Contrast 1 8,
        Rotate .8 8 Color 1 2, Color .8 8 Solarize .8 7, Sharpness .4 7 Invert .6 -,
        ShearX .6 5 Equalize 1 -, Color .4 0 Equalize .6 -, Equalize .4 - Solarize .2 4,
        Solarize .6 5 AutoContrast .6 -, Invert .6 - Equalize 1 -, Color .6 4 Contrast 1 8,
        Equalize .8 - Equalize .6 -""",
    "cifar10": """
        Invert .1 - Contrast .2 6, Rotate .7 2 TranslateX .3 9, Sharpness .8 1 Sharpness .9 3,
        ShearY .5 8 TranslateY .7 9, AutoContrast .5 - Equalize .9 -, ShearY .2 7 Posterize .3 7,
        Color .4 3 Brightness .6 7, Sharpness .3 9 Brightness .7 9, Equalize .6 - Equalize .5 -,
        Contrast .6 7 Sharpness .6 5, Color .7 7 TranslateX .5 8, Equalize .3 - AutoContrast .4 -,
        TranslateY .4 3 Sharpness .2 6, Brightness .9 6 Color .2 8, Solarize .5 2 Invert 0 -,
        Equalize .2 - AutoContrast .6 -, Equalize .2 - Equalize .6 -, Color .9 9 Equalize .6 -,
        AutoContrast .8 - Solarize .2 8, Brightness .1 3 Color .7 0, Solarize .4 5 AutoContrast .9 -,
        TranslateY .9 9 TranslateY .7 9, AutoContrast .9 - Solarize .8 3, Equalize .8 - Invert .1 -,
        TranslateY .7 9 AutoContrast .9 -""",
    "svhn": """
        ShearX .9 4 Invert .2 -, ShearY .9 8 Invert .7 -, Equalize .6 - Solarize .6 6,
        Invert .9 - Equalize .6 -, Equalize .6 - Rotate .9 3, ShearX .9 4 AutoContrast .8 -,
        ShearY .9 8 Invert .4 -, ShearY .9 5 Solarize .2 6, Invert .9 - AutoContrast .8 -,
        Equalize .6 - Rotate .9 3, ShearX .9 4 Solarize .3 3, ShearY .8 8 Invert .7 -,
        Equalize .9 - TranslateY .6 6, Invert .9 - Equalize .6 -, Contrast .3 3 Rotate .8 4,
        Invert .8 - TranslateY 0 2, ShearY .7 6 Solarize .4 8, Invert .6 - Rotate .8 4,
        ShearY .3 7 TranslateX .9 3, ShearX .1 6 Invert .6 -, Solarize .7 2 TranslateY .6 7,
        ShearY .8 4 Invert .8 -, ShearX .7 9 TranslateY .8 3, ShearY .8 5 AutoContrast .7 -,
        ShearX .7 2 Invert .1 -""",
}


def policies(name):
    """The policies of a data set: pairs of (operation, probability, place of its magnitude or None)."""
    if name not in _POLICIES:
        raise ValueError(f"policy must be one of {', '.join(map(repr, _POLICIES))}, got {name!r}")

    def step(operation, probability, place):
        return operation, float(probability), None if place == "-" else int(place)

    words = [pair.split() for pair in _POLICIES[name].split(",")]
    return [(step(*pair[:3]), step(*pair[3:])) for pair in words]
