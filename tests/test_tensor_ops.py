# SPDX-License-Identifier: Apache-2.0
"""The operators that move elements, against NumPy and DALI: results are equal, whatever the type."""

import random

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import DTYPES, laid_out, random_sample

import penstock
from penstock import _core, fn, types

seeds = st.integers(0, 2**32 - 1)
ALL = [*DTYPES, "bool"]


def anything(pick, low=0, high=5, rank=None, dtype=None):
    """A small array of any rank and type."""
    generator = np.random.default_rng(pick.getrandbits(32))
    shape = [pick.randint(low, high) for _ in range(rank if rank is not None else pick.randint(1, 5))]
    return generator.integers(0, 120, shape).astype(dtype or pick.choice(ALL))


def same(got, expected):
    got = got if isinstance(got, np.ndarray) else got.numpy()
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got.dtype, got.shape, expected.shape)
    np.testing.assert_array_equal(got, expected)


@given(seeds)
def test_transpose_is_numpy(seed):
    pick = random.Random(seed)
    x = anything(pick, 0, pick.choice([4, 40]), pick.randint(1, 3)) if pick.random() < 0.5 else anything(pick)
    perm = pick.sample(range(x.ndim), x.ndim)
    same(fn.transpose(x, perm=perm), np.transpose(x, perm))
    same(fn.transpose(x), np.transpose(x))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
def test_transpose_of_pictures(dtype):
    x = random_sample(random.Random(3), "HWC", dtype, channels=[3], extents=[131, 257])
    y = fn.transpose(laid_out(x, "HWC"), perm=[2, 0, 1])
    assert y.layout() == "CHW"
    same(y, np.ascontiguousarray(x.transpose(2, 0, 1)))
    same(fn.transpose(laid_out(y.numpy(), "CHW"), perm=[1, 2, 0]), x)
    same(fn.transpose(x, perm=[1, 0, 2]), x.transpose(1, 0, 2))


def test_layouts_of_transpose():
    x = laid_out(np.zeros((2, 3, 4), np.uint8), "HWC")
    assert fn.transpose(x, perm=[2, 0, 1]).layout() == "CHW"
    assert fn.transpose(x, perm=[2, 0, 1], transpose_layout=False).layout() == "HWC"
    assert fn.transpose(x, perm=[2, 0, 1], output_layout="DHW").layout() == "DHW"
    for bad in ([0, 1], [0, 1, 1], [0, 1, 3]):
        with pytest.raises(ValueError, match=r"\[transpose\]"):
            fn.transpose(x, perm=bad)


@given(seeds)
def test_cat_and_stack_are_numpy(seed):
    pick = random.Random(seed)
    x = anything(pick)
    axis, n = pick.randrange(-x.ndim, x.ndim), pick.randint(1, 5)
    parts = []
    for _ in range(n):
        shape = list(x.shape)
        shape[axis] = pick.randint(0, 5)
        parts.append(np.random.default_rng(pick.getrandbits(32)).integers(0, 120, shape).astype(x.dtype))
    same(fn.cat(*parts, axis=axis), np.concatenate(parts, axis))
    axis = pick.randrange(-x.ndim - 1, x.ndim + 1)
    parts = [x, x[::-1], x][:n]
    same(fn.stack(*parts, axis=axis), np.stack(parts, axis))


def test_layouts_and_errors_of_cat_and_stack():
    a, b = laid_out(np.zeros((2, 3), np.uint8), "HW"), laid_out(np.ones((2, 1), np.uint8), "HW")
    assert fn.cat(a, b, axis_name="W").shape() == [2, 4] and fn.cat(a, b, axis=1).layout() == "HW"
    assert fn.stack(a, a, axis=2, axis_name="C").layout() == "HWC" and not fn.stack(a, a).layout()
    assert fn.stack(*[a] * 40).shape() == [40, 2, 3]
    with pytest.raises(ValueError, match="axis 0"):
        fn.cat(a, b)
    with pytest.raises(TypeError, match="dtype"):
        fn.cat(a.numpy(), np.zeros((2, 3), np.int8))
    with pytest.raises(TypeError, match="dimensions"):
        fn.cat(np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(TypeError, match="layout"):
        fn.cat(a, laid_out(np.zeros((2, 3), np.uint8), "WH"), axis=1)
    with pytest.raises(ValueError, match="out of range"):
        fn.cat(a, b, axis=2)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(shape=[12, -1]),
        dict(shape=[48]),
        dict(shape=[2, 6, 4]),
        dict(rel_shape=[0.5, -1.0]),
        dict(rel_shape=[1.0, 2.0, 0.5]),
        dict(src_dims=[1, 0, 2]),
        dict(src_dims=[2, -1, 0, 1]),
        dict(src_dims=[1, 0, 2], rel_shape=[0.5, 2, 1]),
    ],
)
def test_reshape_is_the_reference_and_dali(oracle, arguments):
    x = np.arange(48, dtype=np.int16).reshape(2, 6, 4)
    expected = reference.reshape(x, **arguments)
    same(fn.reshape(x, **arguments), expected)
    same(np.array(oracle.call("reshape", [x], **arguments)[0]), expected)


def test_shapes_for_reshape_by_sample():
    a, b = np.arange(6, dtype=np.uint8), np.arange(10, dtype=np.uint8)
    out = fn.reshape([a, b], shape=penstock.per_sample([[2, 3], [5, -1]]))
    assert out.shape() == [(2, 3), (5, 2)]
    out = fn.reshape([a, b], [np.array([3, 2]), np.array([-1, 1])])
    assert out.shape() == [(3, 2), (10, 1)]
    assert fn.reshape(laid_out(np.zeros((2, 3), np.uint8), "HW"), shape=[3, 2]).layout() == "HW"
    assert not fn.reshape(laid_out(np.zeros((2, 3), np.uint8), "HW"), shape=[6]).layout()
    for moved in (
        dict(src_dims=[1, 0]),
        dict(src_dims=[1, 0], rel_shape=[2, 0.5]),
        dict(src_dims=[0, -1], rel_shape=[1, 3]),
    ):
        for op in fn.reshape, fn.reinterpret:  # as in DALI: the rank decides, not where the extents come from
            assert op(laid_out(np.zeros((2, 3), np.uint8), "HW"), **moved).layout() == "HW"
    assert fn.reshape(np.zeros((2, 3), np.uint8), layout="HW") is not None
    assert fn.reshape(laid_out(np.zeros((2, 3), np.uint8), "HW"), shape=[3, 2, 1], layout="HWC").layout() == "HWC"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shape": [5, -1]},
        {"shape": [-1, -1]},
        {"shape": [7]},
        {"shape": [0, -1]},
        {"shape": [2**40, 2**40]},
        {"shape": [6], "rel_shape": [1.0]},
        {"src_dims": [5]},
        {"shape": [6], "layout": "HW"},
    ],
)
def test_shapes_that_cannot_be(arguments):
    with pytest.raises(ValueError, match=r"\[reshape\]"):
        fn.reshape(np.arange(6).reshape(2, 3), **arguments)


def test_squeeze_and_expand_dims():
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 1, 4)
    same(fn.squeeze(x, axes=[0, 2]), x.squeeze((0, 2)))
    same(fn.squeeze(x, axes=[-2]), x.squeeze(2))
    named = laid_out(x, "FHCW")
    assert fn.squeeze(named, axis_names="FC").layout() == "HW"
    same(fn.squeeze([x], axes=penstock.per_sample([[2]])).at(0), x.squeeze(2))
    y = np.arange(6, dtype=np.uint8).reshape(2, 3)
    same(fn.expand_dims(y, axes=[0, 2]), np.expand_dims(y, (0, 2)))
    assert fn.expand_dims(laid_out(y, "HW"), axes=[2, 0], new_axis_names="CF").layout() == "FHCW"
    assert not fn.expand_dims(laid_out(y, "HW"), axes=[0]).layout()
    for bad in (
        lambda: fn.squeeze(x, axes=[1]),
        lambda: fn.squeeze(x, axes=[4]),
        lambda: fn.squeeze(x),
        lambda: fn.squeeze(x, axes=[0, 0]),
        lambda: fn.squeeze(named, axis_names="D"),
        lambda: fn.expand_dims(y, axes=[4]),
        lambda: fn.expand_dims(y, axes=[0, 0]),
        lambda: fn.expand_dims(y, axes=[0], new_axis_names="CD"),
        lambda: fn.expand_dims(y, axes=list(range(9))),
    ):
        with pytest.raises(ValueError, match=r"\[(squeeze|expand_dims)\]"):
            bad()


@pytest.mark.parametrize("dtype", ALL)
def test_copy(dtype):
    x = np.arange(40).reshape(5, 8).astype(dtype)
    y = fn.copy(x[::2, ::-1])
    same(y, x[::2, ::-1])
    assert not np.shares_memory(x, y)
    same(fn.copy(x[:0]), x[:0])


def subscript(x, key):
    """x[key] by the operator of DataNode's square brackets."""
    arguments = {}
    for d, item in enumerate(key):
        if isinstance(item, slice):
            for name, part in (("lo", item.start), ("hi", item.stop), ("step", item.step)):
                if part is not None:
                    arguments[f"{name}_{d}"] = part
        else:
            arguments[f"at_{d}"] = item
    return _core.operator_function("_subscript")(x, **arguments)


@given(seeds)
def test_indexing_is_numpy(seed):
    pick = random.Random(seed)
    x, key = anything(pick, 1, 6), []
    for d in range(pick.randint(1, x.ndim)):
        if pick.random() < 0.3:
            key.append(pick.randrange(-x.shape[d], x.shape[d]))
        else:
            bound = lambda: pick.choice([None, pick.randint(-9, 9)])
            key.append(slice(bound(), bound(), pick.choice([None, 1, 2, 3, -1, -2, -3])))
    same(np.asarray(subscript(x, key)), x[tuple(key)])


def test_indices_out_of_bounds_and_layouts():
    x = np.zeros((4, 5, 3), np.uint8)
    assert subscript(laid_out(x, "HWC"), [slice(1, 3), 0]).layout() == "HC"
    for key in ([4], [-5], [0, 5], [slice(None, None, 0)], [0, 0, 0, 0]):
        with pytest.raises((ValueError, IndexError), match=r"\[_subscript\]"):
            subscript(x, key)
    out = _core.operator_function("_subscript")([x, x[:2]], hi_0=penstock.per_sample([1, 2]))
    assert out.shape() == [(1, 5, 3), (2, 5, 3)]


def test_shape_as_data():
    shape_of = _core.operator_function("shapes")
    same(shape_of(np.zeros((4, 300), np.uint8)), np.array([4, 300], np.int64))
    same(shape_of(np.zeros((4, 300), np.uint8), dtype=types.UINT8), np.array([4, 255], np.uint8))
    same(shape_of(np.zeros((4, 300), np.uint8), dtype=types.FLOAT), np.array([4, 300], np.float32))


def test_constant():
    one = lambda **a: fn.constant(**a).at(0) if hasattr(fn.constant(**a), "at") else np.asarray(fn.constant(**a))
    same(one(idata=[1, 2, 3]), np.array([1, 2, 3], np.int32))
    same(one(fdata=[1.5], shape=[2, 2]), np.full((2, 2), 1.5, np.float32))
    same(one(idata=[300, -5, 7, 1], shape=[2, 2], dtype=types.UINT8), np.array([[255, 0], [7, 1]], np.uint8))
    same(one(fdata=[0.1], shape=[], dtype=types.FLOAT64), np.array(0.1))
    for bad in (
        {},
        {"idata": [1], "fdata": [1.0]},
        {"idata": [1, 2], "shape": [3]},
        {"idata": [1], "shape": [-1]},
        {"idata": [1], "layout": "HW"},
    ):
        with pytest.raises(ValueError, match=r"\[constant\]"):
            fn.constant(**bad)
