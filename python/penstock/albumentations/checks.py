# SPDX-License-Identifier: Apache-2.0
"""Refusals of what a call gets, before anything is done."""

import numpy as np

from .. import _core


def check_pixels(name, value):
    """Refuses what is not an array of pixels with the channels last."""
    if isinstance(value, _core.Tensor):
        return
    if type(value).__module__.startswith("torch"):
        raise TypeError(
            f"Compose: {name} is a tensor of torch; it must be an array of (H, W) or (H, W, C): write "
            f"{name}.permute(1, 2, 0).numpy() before, ToTensorV2() last"
        )
    if not isinstance(value, np.ndarray) or value.ndim not in (2, 3):
        got = f"shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise TypeError(f"Compose: {name} must be an array of (H, W) or (H, W, C), got {got}")


def check_colors(name, x):
    """Refuses a sample whose image is known to have no three channels."""
    image = x.pixels
    if hasattr(image, "node"):
        return
    shape = tuple(image.shape() if callable(image.shape) else image.shape)
    if len(shape) != 3 or shape[2] != 3:
        raise ValueError(f"{name}: images must have three channels, got the shape {shape}")


def check_extents(extent, name, value):
    """Refuses pixels of another height or width than the image's."""
    shape = value.shape() if callable(value.shape) else value.shape
    if tuple(shape[:2]) != tuple(extent):
        raise ValueError(
            f"Compose: image is {extent[0]} x {extent[1]}, {name} is {shape[0]} x {shape[1]}: they move together, so they "
            "must have one height and width"
        )


def check_labels(name, rows, data, fields):
    """Refuses label fields that are not there, or have another number of rows."""
    for field in fields:
        if field not in data:
            raise ValueError(f"Compose: label_fields names '{field}', but the call has no {field}=")
        if len(data[field]) != rows:
            raise ValueError(f"Compose: {name} has {rows} rows, {field} has {len(data[field])}")
