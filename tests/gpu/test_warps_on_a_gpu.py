# SPDX-License-Identifier: Apache-2.0
"""Linear warps of bytes: the kernel that keeps its inputs in shared memory gives the CPU's bytes, whatever follows in
the stage, and so does the kernel for images of which one is shrunk too much for that. A batch is its images one by one."""

import numpy as np
import pytest
from test_infinite_fills import CALLS, INTERPOLATIONS, picture

import penstock
from penstock import _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

SIZES = [(150, 212), (97, 131), (2, 300), (300, 1), (64, 64), (65, 33), (1, 1), (130, 76)]
ROOM = [
    [1, 0, 0, 0, 1, 0],
    [1, 0, 0.5, 0, 1, -3.25],
    [0, -1, 130, 1, 0, -7],
    [0.7, 0.7, -20, -0.7, 0.7, 90],
    [0.3, 0.1, 40, -0.1, 0.3, 30],
    [-1, 0, 200, 0, -1, 149],
    [1.4, 0, -60, 0.05, 1.4, -40],
    [1, 0, 1e7, 0, 1, -1e7],
]
NO_ROOM = [[4, 1, -99, -1, 4, 50], [1.6, 0, -60, 0.4, 1.3, -40], [1, 0, 1e12, 0, 1, -1e12]]
NORMALIZED = {"mean": [120.0, 110.0, 100.0], "std": [60.0, 50.0, 40.0]}
BEHIND = {
    "nothing": lambda x: x,
    "bytes": lambda x: fn.brightness_contrast(x, brightness=1.3, contrast=0.7),
    "two operators": lambda x: fn.brightness(fn.contrast(x, contrast=1.4), brightness=0.8),
    "mixed channels": lambda x: fn.hsv(x, hue=33.0, saturation=0.7),
    "gray": lambda x: fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY),
    "planes of halves": lambda x: fn.crop_mirror_normalize(x, dtype=types.FLOAT16, output_layout="CHW", **NORMALIZED),
    "planes of bytes": lambda x: fn.crop_mirror_normalize(x, dtype=types.UINT8, output_layout="CHW", **NORMALIZED),
    "floats": lambda x: fn.cast(x, dtype=types.FLOAT),
    "wide integers": lambda x: fn.cast(x, dtype=types.INT32),
}


def pictures(sizes=SIZES):
    random = np.random.default_rng(3)
    return [random.integers(0, 256, (h, w, 3), np.uint8) for h, w in sizes]


def outputs(device, data, matrices, body, **arguments):
    with penstock.Pipeline(batch_size=len(data), num_threads=2, device_id=0) as pipe:
        images = fn.external_source(lambda: data, layout="HWC", device=device)
        matrix = fn.external_source(lambda: [np.float32(m).reshape(2, 3) for m in matrices])
        pipe.set_outputs(body(fn.warp_affine(images, matrix=matrix, **arguments)))
    (out,) = pipe.run()
    return [np.array(out[i].cpu() if device == "gpu" else out[i]) for i in range(len(data))]


def assert_same(data, matrices, body, **arguments):
    on_cpu, on_gpu = (outputs(device, data, matrices, body, **arguments) for device in ("cpu", "gpu"))
    for i, (a, b) in enumerate(zip(on_cpu, on_gpu)):
        np.testing.assert_array_equal(a, b, err_msg=f"image {i}")
    return on_gpu


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("arguments", [{}, {"fill_value": 99.0}, {"fill_value": 7.0, "size": [100.0, 170.0]}], ids=str)
def test_images_with_room_for_what_they_read(behind, arguments):
    assert_same(pictures(), ROOM, BEHIND[behind], **arguments)


@pytest.mark.parametrize("behind", ["nothing", "bytes", "planes of halves"])
@pytest.mark.parametrize("other", NO_ROOM, ids=str)
def test_one_image_without_room_changes_no_other(behind, other):
    data = pictures()
    alone = assert_same(data, ROOM, BEHIND[behind])
    together = assert_same([*data, data[0]], [*ROOM, other], BEHIND[behind])
    for a, b in zip(alone, together):
        np.testing.assert_array_equal(a, b)


def test_images_one_by_one():
    data = pictures()
    together = outputs("gpu", data, ROOM, BEHIND["nothing"], fill_value=3.0)
    for x, m, y in zip(data, ROOM, together):
        np.testing.assert_array_equal(outputs("gpu", [x], [m], BEHIND["nothing"], fill_value=3.0)[0], y)


@pytest.mark.parametrize("behind", ["nothing", "bytes", "planes of bytes"])
def test_rows_of_any_length(behind):
    data = pictures([(9, width) for width in range(55, 75)])
    assert_same(data, [[0.9, 0.2, 0.25, -0.2, 0.9, 2]] * len(data), BEHIND[behind], fill_value=99.0)


def test_frames():
    x = np.random.default_rng(4).integers(0, 256, (3, 70, 131, 3), np.uint8)
    m = [0.7, 0.7, -20, -0.7, 0.7, 90]
    one = [fn.warp_affine(penstock.tensor(f, layout="HWC"), matrix=m, fill_value=5.0) for f in x]
    y = fn.warp_affine(penstock.batch([x], layout="FHWC").gpu(), matrix=m, fill_value=5.0)
    np.testing.assert_array_equal(np.asarray(y.cpu().at(0)), np.stack([np.asarray(f) for f in one]))


@pytest.mark.parametrize("interp", INTERPOLATIONS)
@pytest.mark.parametrize("name", CALLS)
def test_fills_that_are_no_finite_numbers(name, interp):
    for x in (picture(dtype, channels) for dtype in (np.float32, np.float64) for channels in (1, 3, 5)):
        for fill in (np.inf, np.nan):
            on_cpu, on_gpu = (CALLS[name](data, fill, INTERPOLATIONS[interp]) for data in (x, x.gpu()))
            np.testing.assert_array_equal(np.asarray(on_cpu), np.asarray(on_gpu.cpu()))
