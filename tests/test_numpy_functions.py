# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of values of a pipeline, Tensors and Batches."""

import numpy as np
import penstock
import pytest
from penstock import fn, pipeline_def
from penstock._graph import numpy_functions

INTEGERS = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "invert"}
INTEGERS |= {"floor_divide", "remainder"}  # of floats they are those of expressions in a pipeline: `//` and `%` of C
ABOVE_ONE = {"arccosh"}


def operands(name):
    """Arrays for which the function has numbers as results."""
    ufunc = getattr(np, name)
    rng = np.random.default_rng(sum(map(ord, name)))
    if name in INTEGERS:
        made = [rng.integers(1, 9, (3, 4)).astype(np.int32) for _ in range(ufunc.nin)]
    else:
        made = [rng.uniform(0.1, 0.9, (3, 4)).astype(np.float32) + (name in ABOVE_ONE) for _ in range(ufunc.nin)]
    return ufunc, made


@pytest.mark.parametrize("name", sorted(numpy_functions._OPERATORS))
def test_functions_are_numpys(name):
    ufunc, arrays = operands(name)
    wanted = ufunc(*(a if name in INTEGERS else a.astype(np.float64) for a in arrays))

    @pipeline_def(batch_size=2)
    def pipe():
        values = [penstock.fn.external_source([[a, a]], cycle="quiet") for a in arrays]
        return ufunc(*values), *(ufunc(*arrays[:-1], values[-1]),)

    results = [r.at(0) for r in pipe().run()]
    results.append(ufunc(*map(penstock.tensor, arrays)).numpy())
    results.append(ufunc(*(fn.copy([a, a]) for a in arrays)).at(1))
    for result in results:
        assert result.dtype.kind == wanted.dtype.kind
        np.testing.assert_allclose(result, wanted, rtol=2e-6, atol=1e-7)


def test_other_functions_see_tensors_as_arrays():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    t, b = penstock.tensor(x), fn.copy([x, x + 1])
    np.testing.assert_array_equal(np.add.reduce(t), x.sum(0))
    np.testing.assert_array_equal(np.logaddexp(t, 1), np.logaddexp(x, 1))
    np.testing.assert_array_equal(np.clip(t, 1, 2), x.clip(1, 2))
    assert np.sum(b) == x.sum() * 2 + 6
    out = np.zeros_like(x)
    assert np.add(x, t, out=out) is out and (out == x + x).all()


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda x: np.mean(x), r"numpy\.mean\(\) works on arrays, .* use fn\.reductions\.mean"),
        (lambda x: np.concatenate([x, x]), r"numpy\.concatenate\(\) .*fn\.cat"),
        (lambda x: np.clip(x, 0, 1), r"numpy\.clip\(\) .*penstock\.math\.clamp"),
        (lambda x: np.logaddexp(x, x), r"numpy\.logaddexp\(\) .*fn\.python_function"),
        (lambda x: np.add.reduce(x), r"numpy\.add\.reduce\(\) "),
        (lambda x: np.sin(x, where=True), r"numpy\.sin\(\) "),
    ],
)
def test_what_is_not_an_operator_is_refused(function, said):
    @pipeline_def(batch_size=2)
    def pipe():
        return function(fn.random.uniform(range=[0.0, 1.0], shape=[3]))

    with pytest.raises(TypeError, match=said):
        pipe()
