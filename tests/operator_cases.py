# SPDX-License-Identifier: Apache-2.0
"""What the operators' tests share: random samples, layouts and the comparison with exact values."""

import numpy as np
import reference

import penstock

DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"]


def random_sample(random, layout, dtype, channels=(1, 2, 3, 4, 5), extents=(1, 2, 3, 7, 16, 33, 70), frames=(1, 2, 3)):
    """An array whose extents suit the layout; integers stay within 2^20, so that float32 arithmetic can hold them."""
    shape = [random.choice(channels if c == "C" else frames if c == "F" else extents) for c in layout]
    generator, dtype = np.random.default_rng(random.getrandbits(32)), np.dtype(dtype)
    if dtype == bool:
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return (generator.random(shape) * 2 - 0.5).astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return generator.integers(max(low, -(2**20)), min(high, 2**20), shape, endpoint=True).astype(dtype)


def laid_out(x, layout):
    """`x` as a tensor with its layout said."""
    return penstock.tensor(x, layout=layout)


def assert_rounds_to(got, exact, source, what="", error=0.0):
    """`got` is `exact` in its type, computed in float32: floats within 1e-5 of the largest value (float16: its own
    precision), integers equal except where `exact` is so near a half that float32 may round it either way, or a
    computation that is wrong by `error`."""
    got, exact = np.asarray(got), np.asarray(exact, np.float64)
    assert got.shape == exact.shape, (what, got.shape, exact.shape)
    if got.size == 0:
        return
    largest = max(1.0, float(np.abs(np.asarray(source, np.float64)).max(initial=0)), float(np.abs(exact).max()))
    if got.dtype.kind == "f":
        limit = largest * (1e-3 if got.dtype == np.float16 else 1e-5)
        np.testing.assert_allclose(got.astype(np.float64), exact, rtol=0, atol=limit, err_msg=what)
        return
    step = np.abs(got.astype(np.float64) - reference.to_dtype(exact, got.dtype).astype(np.float64))
    noise = largest * 1e-6
    assert step.max() <= 1 + noise, (what, step.max())
    at_half = np.abs(exact - np.floor(exact) - 0.5)
    assert (at_half[step > 0] < max(error, 1e-3 + noise)).all(), what
