# SPDX-License-Identifier: Apache-2.0
"""Reductions, orders and frames on a GPU: several outputs, samples from other places, results of many elements."""

import numpy as np
import pytest
import reference as ref
from test_batch_order import test_permutes_a_batch_in_a_pipeline  # noqa: F401
from test_tensor_names import test_in_a_pipeline  # noqa: F401
from test_transforms import test_warps_images_and_points_in_a_pipeline  # noqa: F401

import penstock
from penstock import _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


@pytest.mark.parametrize(
    "name, dtype", [("sum", "uint8"), ("sum", "int64"), ("max", "float32"), ("min", "int16"), ("max", "uint64")]
)
def test_reductions_of_many_elements(name, dtype):
    rng, info = np.random.default_rng(3), None if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    xs = [
        rng.normal(size=s).astype(dtype) if info is None else rng.integers(info.min, info.max, s, dtype, endpoint=True)
        for s in ((97, 131, 3), (40, 300, 3))
    ]
    function = getattr(fn.reductions, name)
    for axes in ([0, 1], [0, 1, 2], [0], [2]):
        got = function(penstock.batch(xs, layout="HWC").gpu(), axes=axes)
        for x, t in zip(xs, got.cpu()):
            want = getattr(ref, f"reduce_{name}")(x, axes=axes)
            assert t.dtype == penstock.batch([want]).dtype
            np.testing.assert_array_equal(np.array(t.numpy()), want)


def test_deviations_take_means_on_the_gpu():
    xs = [np.random.default_rng(k).integers(0, 256, (33, 20 + k, 3), np.uint8) for k in range(3)]
    x = penstock.batch(xs, layout="HWC").gpu()
    mean = fn.reductions.mean(x, axes=[0, 1])
    got = fn.reductions.std_dev(x, mean, axes=[0, 1], ddof=1)
    assert mean.device == got.device != "cpu"
    for a, t in zip(xs, got.cpu()):
        np.testing.assert_allclose(np.array(t.numpy()), a.astype(np.float64).std((0, 1), ddof=1), rtol=1e-5)
