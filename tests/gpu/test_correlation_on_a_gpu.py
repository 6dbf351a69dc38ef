# SPDX-License-Identifier: Apache-2.0
"""A GPU sums each element of correlate and laplacian by itself, the CPU rows of them: the same bytes."""

import numpy as np
import pytest

import penstock
from penstock import _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_rows(dtype):
    random = np.random.default_rng(3)
    shapes = [(3, 700, 3), (9, 2, 1), (1, 5, 4)]
    x = penstock.batch([(random.random(shape) * 255).astype(dtype) for shape in shapes], layout="HWC")
    weights = penstock.batch([random.normal(size=size).astype(np.float32) for size in ((4, 5), (3, 2), (1, 7))])
    for border in ("constant", "reflect_101"):
        want, got = fn.correlate(x, weights, border=border), fn.correlate(x.gpu(), weights.gpu(), border=border).cpu()
        for a, b in zip(want, got):
            np.testing.assert_array_equal(a.numpy(), b.numpy(), err_msg=border)
    for a, b in zip(fn.laplacian(x, dtype="float32"), fn.laplacian(x.gpu(), dtype="float32").cpu()):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
