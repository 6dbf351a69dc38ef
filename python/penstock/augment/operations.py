# SPDX-License-Identifier: Apache-2.0
"""The operations that policies draw from."""

from .. import fn
from . import draws, numbers
from .adjustments import adjust_contrast, rotated, warped
from .samples import check_bytes, choose, extents


def operated(images, name, magnitude, interpolation=0, fill=0):
    """One operation of the policies. A translation is in pixels, the threshold of Solarize a part of 255."""
    if name == "ShearX":
        return warped(images, [1.0, magnitude, 0.0, 0.0, 1.0, 0.0], interpolation, fill)
    if name == "ShearY":
        return warped(images, [1.0, 0.0, 0.0, magnitude, 1.0, 0.0], interpolation, fill)
    if name == "TranslateX":
        return warped(images, [1.0, 0.0, -magnitude, 0.0, 1.0, 0.0], interpolation, fill)
    if name == "TranslateY":
        return warped(images, [1.0, 0.0, 0.0, 0.0, 1.0, -magnitude], interpolation, fill)
    if name == "Rotate":
        return rotated(images, magnitude, interpolation, fill)
    return {
        "Identity": lambda: images,
        "Brightness": lambda: fn.brightness(images, brightness=magnitude + 1.0),
        "Color": lambda: fn.adjust_saturation(images, saturation_factor=magnitude + 1.0),
        "Contrast": lambda: adjust_contrast(images, magnitude + 1.0),
        "Sharpness": lambda: fn.adjust_sharpness(images, sharpness_factor=magnitude + 1.0),
        "Posterize": lambda: fn.posterize(images, bits=magnitude),
        "Solarize": lambda: fn.solarize(images, threshold=magnitude * 255.0),
        "AutoContrast": lambda: fn.autocontrast(images),
        "Equalize": lambda: fn.equalize(images, rule="pillow"),
        "Invert": lambda: fn.invert(images),
    }[name]()


def strength(images, operation, place, sign):
    """The magnitude of an operation at a place among its magnitudes, with its sign."""
    magnitude = operation.magnitude(place, extents(images, operation.relative)[0] if operation.relative else 1)
    if operation.name.startswith("Translate"):
        magnitude = numbers.whole(magnitude)
    return magnitude * sign if operation.signed else magnitude


def drawn(images, operations, index, place, interpolation, fill):
    """The operation of this index."""
    check_bytes(images)
    sign = draws.sign()

    def branch(operation):
        return lambda: operated(images, operation.name, strength(images, operation, place, sign), interpolation, fill)

    return choose(index, [branch(operation) for operation in operations])
