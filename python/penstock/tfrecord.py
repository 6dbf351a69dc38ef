# SPDX-License-Identifier: Apache-2.0
"""What fn.readers.tfrecord reads of tf.train.Example records.

from penstock import fn, tfrecord as tfrec
inputs = fn.readers.tfrecord(path="train-*.tfrecord", features={
    "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
    "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
    "image/object/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0)})
images = fn.decoders.image(inputs["image/encoded"])
"""

import enum
import json

__all__ = ["FeatureType", "FixedLenFeature", "VarLenFeature", "Feature", "int64", "string", "float32"]


class FeatureType(enum.IntEnum):
    """Types of features."""

    int64 = 0
    string = 1
    float32 = 2


int64, string, float32 = FeatureType.int64, FeatureType.string, FeatureType.float32


class Feature:
    """Type, shape and default of a feature; made by FixedLenFeature() and VarLenFeature()."""

    def __init__(self, fixed, shape, dtype, default_value):
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


def FixedLenFeature(shape, dtype, default_value=None):
    """A feature that has the same shape in every record: () for one value without a dimension, [n] for n values.

    A record that lacks it gets `default_value` (None: zeros, or an empty string) in every place.
    """
    return Feature(True, shape, dtype, default_value)


def VarLenFeature(*args, **kwargs):
    """VarLenFeature(dtype, default_value) or VarLenFeature(partial_shape, dtype, default_value).

    A feature with as many values as each record has: shape (n,), or (n / p, *partial_shape) where p is the product of
    partial_shape. A record that lacks it gives an empty one.
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
                f"[readers.tfrecord] features['{name}'] is no FixedLenFeature or VarLenFeature: {feature!r}"
            )
    values = read(features=[feature._json(name) for name, feature in features.items()], **arguments)
    return dict(zip(features, values if isinstance(values, list) else [values]))
