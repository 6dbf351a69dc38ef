# SPDX-License-Identifier: Apache-2.0
"""The operators on pictures against DALI's on the CPU, with the arguments that operators/pictures.py does not draw."""

import dali_oracle
import numpy as np
import pytest

import penstock
from penstock import fn

pytestmark = pytest.mark.skipif(not dali_oracle.available(), reason="environment: no DALI")


@pytest.fixture(scope="module")
def dali():
    oracle = dali_oracle.Oracle()
    yield oracle
    oracle.close()


def picture(shape=(24, 32, 3), dtype="uint8", seed=1):
    x = np.random.default_rng(seed).integers(0, 256, shape).astype(np.float64)
    for axis in (0, 1):
        x = (x + np.roll(x, 1, axis) + np.roll(x, 2, axis)) / 3
    return x.astype(dtype)


def both(dali, name, inputs, layouts, ours=None, device="cpu", **arguments):
    """(our first output's sample, DALI's) of a batch of one sample for each input."""
    function = penstock.fn
    for part in (ours or name).split("."):
        function = getattr(function, part)
    made = {k: dali_value(v) for k, v in arguments.items()}
    got = function(*[penstock.batch([x], layout=k) for x, k in zip(inputs, layouts)], **made)
    got = np.array((got[0] if isinstance(got, tuple) else got)[0].numpy())
    want = dali.call(name, [[x] for x in inputs], inputs_layouts=layouts, **arguments)
    return got, (want[0][0] if isinstance(want[0], list) else want[0])


def dali_value(v):
    from penstock import types

    return getattr(types, v) if isinstance(v, str) and v.startswith("INTERP_") else v


def test_equalize(dali):
    x = picture()
    np.testing.assert_array_equal(*both(dali, "equalize", [x], ["HWC"]))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"window_size": 5},
        {"window_size": [3, 7], "smoothing_size": [5, 1]},
        {"window_size": 7, "normalized_kernel": True},
        {"scale": [0.25, 0.5]},
        {"window_size": [5, 3], "smoothing_size": [3, 5], "normalized_kernel": True},
    ],
)
def test_laplacian(dali, arguments):
    got, want = both(dali, "laplacian", [picture()], ["HWC"], dtype="float32", **arguments)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("quality", [1, 35, 60, 99])
def test_jpeg_compression_distortion(dali, quality):
    np.testing.assert_array_equal(
        *both(dali, "jpeg_compression_distortion", [picture((37, 51, 3))], ["HWC"], quality=quality)
    )


MATRIX = [1.1, 0.1, -2, 0.05, 0.9, 1.5, 0.001, 0.002, 1]


@pytest.mark.parametrize("border", ["constant", "replicate", "reflect", "reflect_101", "wrap"])
@pytest.mark.parametrize("kind", ["INTERP_NN", "INTERP_LINEAR", "INTERP_CUBIC"])
@pytest.mark.parametrize("origin", ["corner", "center"])
def test_warp_perspective(dali, border, kind, origin):
    got, want = both(
        dali,
        "experimental.warp_perspective",
        [picture()],
        ["HWC"],
        ours="warp_perspective",
        matrix=MATRIX,
        interp_type=kind,
        border_mode=border,
        pixel_origin=origin,
    )
    far = np.abs(got.astype(int) - want) > 1
    assert far.mean() < (0.01 if kind == "INTERP_NN" else 0.0) + 1e-9  # DALI's coordinates are OpenCV's float32


@pytest.mark.parametrize("arguments", [{"inverse_map": False}, {"size": [40, 20]}, {"fill_value": [10, 20, 30]}])
def test_warp_perspective_on_other_canvases(dali, arguments):
    got, want = both(
        dali,
        "experimental.warp_perspective",
        [picture()],
        ["HWC"],
        ours="warp_perspective",
        matrix=MATRIX,
        pixel_origin="center",
        **arguments,
    )
    assert got.shape == want.shape and np.abs(got.astype(int) - want).max() <= 1


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"border": "wrap", "anchor": [0, 2]},
        {"border": "clamp"},
        {"border": "reflect_1001"},
        {"border": "constant", "anchor": 1},
        {"mode": "valid"},
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_filter(dali, arguments, dtype):
    weights = np.random.default_rng(2).normal(0, 0.2, (3, 4)).astype(np.float32)
    got, want = both(dali, "filter", [picture(dtype=dtype), weights], ["HWC", ""], ours="correlate", **arguments)
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.abs(got.astype(np.float64) - want).max() <= (1e-3 if dtype == "float32" else 1)


def test_filter_after_a_constant(dali):
    inputs = [picture(), np.full((3, 3), 0.1, np.float32), np.uint8(200)]
    got, want = both(dali, "filter", inputs, ["HWC", "", ""], ours="correlate", border="constant")
    assert np.abs(got.astype(int) - want).max() <= 1


@pytest.mark.parametrize(
    "shape, arguments", [((24, 32, 1), {}), ((24, 31, 1), {}), ((24, 32, 3), {"luma_only": False}), ((25, 31, 3), {})]
)
def test_clahe(dali, shape, arguments):
    got, want = both(dali, "clahe", [picture(shape)], ["HWC"], tiles_x=4, tiles_y=3, clip_limit=2.0, **arguments)
    far = 2 if shape[2] == 3 and not arguments else 0  # Lab's way back is exact here, in integers there
    assert np.abs(got.astype(int) - want).max() <= far


@pytest.mark.parametrize(
    "arguments",
    [
        {"ratio": 2.0, "paste_x": 0.25, "paste_y": 1.0},
        {"ratio": 1.7, "paste_y": 0.4},
        {"ratio": 1.3, "min_canvas_size": 50.5},
    ],
)
def test_paste(dali, arguments):
    np.testing.assert_array_equal(*both(dali, "paste", [picture()], ["HWC"], fill_value=[100, 101, 102], **arguments))


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("sphere", {}),
        ("sphere", {"fill_value": 7.0}),
        ("water", {}),
        ("water", {"ampl_x": 3.0, "ampl_y": 2.0, "freq_x": 0.3, "freq_y": 0.2, "phase_x": 0.5, "phase_y": 0.25}),
    ],
)
@pytest.mark.parametrize("kind", ["INTERP_NN", "INTERP_LINEAR"])
def test_displacements(dali, name, arguments, kind):
    got, want = both(dali, name, [picture()], ["HWC"], interp_type=kind, **arguments)
    far = np.abs(got.astype(int) - want) > 1
    assert far.mean() < 0.01  # float32 coordinates in DALI: another neighbor, or outside, at a border


@pytest.mark.parametrize("position", [[0, 0], [0, 1], [1, 0], [1, 1]])
@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "gray_ocv"])
def test_debayer(dali, position, algorithm):
    np.testing.assert_array_equal(
        *both(dali, "debayer", [picture()[..., 0].copy()], ["HW"], blue_position=position, algorithm=algorithm)
    )


IDS = [np.int32([0, 1]), np.int32([1]), np.int32([])]
PAIRS = lambda rows, kind=np.int32: [np.asarray(r, kind).reshape(-1, 2) for r in rows]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"out_anchors": PAIRS([[[0, 0], [2, 2]], [[1, 3]], []]), "shapes": PAIRS([[[5, 4], [9, 3]], [[2, 2]], []])},
        {"in_anchors": PAIRS([[[0, 0], [1, 2]], [[1, 1]], []])},
        {
            "in_anchors_rel": PAIRS([[[0, 0], [0.5, 0.5]], [[0.4, 0.3]], []], np.float32),
            "out_anchors_rel": PAIRS([[[0, 0], [0.5, 0.5]], [[0.4, 0.3]], []], np.float32),
            "shapes_rel": PAIRS([[[0.5, 0.5], [0.4, 0.3]], [[0.37, 0.3]], []], np.float32),
        },
    ],
)
def test_multi_paste(dali, arguments, device):
    if device == "gpu" and penstock._core.gpu_why_not():
        pytest.skip("machine: no GPU")
    xs = [picture((11, 13, 3), seed=k) for k in range(3)]
    want = dali.call(
        "multi_paste",
        xs,
        layout="HWC",
        output_size=[22, 26],
        in_ids={"per_sample": IDS},
        **{k: {"per_sample": v} for k, v in arguments.items()},
    )
    batch = penstock.batch(xs, layout="HWC")
    batch = batch.gpu() if device == "gpu" else batch
    got = fn.multi_paste(
        batch, output_size=[22, 26], in_ids=penstock.batch(IDS), **{k: penstock.batch(v) for k, v in arguments.items()}
    )
    for a, b in zip(got.cpu(), want):
        np.testing.assert_array_equal(a.numpy(), b)
