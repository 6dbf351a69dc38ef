# SPDX-License-Identifier: Apache-2.0
"""match: the reference and random calls."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case


def distances(source, target, norm="l2"):
    """In float64: a row for each row of the source."""
    if norm == "hamming":
        bits = [np.unpackbits(x.reshape(len(x), -1).view(np.uint8), axis=1) for x in (source, target)]
        return (bits[0][:, None] != bits[1][None]).sum(2).astype(np.float64)
    apart = source[:, None].astype(np.float64) - target[None]
    return np.sqrt((apart**2).sum(2)) if norm == "l2" else np.abs(apart).sum(2)


def match(source, target, *, norm="l2", count=1, cross_check=False):
    """(pairs, distances)"""
    if not len(source) or not len(target):
        return np.zeros((0, 2), np.int64), np.zeros(0)
    apart = distances(source, target, norm)
    order = np.argsort(apart, 1, kind="stable")[:, :count]
    pairs = np.stack([np.repeat(np.arange(len(source)), order.shape[1]), order.ravel()], 1)
    if cross_check:
        pairs = pairs[apart.argmin(0)[pairs[:, 1]] == pairs[:, 0]]
    return pairs, apart[pairs[:, 0], pairs[:, 1]]


def draw_descriptors(rng, norm, rows, numbers, dtype):
    """Whole numbers, whose distances float32 orders as float64 does; some are equal."""
    most = 2 ** (8 * np.dtype(dtype).itemsize) if norm == "hamming" else 9
    return rng.integers(0, most, (rows, numbers)).astype(dtype)


def draw_match(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    norm = draw(st.sampled_from(["l1", "l2", "hamming"]))
    dtype = draw(st.sampled_from(["uint8", "uint16", "uint32"] if norm == "hamming" else ["uint8", "float32"]))
    sizes = st.sampled_from([0, 1, 3, 16, 17, 40])
    numbers = [draw(st.sampled_from([1, 2, 7, 32, 128])) for _ in range(draw(st.integers(1, 3)))]
    inputs = [[draw_descriptors(rng, norm, draw(sizes), n, dtype) for n in numbers] for _ in range(2)]
    constants = {"norm": norm}
    constants |= draw(st.sampled_from([{}, {"count": 2}, {"count": 5}, {"cross_check": True}]))
    expected = lambda i: match(inputs[0][i], inputs[1][i], **constants)[0]  # noqa: E731
    return Case(inputs, ["", ""], constants, dtype="int32", error=0.0, expected=expected)


CASES = {"match": draw_match}
