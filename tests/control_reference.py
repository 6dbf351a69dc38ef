# SPDX-License-Identifier: Apache-2.0
"""The rules of values in a pipeline's body, for plain Python on one sample: shapes, indices and broadcasting are NumPy's;
types, promotion, division and conversion are reference.py's."""

import numpy as np
import reference as ref


class Value:
    """One sample's value. x[...] = v changes it in place: programs copy where they keep an old version."""

    def __init__(self, array):
        self.array = np.array(array)

    def __bool__(self):
        return bool(self.array.item())

    def __index__(self):
        return int(self.array.item())

    def __iter__(self):
        return iter([Value(a) for a in self.array])  # of the value that the loop began with

    def __getitem__(self, key):
        return Value(self.array[plain(key)])

    def __setitem__(self, key, value):
        value = array_of(value)
        self.array[plain(key)] = ref.to_dtype(np.atleast_1d(value), self.array.dtype).reshape(value.shape)

    def copy(self):
        return Value(self.array)


def plain(key):
    """An index of Values as NumPy takes it."""
    if isinstance(key, tuple):
        return tuple(plain(k) for k in key)
    if isinstance(key, slice):
        return slice(*(None if p is None else int(p) for p in (key.start, key.stop, key.step)))
    if isinstance(key, Value):
        return key.array if key.array.ndim else int(key)
    return key


def array_of(value):
    """Constants of Python are int32, float32 and bool."""
    return (
        value.array
        if isinstance(value, Value)
        else np.asarray(value, {bool: bool, int: np.int32, float: np.float32}[type(value)])
    )


def _operators():
    def apply(symbol, *operands):
        a, b = (array_of(o) for o in operands)
        shape = np.broadcast_shapes(a.shape, b.shape)
        return Value(np.asarray(ref.arithmetic(symbol, np.atleast_1d(a), np.atleast_1d(b))).reshape(shape))

    def binary(symbol):
        def forward(self, other):
            return apply(symbol, self, other)

        def backward(self, other):
            return apply(symbol, other, self)

        return forward, backward

    for name, symbol in (
        ("add", "+"),
        ("sub", "-"),
        ("mul", "*"),
        ("and", "&"),
        ("or", "|"),
        ("mod", "%"),
        ("floordiv", "//"),
        ("truediv", "/"),
    ):
        forward, backward = binary(symbol)
        setattr(Value, f"__{name}__", forward)
        setattr(Value, f"__r{name}__", backward)
    for name, symbol in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
        setattr(Value, f"__{name}__", binary(symbol)[0])


_operators()
