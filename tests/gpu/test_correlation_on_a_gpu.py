# SPDX-License-Identifier: Apache-2.0
"""A GPU sums tiles of correlate and laplacian, or each element by itself, the CPU rows of them: the same bytes."""

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


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
def test_tiles(dtype):
    random = np.random.default_rng(4)
    shapes, sizes = [(40, 150, 3), (17, 5, 1), (33, 9, 4)], [(7, 7), (3, 3), (2, 11)]
    x = penstock.batch([(random.random(shape) * 255).astype(dtype) for shape in shapes], layout="HWC")
    weights = penstock.batch([random.normal(size=size).astype(np.float32) for size in sizes])
    fill = penstock.batch([np.array(v, dtype) for v in (7, 200, 1)])
    for border in ("constant", "clamp", "reflect_101", "reflect_1001", "wrap"):
        more = (fill,) if border == "constant" else ()
        want = fn.correlate(x, weights, *more, border=border)
        got = fn.correlate(x.gpu(), weights.gpu(), *(v.gpu() for v in more), border=border).cpu()
        for a, b in zip(want, got):
            np.testing.assert_array_equal(a.numpy(), b.numpy(), err_msg=border)
    for a, b in zip(fn.laplacian(x, window_size=5), fn.laplacian(x.gpu(), window_size=5).cpu()):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    images = penstock.batch([a.numpy()[:20].copy() for a in x][:1], layout="HWC")
    valid = penstock.batch([np.ones((3, 5), np.float32)])
    (a,), (b,) = (
        fn.correlate(images, valid, mode="valid", dtype="float32"),
        fn.correlate(images.gpu(), valid.gpu(), mode="valid", dtype="float32").cpu(),
    )
    np.testing.assert_array_equal(a.numpy(), b.numpy())
