# SPDX-License-Identifier: Apache-2.0
"""Refusals of what a call gets, before anything is done."""

import numpy as np

from .. import _core


def check_pixels(name, value, layouts):
    """Refuses what is not an array of pixels with the channels last.

    Args:
        name: What it is called.
        value: What is given.
        layouts: The layouts that it may have.
    """
    if isinstance(value, _core.Tensor):
        return
    if type(value).__module__.startswith("torch"):
        raise TypeError(
            f"Compose: {name} is a tensor of torch; it must be an array of (H, W) or (H, W, C): write "
            f"{name}.permute(1, 2, 0).numpy() before, ToTensorV2() last"
        )
    if not isinstance(value, np.ndarray) or value.ndim not in [len(layout) for layout in layouts]:
        got = f"shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        shapes = " or ".join(f"({', '.join(layout)})" for layout in layouts)
        raise TypeError(f"Compose: {name} must be an array of {shapes}, got {got}")


def check_colors(name, x):
    """Refuses a sample whose image is known to have no three channels."""
    image = x.pixels
    if hasattr(image, "node"):
        return
    shape = tuple(image.shape() if callable(image.shape) else image.shape)
    if len(shape) != 3 or shape[2] != 3:
        raise ValueError(f"{name}: images must have three channels, got the shape {shape}")


def check_extents(extent, name, value, first="image"):
    """Refuses pixels of other extents than those of the first ones, the image or the volume."""
    shape = value.shape() if callable(value.shape) else value.shape
    shape = tuple(shape[: len(extent)])
    if shape != tuple(extent):
        sides = "height and width" if len(extent) == 2 else "depth, height and width"
        have, are = (" x ".join(map(str, n)) for n in (extent, shape))
        raise ValueError(
            f"Compose: {first} is {have}, {name} is {are}: they move together, so they must have one {sides}"
        )


def check_labels(name, rows, data, fields):
    """Refuses label fields that are not there, or have another number of rows."""
    for field in fields:
        if field not in data:
            raise ValueError(f"Compose: label_fields names '{field}', but the call has no {field}=")
        if len(data[field]) != rows:
            raise ValueError(f"Compose: {name} has {rows} rows, {field} has {len(data[field])}")
