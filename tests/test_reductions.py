# SPDX-License-Identifier: Apache-2.0
"""Reductions against DALI, and cases that a table of random calls does not reach."""

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def, types

TYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32"]  # those that DALI has
PLAIN = ["sum", "min", "max", "mean", "mean_square", "rms"]


def sample(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.uniform(1, 100, shape) if np.dtype(dtype).kind == "f" else rng.integers(0, 100, shape)).astype(dtype)


def run(name, *inputs, **arguments):
    return np.asarray(getattr(fn.reductions, name)(*inputs, **arguments))


@pytest.mark.parametrize("name", PLAIN)
def test_equals_dali(oracle, name):
    for dtype in TYPES:
        for axes, keep in (([], False), ([0], True), ([0, 1], False), ([-1], False), (None, True)):
            x = sample(dtype, (7, 9, 3))
            arguments = {"keep_dims": keep, **({} if axes is None else {"axes": axes})}
            (want,) = oracle.call(f"reductions.{name}", [x], layout="HWC", **arguments)
            got = run(name, x, **arguments)
            assert (got.dtype, got.shape) == (want.dtype, want.shape), (dtype, axes)
            np.testing.assert_allclose(got, want, rtol=1e-5, err_msg=f"{dtype} {axes}")


@pytest.mark.parametrize("name", ["variance", "std_dev"])
def test_about_a_mean_equals_dali(oracle, name):
    for dtype in TYPES:
        x = sample(dtype, (7, 9, 3))
        for axes, keep, ddof in (([0, 1], False, 0), ([0], True, 1), (None, False, 0)):
            arguments = {"keep_dims": keep, "ddof": ddof, **({} if axes is None else {"axes": axes})}
            mean = np.asarray(
                x.astype(np.float64).mean(None if axes is None else tuple(axes), keepdims=keep), np.float32
            )
            (want,) = oracle.call(f"reductions.{name}", [[x], [mean]], inputs_layouts=["HWC", None], **arguments)
            got = run(name, x, mean, **arguments)
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=2e-5)


def test_types_of_results_equal_dalis(oracle):
    for name, dtype, out in (
        ("sum", "uint8", "float32"),
        ("sum", "int16", "int64"),
        ("sum", "uint8", "uint64"),
        ("mean_square", "int16", "int64"),
        ("mean_square", "uint8", "float32"),
    ):
        x = sample(dtype, (5, 4)) % 10
        (want,) = oracle.call(f"reductions.{name}", [x], dtype=out)
        got = run(name, x, dtype=getattr(types, {"float32": "FLOAT"}.get(out, out.upper())))
        assert got.dtype == want.dtype and abs(float(got) - float(want)) <= (
            1 if got.dtype.kind in "iu" else 1e-3
        )  # DALI truncates


def test_sums_of_integers_are_exact():
    x = np.full((3, 2**20), 2**53 + 1, np.int64)
    np.testing.assert_array_equal(
        run("sum", x, axes=[1]), (np.full(3, (2**53 + 1) * 2**20 % 2**64, np.uint64)).astype(np.int64)
    )
    assert run("sum", np.full(3, 2**63, np.uint64)) == 2**63  # modulo 2^64
    assert run("sum", np.full(1000, 255, np.uint8), dtype=types.UINT8) == 255  # saturates
    assert run("sum", np.full(1000, -100, np.int8), dtype=types.UINT16) == 0
    assert run("sum", np.ones((40, 30), bool)) == 1200


def test_extremes():
    nan, inf = np.nan, np.inf
    for dtype in (np.float16, np.float32, np.float64):
        assert (
            run("max", np.array([nan, -3, nan, 2], dtype)) == 2 and run("min", np.array([nan, -3, nan, 2], dtype)) == -3
        )
        assert run("min", np.array([inf, inf], dtype)) == inf and run("max", np.array([-inf], dtype)) == -inf
        assert run("max", np.array([nan], dtype)) == -inf and run("min", np.zeros((0, 2), dtype)) == inf
    np.testing.assert_array_equal(run("max", np.zeros((0, 2), np.int16), axes=[0]), [-32768, -32768])
    big = np.array([2**63 + 1, 2**63, 5], np.uint64)
    assert run("max", big) == 2**63 + 1 and run("min", big) == 5
    assert run("max", np.array([[False, True]]), axes=[0]).tolist() == [False, True]


def test_layouts_and_wrong_arguments():
    x = penstock.tensor(np.ones((4, 5, 3), np.uint8), layout="HWC")
    assert (
        fn.reductions.sum(x, axis_names="HW").layout() == "C"
        and fn.reductions.max(x, axes=[1], keep_dims=True).layout() == "HWC"
    )
    for name in PLAIN:
        for wrong in (dict(axes=[3]), dict(axes=[0, 0]), dict(axis_names="D"), dict(axes=[0], axis_names="H")):
            with pytest.raises((ValueError, IndexError)):
                run(name, x, **wrong)
    with pytest.raises(ValueError, match="2 means do not match 3 results"):
        run("variance", np.ones((4, 3), np.float32), np.ones(2, np.float32), axes=[0])
    with pytest.raises(TypeError, match="means must be float32 or float64"):
        run("std_dev", np.ones((4, 3), np.float32), np.int32(1))
    with pytest.raises(TypeError):
        run("min", x, dtype=types.FLOAT)  # as in DALI, the type is the input's


def test_in_a_pipeline_with_a_mean_of_its_own():
    data = [sample("uint8", (8 + k, 5, 3), k) for k in range(4)]

    @pipeline_def(batch_size=4, num_threads=2, device_id=None)
    def pipe():
        x = fn.external_source(lambda: data, layout="HWC")
        mean = fn.reductions.mean(x, axes=[0, 1])
        return (
            fn.reductions.std_dev(x, mean, axes=[0, 1]),
            fn.reductions.variance(x, 7.0),
            fn.reductions.max(x) - fn.reductions.min(x),
        )

    deviation, about, spread = [[np.array(t.numpy()) for t in batch] for batch in pipe().run()]
    for k, x in enumerate(data):
        np.testing.assert_allclose(deviation[k], x.astype(np.float64).std((0, 1)), rtol=1e-5)
        np.testing.assert_allclose(about[k], np.mean((x - 7.0) ** 2), rtol=1e-6)
        assert spread[k] == x.max() - x.min()
