# SPDX-License-Identifier: Apache-2.0
"""Maps that lead anywhere: the CPU's bytes for several images of a launch, with one map each or one for each frame."""

import numpy as np
import pytest

import penstock
from penstock import _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

SIZES = [(40, 53), (1, 300), (17, 1), (3, 2), (64, 64)]
BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]
NOWHERE = [np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9, -1e9, -0.0, -1e-20, 0.49999997, -0.5]


def maps(shape, extents, seed):
    random = np.random.default_rng(seed)
    made = []
    for n in extents:
        map_ = random.uniform(-3, n + 3, shape).astype(np.float32)
        map_[random.random(shape) < 0.2] = np.float32(n / 2)
        map_[random.random(shape) < 0.05] = random.choice(NOWHERE)
        made.append(map_)
    return made


@pytest.mark.parametrize("dtype, interp", [("uint8", 0), ("uint8", 1), ("uint8", 2), ("float32", 1), ("int32", 2)])
def test_anywhere(dtype, interp):
    random = np.random.default_rng(interp)
    images = [random.integers(0, 200, (*size, 3)).astype(dtype) for size in SIZES]
    pairs = [maps((9 + i, 31 * i + 1), size[::-1], i) for i, size in enumerate(SIZES)]
    inputs = [penstock.batch(images, layout="HWC")] + [penstock.batch([p[k] for p in pairs]) for k in (0, 1)]
    for i, border in enumerate(BORDERS):
        arguments = {"interp": interp, "border_mode": border, "fill_value": (3.7, 200.0)[i % 2], "normalized": i == 3}
        expected = fn.remap(*inputs, **arguments)
        got = fn.remap(*(b.gpu() for b in inputs), **arguments)
        for a, b in zip(expected, got.cpu()):
            np.testing.assert_array_equal(a.numpy(), b.numpy(), err_msg=border)


def test_a_map_for_each_frame():
    video = np.random.default_rng(4).integers(0, 256, (3, 20, 30, 3), np.uint8)
    mapx, mapy = maps((3, 8, 11), (30, 20), 5)
    frames = [fn.remap(video[i], mapx[i], mapy[i]) for i in range(3)]
    together = fn.remap(penstock.tensor(video, "FHWC"), penstock.tensor(mapx, "FHW"), penstock.tensor(mapy, "FHW"))
    np.testing.assert_array_equal(np.stack(frames), together.numpy())
    on_gpu = fn.remap(*(penstock.tensor(v, k).gpu() for v, k in ((video, "FHWC"), (mapx, "FHW"), (mapy, "FHW"))))
    np.testing.assert_array_equal(together.numpy(), on_gpu.cpu().numpy())


@pytest.mark.parametrize("interp", [0, 1])
def test_a_row_that_is_longer_than_float32_counts_halves(interp):
    width = 4_300_000
    row = np.random.default_rng(1).integers(0, 256, (1, width, 1), np.uint8)
    mapx = np.array([[4194302.5, 4194303, 4194303.5, 4194304, 4194305, width - 1, width, 4e9]], np.float32)
    expected = fn.remap(row, mapx, np.zeros_like(mapx), interp=interp, pixel_origin="center", fill_value=7)
    got = fn.remap(
        *(penstock.tensor(v).gpu() for v in (row, mapx, np.zeros_like(mapx))),
        interp=interp,
        pixel_origin="center",
        fill_value=7,
    )
    np.testing.assert_array_equal(expected, got.cpu().numpy())
    np.testing.assert_array_equal(expected[0, [1, 3, 4, 5], 0], row[0, [4194303, 4194304, 4194305, width - 1], 0])


def test_volumes_with_a_map_for_each_frame():
    volumes = np.random.default_rng(2).integers(0, 256, (2, 3, 12, 14, 3), np.uint8)
    mapx, mapy = maps((2, 8, 11), (14, 12), 6)
    layouts = [(volumes, "FDHWC"), (mapx, "FHW"), (mapy, "FHW")]
    together = fn.remap(*(penstock.tensor(v, k) for v, k in layouts))
    each = [[fn.remap(volumes[f, d], mapx[f], mapy[f]) for d in range(3)] for f in range(2)]
    np.testing.assert_array_equal(
        np.array([[np.asarray(image) for image in frame] for frame in each]), together.numpy()
    )
    on_gpu = fn.remap(*(penstock.tensor(v, k).gpu() for v, k in layouts))
    np.testing.assert_array_equal(together.numpy(), on_gpu.cpu().numpy())


@pytest.mark.parametrize("interp", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_samples_with_one_map_are_those_alone(count, dtype, interp):
    random = np.random.default_rng(count)
    y, x = np.mgrid[:24, :36].astype(np.float32)
    both = [x + 5 * np.sin(y / 4), y + 3 * np.cos(x / 5)]
    there = [penstock.tensor(m).gpu() for m in both]
    for shapes in ([(24, 36, 3)] * count, [(24, 35, 3)] * count, [(20 + i // 5, 30, 3) for i in range(count)]):
        images = [random.integers(0, 256, s).astype(dtype) for s in shapes]
        together = fn.remap(penstock.batch(images, layout="HWC").gpu(), *there, interp=interp, fill_value=7)
        for image, got in zip(images, together.cpu()):
            expected = np.asarray(fn.remap(image, *both, interp=interp, fill_value=7))
            np.testing.assert_array_equal(got.numpy(), expected)
