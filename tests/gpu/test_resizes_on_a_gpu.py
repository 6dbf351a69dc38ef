# SPDX-License-Identifier: Apache-2.0
"""Resizes with areas and other libraries' filters: the bytes of the CPU, which has loops of its own for means of whole bytes."""

import numpy as np
import pytest

import penstock
from penstock import fn

FACTORS = [(2, 2), (4, 4), (3, 3), (1, 3), (8, 2), (3, 2), (6, 6), (2.5, 1.75), (0.7, 1.5)]


def on_both(x, layout, **arguments):
    batch = penstock.batch(x, layout=layout)
    cpu, gpu = fn.resize(batch, **arguments), fn.resize(batch.gpu(), **arguments).cpu()
    for a, b in zip(cpu, gpu):
        np.testing.assert_array_equal(a.numpy(), b.numpy(), f"{layout} {arguments}")


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("layout", ["HWC", "CHW", "HW"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_areas(factors, layout, dtype):
    rng = np.random.default_rng(1)
    for channels in (1, 2, 3, 4):
        n = rng.integers(3, 40, 2)
        extents = {"H": int(n[0] * factors[0]), "W": int(n[1] * factors[1]), "C": channels}
        x = [rng.integers(0, 256, [extents[a] for a in layout]).astype(dtype) for _ in range(2)]
        on_both(x, layout, size=n.astype(np.float32), interp_type="area")


@pytest.mark.parametrize("compat", ["opencv", "torchvision", "pillow"])
@pytest.mark.parametrize("kind", ["nearest", "linear", "cubic", "lanczos3", "box", "hamming"])
def test_filters_of_other_libraries(compat, kind):
    rng = np.random.default_rng(2)
    for dtype in ("uint8", "float32", "int16") if compat == "opencv" else ("uint8", "float32"):
        x = [rng.integers(0, 256, (*rng.integers(5, 50, 2), 3)).astype(dtype) for _ in range(2)]
        on_both(x, "HWC", size=rng.integers(4, 60, 2).astype(np.float32), interp_type=kind, compat=compat)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("kind", ["area", "linear", "linear_exact"])
def test_samples_of_a_batch_that_need_unlike_kernels(kind, dtype):
    """Some shrink, some grow, some are halved."""
    rng = np.random.default_rng(6)
    for channels in (1, 3, 5):
        x = [
            rng.integers(0, 256, (*n, channels)).astype(dtype) for n in ((20, 60), (5, 60), (25, 25), (5, 12), (20, 60))
        ]
        on_both(x, "HWC", size=[10, 30], interp_type=kind, compat="opencv")


def test_linear_exact():
    rng = np.random.default_rng(5)
    for dtype in ("uint8", "uint16", "int16", "float32"):
        for channels in (1, 2, 3, 5):
            x = [rng.integers(-300, 60000, (20, 2 * n, channels)).astype(dtype) for n in (17, 30)]
            for size in ([10, 17], [33, 45], [7, 90]):
                on_both(x, "HWC", size=size, interp_type="linear_exact", compat="opencv")


@pytest.mark.parametrize("kind", ["linear", "cubic", "lanczos3", "area", "linear_exact"])
def test_opencvs_values_in_other_layouts(kind):
    rng = np.random.default_rng(4)
    for layout, shape in (("HW", (20, 33)), ("CHW", (3, 20, 33)), ("FHWC", (2, 20, 33, 1))):
        x = [rng.integers(0, 256, shape).astype(np.uint8) for _ in range(2)]
        for size in ([31, 17], [10, 11], [9, 13]):
            on_both(x, layout, size=size, interp_type=kind, compat="opencv", dtype="float32")


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint16", "int16"])
@pytest.mark.parametrize("channels", [1, 3])
def test_warps_whose_sources_lie_in_shared_memory(dtype, channels):
    rng = np.random.default_rng(3)
    x = [rng.integers(0, 256, (90, 121, channels)).astype(dtype) for _ in range(2)]
    for how in ({"fill_value": 7}, {}, {"interp_type": "nearest"}, {"size": [33, 65], "dtype": "float32"}):
        for angle in (0.0, 14.0, 45.0, 90.0):
            batch = penstock.batch(x, layout="HWC")
            given = {"angle": angle, "keep_size": "size" not in how, **how}
            cpu, gpu = fn.rotate(batch, **given), fn.rotate(batch.gpu(), **given).cpu()
            for a, b in zip(cpu, gpu):
                np.testing.assert_array_equal(a.numpy(), b.numpy(), str(given))
