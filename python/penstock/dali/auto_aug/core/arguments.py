# SPDX-License-Identifier: Apache-2.0
"""Which further arguments the functions of augmentations take."""

import inspect

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def positional(function):
    """How many arguments a function takes by position; a large number if it takes any."""
    found = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in found):
        return 1 << 30
    return sum(p.kind in _POSITIONAL for p in found)


def further(function):
    """The parameters of a function after the samples and the parameter, by name."""
    found = inspect.signature(function).parameters
    return dict(list(found.items())[2:])


def takes(function, name):
    """Whether a function takes the argument `name` by keyword."""
    found = further(function).values()
    return any(p.kind is p.VAR_KEYWORD or (p.name == name and p.kind is not p.POSITIONAL_ONLY) for p in found)


def taken(augmentation, given):
    """Those of the given arguments that the function of an augmentation takes. A missing one is an error."""
    required = [
        p.name
        for p in further(augmentation.op).values()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    missing = [name for name in required if name not in given]
    if missing:
        raise TypeError(
            f"the augmentation `{augmentation.name}` needs the argument {', '.join(f'`{m}`' for m in missing)}: pass it by "
            f"keyword{_about_shape(missing)}"
        )
    return {name: value for name, value in given.items() if takes(augmentation.op, name)}


def _about_shape(missing):
    if "shape" not in missing:
        return ""
    return (
        "; it is the (height, width) of the images, which fn.peek_image_shape gives for encoded ones. translate_x_no_shape and "
        "translate_y_no_shape need none: they shift by up to a number of pixels"
    )


def check_all_taken(augmentations, given, caller):
    """Refuses arguments that no augmentation takes."""
    for name in given:
        if not any(takes(a.op, name) for a in augmentations):
            raise TypeError(f"{caller} got an argument `{name}`, which none of the augmentations takes")


def check_count(name, value, least=1):
    """Refuses what is not an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        word = "a positive integer" if least else "an integer that is not negative"
        raise ValueError(f"`{name}` must be {word}, got {value!r}")
