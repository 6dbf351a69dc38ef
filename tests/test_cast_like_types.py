# SPDX-License-Identifier: Apache-2.0
"""cast_like and full_like convert as cast does, between all types: dense arrays, views and repeated values."""

import numpy as np
import pytest

from penstock import fn, types

TYPES = [
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bool",
]


def values(dtype):
    """The ends of the type and what rounds to even; 67 of them, more than a vector of any processor."""
    if dtype == "bool":
        return np.arange(67) % 3 == 0
    if np.issubdtype(dtype, np.integer):
        ends = np.iinfo(dtype)
        some = [ends.min, ends.min + 1, 0, 1, 2, 127, ends.max - 1, ends.max]
        return np.array([some[k % len(some)] for k in range(67)], dtype)
    some = [
        0.0,
        -0.0,
        0.5,
        1.5,
        2.5,
        -0.5,
        -1.5,
        254.5,
        255.5,
        300.0,
        -7.25,
        32767.5,
        40000.0,
        6e4,
        np.inf,
        -np.inf,
        np.nan,
    ]
    return np.array([some[k % len(some)] for k in range(67)], dtype)


@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("of", TYPES)
def test_equals_cast(of, to):
    x, like = values(of), np.zeros(1, to)
    expected = fn.cast(x, dtype=getattr(types, {"float16": "FLOAT16", "float32": "FLOAT"}.get(to, to.upper())))
    found = fn.cast_like(x, like)
    assert found.dtype == expected.dtype == np.dtype(to)
    assert found.tobytes() == expected.tobytes()
    turned = np.stack([x, x]).T  # a view: 67 x 2
    assert fn.cast_like(turned, like).tobytes() == np.stack([expected, expected]).T.tobytes()


def test_a_value_of_another_type_is_repeated():
    image = np.zeros((5, 33, 3), np.uint8)
    assert (fn.full_like(image, np.float32(254.5)) == 254).all()
    row = np.float32([-3.0, 1.5, 700.0])
    found = fn.full_like(image, row)
    assert found.dtype == np.uint8 and found.shape == image.shape
    assert (found == [0, 2, 255]).all()
