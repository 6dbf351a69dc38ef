# SPDX-License-Identifier: Apache-2.0
"""Classes of the transforms, made from the table."""

import difflib
import inspect
import textwrap
import types

from .. import augment
from .._base.other_names import alike
from .table import REQUIRED, TABLE

_IGNORED = {"mask_interpolation": 0, "rotate_method": "largest_box"}  # these values alone are there
_INSTEAD = {
    "value": "fill",
    "mask_value": "fill_mask",
    "cval": "fill",
    "cval_mask": "fill_mask",
    "pad_val": "fill",
    "mask_pad_val": "fill_mask",
    "mode": "border_mode",
    "pad_mode": "border_mode",
    "max_holes": "num_holes_range",
    "min_holes": "num_holes_range",
    "max_height": "hole_height_range",
    "max_width": "hole_width_range",
    "min_height": "hole_height_range",
    "min_width": "hole_width_range",
    "fill_value": "fill",
    "mask_fill_value": "fill_mask",
    "var_limit": "std_range",
    "mean": "mean_range",
    "height": "size",
    "width": "size",
    "quality_lower": "quality_range",
    "quality_upper": "quality_range",
    "threshold": "threshold_range",
}
_LOWEST = {"both": lambda v: -v, "one": lambda v: 1.0, "three": lambda v: 3, "zero": lambda v: 0.0, "same": lambda v: v}


def unknown(name, argument, known):
    """The error of an argument that a transform does not have."""
    better = _INSTEAD.get(argument)
    here = f"write {better}=" if better in known else alike(argument, known)
    if not here and (near := difflib.get_close_matches(argument, known, 1)):
        here = f"write {near[0]}="
    return TypeError(f"{name} has no argument '{argument}'" + (f": {here}" if here else "") +
                     f". It has {', '.join(known) or 'none'}")  # fmt: skip


class Transform:
    """One transform. Its class says which, its arguments how."""

    definition = None

    def __init__(self, *args, p=None, always_apply=None, **kwargs):
        name, known = type(self).__name__, self.definition.arguments
        if len(args) > len(known):
            raise TypeError(f"{name} takes {len(known)} arguments, got {len(args)}")
        given = dict(zip(known, args))
        for argument, value in kwargs.items():
            if argument in _IGNORED and value == _IGNORED[argument]:
                continue
            if argument not in known:
                raise unknown(name, argument, known)
            given[argument] = value
        made = {**known, **given}
        for argument, value in made.items():
            if value is REQUIRED:
                raise TypeError(f"{name} needs {argument}=")
        self.p = augment.samples.checked_probability(1.0 if always_apply else self.definition.p if p is None else p)
        self.arguments = types.SimpleNamespace(**{n: self._ranged(n, v) for n, v in made.items()})

    def _ranged(self, argument, value):
        low = self.definition.limits.get(argument)
        if low is None or value is None or isinstance(value, (list, tuple)):
            return tuple(sorted(value)) if low and value is not None else value  # as Albumentations does
        return tuple(sorted((_LOWEST[low](value), value)))

    def _forced(self, sample):
        """Does it, whatever p says."""
        return self.definition.function(sample, self.arguments)

    def _apply(self, sample):
        """Does it with probability p."""
        if self.p >= 1.0:
            return self._forced(sample)
        return augment.maybe(sample, self._forced, self.p) if self.p > 0.0 else sample

    def __repr__(self):
        settings = [f"{n}={v!r}" for n, v in vars(self.arguments).items()]
        return f"{type(self).__name__}({', '.join([*settings, f'p={self.p}'])})"


def _wrapped(differs):
    return textwrap.fill(f"It differs: {differs}.", 110, initial_indent="    ", subsequent_indent="    ")


def _doc(name, definition):
    arguments = "".join(f"        {n}: As in Albumentations.\n" for n in definition.arguments)
    differs = f"\n{_wrapped(definition.differs)}\n" if definition.differs else ""
    return (
        f"Is {name} of Albumentations 1.4.\n{differs}\n    Args:\n{arguments}        p: The probability.\n"
        "        always_apply: True: p is 1.\n\n    Raises:\n"
        "        TypeError: An argument is not known or missing.\n        ValueError: p is not from 0 to 1.\n"
    )


def _signature(definition):
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = [
        inspect.Parameter(n, kind, default=inspect.Parameter.empty if v is REQUIRED else v)
        for n, v in definition.arguments.items()
    ]
    last = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in ("p", "always_apply")]
    return inspect.Signature([*named, *last])


CLASSES = {
    name: type(
        name,
        (Transform,),
        {
            "definition": d,
            "__doc__": _doc(name, d),
            "__module__": "penstock.albumentations",
            "__signature__": _signature(d),
        },
    )
    for name, d in TABLE.items()
}


def missing(name):
    """The error of a name that is not there."""
    near = difflib.get_close_matches(name, TABLE, 1)
    return f"penstock.albumentations has no '{name}'" + (f": did you mean {near[0]}?" if near else "")
