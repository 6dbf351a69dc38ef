# SPDX-License-Identifier: Apache-2.0
"""What fn.readers.tfrecord reads of tf.train.Example records.

from penstock import fn, tfrecord as tfrec
inputs = fn.readers.tfrecord(path="train-*.tfrecord", features={
    "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
    "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
    "image/object/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0)})
images = fn.decoders.image(inputs["image/encoded"])
"""

from __future__ import annotations

import enum
import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["FeatureType", "FixedLenFeature", "VarLenFeature", "Feature", "int64", "string", "float32"]


class FeatureType(enum.IntEnum):
    """Names the types of features."""

    int64 = 0
    string = 1
    float32 = 2


int64, string, float32 = FeatureType.int64, FeatureType.string, FeatureType.float32


class Feature:
    """Holds the type, the shape and the default of a feature.

    FixedLenFeature() and VarLenFeature() make it.

    Args:
        fixed: Whether the shape is the same in every record.
        shape: The shape, or the part of it that is known.
        dtype: int64, float32 or string.
        default_value: What a record gets that lacks the feature.

    Raises:
        TypeError: `dtype` is not one of the three.
    """

    def __init__(self, fixed: bool, shape: Sequence[int], dtype: Any, default_value: Any) -> None:
        try:
            self.dtype = FeatureType(dtype)
        except ValueError:
            raise TypeError(
                f"[readers.tfrecord] the type of a feature is tfrecord.int64, .float32 or .string, not {dtype!r}"
            ) from None
        self.fixed = fixed
        self.shape = [int(extent) for extent in shape]
        self.default_value = default_value

    def __repr__(self):
        name = "FixedLenFeature" if self.fixed else "VarLenFeature"
        return f"{name}({self.shape}, {self.dtype.name}, {self.default_value!r})"

    def _json(self, name):
        default = self.default_value
        if isinstance(default, bytes):
            default = default.decode("latin-1")
        elif default is not None and not isinstance(default, str):
            default = int(default) if self.dtype == int64 else float(default)
        if isinstance(default, str) and self.dtype != string:
            raise TypeError(f"[readers.tfrecord] the default of '{name}' is a number, not {default!r}")
        made = {"name": name, "fixed": self.fixed, "dtype": self.dtype.name, "shape": self.shape}
        return json.dumps(made if default is None else {**made, "default": default})


def FixedLenFeature(shape: Sequence[int], dtype: FeatureType, default_value: Any = None) -> Feature:
    """Describes a feature that has the same shape in every record.

    Args:
        shape: () for one value without a dimension, [n] for n values.
        dtype: int64, float32 or string.
        default_value: What a record that lacks it gets in every place; None: zeros, or an empty string.

    Example:
        >>> penstock.tfrecord.FixedLenFeature([1], penstock.tfrecord.int64, -1)
        FixedLenFeature([1], int64, -1)
    """
    return Feature(True, shape, dtype, default_value)


def VarLenFeature(*args: Any, **kwargs: Any) -> Feature:
    """Describes a feature with as many values as each record has.

    Its shape is (n,), or (n / p, *partial_shape) where p is the product of partial_shape. A record that lacks it
    gives an empty one.

    Args:
        *args: (dtype, default_value) or (partial_shape, dtype, default_value).
        **kwargs: partial_shape, dtype and default_value by name.

    Raises:
        TypeError: An argument is unknown, or dtype is missing.

    Example:
        >>> penstock.tfrecord.VarLenFeature(penstock.tfrecord.float32, 0.0)
        VarLenFeature([], float32, 0.0)
    """
    names = ("partial_shape", "dtype", "default_value")
    if args and not hasattr(args[0], "__len__"):
        args = ((),) + args
    given = {**dict(zip(names, args)), **kwargs}
    if len(args) > 3 or set(given) - set(names) or "dtype" not in given:
        raise TypeError("VarLenFeature takes [partial_shape], dtype and default_value")
    shape = [int(extent) for extent in given.get("partial_shape", ())]
    return Feature(False, shape[1:] if shape[:1] == [-1] else shape, given["dtype"], given.get("default_value"))


def reader(read, *, features, **arguments):
    """fn.readers.tfrecord over `read`, the operator itself: a dict of features gives a dict of values."""
    if not hasattr(features, "items"):
        return read(features=features, **arguments)
    for name, feature in features.items():
        if not isinstance(feature, Feature):
            raise TypeError(
                f"[readers.tfrecord] features['{name}'] is not a FixedLenFeature or VarLenFeature: {feature!r}"
            )
    values = read(features=[feature._json(name) for name, feature in features.items()], **arguments)
    return dict(zip(features, values if isinstance(values, list) else [values]))
