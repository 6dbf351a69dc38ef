# SPDX-License-Identifier: Apache-2.0
"""Operators on whole tensors against DALI: constants, types, frames, tables, and what is drawn from given numbers."""

import dali_oracle
import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def, types

F = np.float32
X = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
NAMED = {
    "uint8": types.UINT8,
    "uint16": types.UINT16,
    "int32": types.INT32,
    "int64": types.INT64,
    "float32": types.FLOAT,
}


def call(name, *inputs, layout="", **arguments):
    found = fn
    for part in name.split("."):
        found = getattr(found, part)
    batches = [penstock.batch([np.asarray(x)], layout=layout if np.ndim(x) == len(layout) else "") for x in inputs]
    if "dtype" in arguments:
        arguments["dtype"] = NAMED[arguments["dtype"]]
    out = found(*batches, **({} if inputs else {"batch_size": 1}), **arguments)
    many = isinstance(out, (tuple, list))
    return [(np.array(b[0].numpy()), b.layout()) for b in (out if many else [out])]


CALLS = [
    ("zeros", [], {}),
    ("zeros", [], dict(shape=[2, 3])),
    ("ones", [], dict(shape=3, dtype="uint8")),
    ("zeros", [], dict(shape=[])),
    ("full", [F(3)], {}),
    ("full", [np.array([1, 2, 3], F)], dict(shape=[2, 3])),
    ("full", [np.array([[1], [2]], np.uint8)], dict(shape=[2, 3])),
    ("full_like", [np.zeros((2, 3), np.uint8), F(300.7)], {}),
    ("full_like", [np.zeros((2, 3), np.uint8), np.array([1, 2, 3], np.int16)], {}),
    ("zeros_like", [X], {}),
    ("ones_like", [X], dict(dtype="float32")),
    ("ones_like", [X], dict(layout="FHW")),
    ("cast_like", [np.array([1.25, 2.75, -1, 300], F), np.zeros((2, 3), np.uint8)], {}),
    ("reinterpret", [X], dict(dtype="int32")),
    ("reinterpret", [X], dict(dtype="int32", shape=[2, 3])),
    ("reinterpret", [X], dict(shape=[6, 4])),
    ("reinterpret", [X], dict(dtype="int32", shape=[-1])),
    ("reinterpret", [X], dict(rel_shape=[1, 1, 0.5], dtype="uint16")),
    ("reinterpret", [X], dict(src_dims=[2, 1, 0], rel_shape=[1, 1, 1])),
    ("reinterpret", [X], dict(dtype="int32", rel_shape=[1, 1, -1])),
    ("reinterpret", [np.arange(6, dtype=np.int32).reshape(2, 3)], dict(dtype="uint8")),
    ("reinterpret", [np.arange(6, dtype=np.int32).reshape(2, 3), np.array([3, 2], np.int32)], {}),
    ("element_extract", [X], dict(element_map=[1, 0, 1], layout="FHW")),
    ("element_extract", [X], dict(element_map=0)),
    ("sequence_rearrange", [X], dict(new_order=[1, 0, 1, 1], layout="FHW")),
    ("sequence_rearrange", [X], dict(new_order=[1])),
    ("get_property", [X], dict(key="layout", layout="FHW")),
    ("get_property", [X], dict(key="layout")),
    ("get_property", [X], dict(key="source_info")),
    ("lookup_table", [X], dict(keys=[0, 5, 5, 9], values=[1.5, 2.5, 3.75, 4], default_value=9, dtype="uint8")),
    ("lookup_table", [np.array([-1, 0, 1], np.int16)], dict(keys=[0, 1], values=[1.5, 2.5], default_value=7)),
    ("lookup_table", [X], {}),
    ("coord_flip", [np.array([[0.1, 0.2], [0.3, 0.4]], F)], {}),
    ("coord_flip", [np.array([[0.1, 0.2]], F)], dict(flip_x=0, flip_y=1, center_y=1.0)),
    ("coord_flip", [np.array([[0.1, 0.2, 0.3]], F)], dict(flip_z=3, center_x=0.25)),
    ("coord_flip", [np.ones((2, 0), F)], {}),
    ("random.choice", [np.array([1, 2, 3], np.uint8)], dict(p=[0, 1, 0], shape=[4])),
    ("random.choice", [np.int16(1)], {}),
    ("roi_random_crop", [], dict(crop_shape=[10, 7], roi_start=[5, 6], roi_end=[15, 13])),
    (
        "roi_random_crop",
        [np.zeros((20, 20, 3), np.uint8)],
        dict(crop_shape=[20, 20], roi_start=[5, 5], roi_shape=[3, 3]),
    ),
    ("roi_random_crop", [], dict(crop_shape=[10], roi_start=[5], roi_shape=[8], in_shape=[13])),
]
REFUSED = [
    ("zeros", [], dict(shape=[-1]), "negative"),
    ("full", [np.array([1, 2], F)], dict(shape=[2, 3]), "does not fit"),
    ("reinterpret", [X], {}, "one of"),
    ("reinterpret", [X], dict(dtype="int64"), "8 bytes"),
    ("element_extract", [X], dict(element_map=[2]), "names frame 2, but there are 2"),
    ("element_extract", [X], dict(element_map=[-1]), "negative"),
    ("element_extract", [X], dict(element_map=[]), "at least one"),
    ("element_extract", [X], dict(element_map=0, layout="HWC"), "starts with F"),
    ("element_extract", [np.arange(3)], dict(element_map=0), "dimension"),
    ("sequence_rearrange", [X], dict(new_order=[2]), "names frame 2, but there are 2"),
    ("sequence_rearrange", [X], dict(new_order=[-1]), "frame -1"),
    ("sequence_rearrange", [X], dict(new_order=[1], layout="HWC"), "starts with F"),
    ("sequence_rearrange", [X], dict(new_order=[]), "at least one"),
    ("get_property", [X], dict(key="size"), "source_info"),
    ("lookup_table", [np.zeros(2, F)], dict(keys=[0], values=[1]), "integers"),
    ("lookup_table", [X], dict(keys=[0, 1], values=[1]), "2 keys"),
    ("lookup_table", [X], dict(keys=[-1], values=[1]), "65535"),
    ("lookup_table", [X], dict(keys=[70000], values=[1]), "65535"),
    ("coord_flip", [np.ones((1, 2), np.float64)], {}, "float32"),
    ("coord_flip", [np.ones(2, F)], {}, "rows"),
    ("coord_flip", [np.ones((1, 4), F)], {}, "at most 3"),
    ("random.choice", [np.array([1, 2, 3], np.uint8)], dict(p=[0, 1]), "2 numbers, but there are 3"),
    ("random.choice", [F(3)], {}, "integer"),
    ("random.choice", [np.array([1, 2, 3], np.uint8)], dict(p=[0, -1, 2]), "from 0 to 1"),
    ("random.choice", [np.int32(0)], {}, "got 0"),
    ("random.choice", [np.array([1, 2, 3], np.uint8)], dict(p=[0.5, 0.3, 0.1]), "sum"),
    ("random.choice", [np.zeros(0, F)], {}, "got 0"),
    ("random.beta", [], dict(alpha=0.0), "positive"),
    ("random.beta", [], dict(beta=-1.0), "positive"),
    ("random.beta", [], dict(dtype="int32"), "float32 or float64"),
    ("roi_random_crop", [], dict(crop_shape=[10], roi_start=[5]), "either roi_end or roi_shape"),
    (
        "roi_random_crop",
        [],
        dict(crop_shape=[10], roi_start=[5], roi_end=[9], roi_shape=[4]),
        "either roi_end or roi_shape",
    ),
    (
        "roi_random_crop",
        [],
        dict(crop_shape=[10, 10], roi_start=[5, 5], roi_shape=[3, 2], in_shape=[16, 7]),
        "does not fit",
    ),
    (
        "roi_random_crop",
        [],
        dict(crop_shape=[10], roi_start=[5], roi_shape=[30], in_shape=[16]),
        "extends beyond 16 on axis 0",
    ),
    ("random_crop_generator", [np.array([480], np.int32)], {}, "height, width"),
    ("random_crop_generator", [np.array([480, 640], F)], {}, "integers"),
]
ids = lambda c: f"{c[0]}-{'-'.join(f'{k}={v}' for k, v in c[2].items())}"


def asked(oracle, name, inputs, arguments):
    arguments = dict(arguments)
    layout = arguments.pop("layout", None)
    layouts = [layout if layout and np.ndim(x) == len(layout) else None for x in inputs]
    out = oracle.call(name, [[np.asarray(x)] for x in inputs], inputs_layouts=layouts, **arguments)
    return [o[0] for o in out] if isinstance(out[0], list) else [out[0]]


@pytest.mark.parametrize("case", CALLS, ids=ids)
def test_equals_dali(oracle, case):
    name, inputs, arguments = case
    want = asked(oracle, name, inputs, arguments)
    got = call(name, *inputs, **arguments)
    assert len(got) == len(want)
    for (array, layout), w, its in zip(got, want, oracle.layouts):
        assert (array.dtype, array.shape, layout) == (w.dtype, w.shape, its)
        np.testing.assert_allclose(array, w, rtol=1e-6)


@pytest.mark.parametrize("case", REFUSED, ids=ids)
def test_is_refused_as_in_dali(oracle, case):
    name, inputs, arguments, says = case
    with pytest.raises((ValueError, TypeError, IndexError), match=says):
        call(name, *inputs, **arguments)
    with pytest.raises((dali_oracle.DaliError, RuntimeError)):
        asked(oracle, name, inputs, arguments)


def test_layouts_of_constants():
    assert fn.zeros(shape=[2, 3], layout="HW", batch_size=1).layout() == "HW"
    assert fn.full(penstock.batch([F(1)]), shape=[2, 3], layout="HW").layout() == "HW"
    assert call("reinterpret", X, dtype="uint16", layout="HWC")[0][1] == "HWC"
    with pytest.raises(ValueError, match="letters"):
        fn.ones(shape=[2], layout="HW", batch_size=1)


def test_shapes_may_differ_between_samples():
    shapes = penstock.batch([np.array(s, np.int32) for s in ([1, 2], [3, 0], [2, 2])])
    assert [np.array(t.numpy()).shape for t in fn.zeros(shape=shapes)] == [(1, 2), (3, 0), (2, 2)]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_in_a_pipeline(device):
    frames = [np.random.default_rng(k).integers(0, 9, (4, 3, 5), np.uint8) for k in range(3)]

    @pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=7)
    def pipe():
        x = fn.external_source(lambda: frames, layout="FHW")
        x = x.gpu() if device == "gpu" else x
        first, last = fn.element_extract(x, element_map=[0, 3])
        order = fn.random.choice(4, shape=[6])
        return (
            first,
            last,
            fn.sequence_rearrange(x, new_order=order),
            order,
            fn.lookup_table(x, keys=[1, 2], values=[10, 20]),
            fn.full_like(x, 7.0),
            fn.get_property(x, key="layout"),
            fn.cast_like(x, fn.zeros(dtype=types.FLOAT)) + fn.ones(shape=[1]),
        )

    got = [[np.array(t.numpy()) for t in batch.cpu()] for batch in pipe().run()]
    first, last, moved, order, table, sevens, layout, sums = got
    for k, x in enumerate(frames):
        np.testing.assert_array_equal(first[k], x[0])
        np.testing.assert_array_equal(last[k], x[3])
        np.testing.assert_array_equal(moved[k], x[order[k]])
        np.testing.assert_array_equal(table[k], np.where(x == 1, 10, np.where(x == 2, 20, 0)).astype(F))
        np.testing.assert_array_equal(sevens[k], np.full_like(x, 7))
        np.testing.assert_array_equal(sums[k], x.astype(F) + 1)
        assert layout[k].tobytes() == b"FHW"


# --------------------------------------------------------------------------------------------- what is drawn; seeds are fixed
def drawn(name, *inputs, n=1, **arguments):
    found = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found(
        *[penstock.batch([np.asarray(x)] * n) for x in inputs],
        **({} if inputs else {"batch_size": n}),
        seed=11,
        **arguments,
    )


def test_choices_are_as_likely_as_said():
    p = [0.1, 0.2, 0.0, 0.7]
    got = np.array(drawn("random.choice", np.array([5, 6, 7, 8], np.int32), p=p, shape=[40000])[0].numpy())
    np.testing.assert_allclose([np.mean(got == v) for v in (5, 6, 7, 8)], p, atol=0.01)
    even = np.array(drawn("random.choice", np.uint8(10), shape=[40000])[0].numpy())
    np.testing.assert_allclose(np.bincount(even, minlength=10) / 40000, 0.1, atol=0.01)
    rows = np.array(drawn("random.choice", np.arange(6).reshape(3, 2), shape=[50])[0].numpy())
    assert rows.shape == (50, 2) and {tuple(r) for r in rows} == {(0, 1), (2, 3), (4, 5)}
    like = np.array(drawn("random.choice", np.int32(3), np.zeros((4, 5)))[0].numpy())
    assert like.shape == (4, 5) and like.dtype == np.int32


@pytest.mark.parametrize("a, b", [(1, 1), (2, 5), (0.5, 0.5), (0.1, 3), (30, 20)])
def test_beta_has_its_moments(a, b):
    x = np.array(drawn("random.beta", alpha=float(a), beta=float(b), shape=[60000], dtype=types.FLOAT64)[0].numpy())
    assert ((x >= 0) & (x <= 1)).all()
    mean, variance = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    np.testing.assert_allclose([x.mean(), x.var()], [mean, variance], rtol=0.04)
    if (a, b) == (1, 1):
        np.testing.assert_allclose(np.quantile(x, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.01)


def test_windows_hold_the_region_they_should():
    for crop, start, end, bounds, low, high in (
        ([10], [5], [8], None, -2, 5),
        ([10], [5], [8], [16], 0, 5),
        ([3], [5], [30], None, 5, 27),
        ([10], [5], [8], [10], 0, 0),
    ):
        given = {"in_shape": bounds} if bounds else {}
        got = [
            int(np.array(t.numpy())[0])
            for t in drawn("roi_random_crop", n=500, crop_shape=crop, roi_start=start, roi_end=end, **given)
        ]
        assert min(got) == low and max(got) == high


def test_generated_windows_are_those_of_slices():
    shapes = [np.array([40 + k, 60, 3], np.int64) for k in range(50)]
    begins, extents = fn.random_crop_generator(penstock.batch(shapes), seed=5, random_area=[0.2, 0.5])
    windows = set()
    for shape, y, e in zip(shapes, begins, extents):
        begin, extent = np.array(y.numpy()), np.array(e.numpy())
        assert begin.dtype == extent.dtype == np.int32 and (begin >= 0).all() and (begin + extent <= shape[:2]).all()
        assert 0.17 < extent.prod() / shape[:2].prod() < 0.55 and 0.7 < extent[1] / extent[0] < 1.4
        windows.add((*begin, *extent))
    assert len(windows) > 40
