# SPDX-License-Identifier: Apache-2.0
"""rotate and warp_affine against the float64 reference, DALI, OpenCV and NumPy; the same bytes on every target."""

import hashlib
import os
import random
import subprocess
import sys

import cv2
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import DTYPES, assert_rounds_to, laid_out, random_sample

import penstock
from penstock import fn, types

seeds = st.integers(0, 2**32 - 1)
ERROR_OF_BYTES = 1020 / 2**17  # of levels, where bytes become bytes: docs/decisions/0027
KINDS = {"nn": types.INTERP_NN, "linear": types.INTERP_LINEAR}


def random_matrix(pick, d):
    """Float32 numbers, rows (x, y[, z]), near the identity."""
    rows = [[(i == k) + pick.gauss(0, 0.3) for k in range(d)] + [pick.gauss(0, 3)] for i in range(d)]
    return np.float32(rows)


def random_case(pick, layouts, dtypes):
    layout = pick.choice(layouts)
    extents = [1, 2, 7, 20] if "D" in layout else [1, 2, 5, 16, 33, 70]
    x = random_sample(pick, layout, pick.choice(dtypes), extents=extents)
    d = 3 if "D" in layout else 2
    a = {"fill_value": float(pick.randrange(50))} if pick.random() < 0.6 else {}
    if pick.random() < 0.5:
        a["size"] = [float(np.float32(pick.uniform(1, 20 if d == 3 else 300))) for _ in range(d)]
    return layout, x, d, a


def assert_nearest(got, x, exact, what):
    """Nearest picks samples: equal except where a coordinate lies on a pixel border within double's rounding."""
    wrong = np.asarray(got) != reference.to_dtype(exact, x.dtype)
    assert wrong.mean(dtype=float) <= 1e-3 if wrong.size > 5000 else not wrong.any(), what


@given(seeds)
def test_warp_affine_is_the_reference(seed):
    pick = random.Random(seed)
    layout, x, d, a = random_case(pick, ["HWC", "HWC", "CHW", "HW", "FHWC", "DHWC", "CDHW", "FDHWC"], DTYPES)
    m, name, inverse = random_matrix(pick, d), pick.choice(list(KINDS)), pick.random() < 0.5
    got = fn.warp_affine(
        laid_out(x, layout), matrix=[float(v) for v in m.ravel()], inverse_map=inverse, interp_type=KINDS[name], **a
    )
    exact = reference.warp_affine(x, matrix=m, layout=layout, inverse_map=inverse, interp_type=name, **a)
    what = f"{layout} {x.shape} {x.dtype} {name} {inverse} {a}"
    assert got.layout() == layout and got.numpy().dtype == x.dtype
    if name == "nn":
        assert_nearest(got.numpy(), x, exact, what)
    else:
        assert_rounds_to(got.numpy(), exact, x, what, ERROR_OF_BYTES if x.dtype == "uint8" and d == 2 else 0.0)


@given(seeds)
def test_rotate_is_the_reference(seed):
    pick = random.Random(seed)
    layout, x, d, a = random_case(pick, ["HWC", "HWC", "CHW", "HW", "FHWC", "DHWC"], DTYPES)
    a["angle"] = float(np.float32(pick.choice([pick.uniform(-400, 400), 15.0 * pick.randint(-24, 24)])))
    name = "linear" if a["angle"] % 15 == 0 else pick.choice(list(KINDS))  # there samples lie on pixel borders
    if d == 3:
        a["axis"] = [float(np.float32(pick.gauss(0, 1))) for _ in range(3)]
    if "size" not in a and pick.random() < 0.5:
        a["keep_size"] = True
    if "size" in a and name == "nn":  # another parity would put the center on a pixel border
        a["size"] = [float(x.shape[layout.index(c)] + 2 * pick.randrange(9)) for c in layout if c in "DHW"]
    got = fn.rotate(laid_out(x, layout), interp_type=KINDS[name], **a)
    exact = reference.rotate(x, layout=layout, interp_type=name, **a)
    what = f"{layout} {x.shape} {x.dtype} {name} {a}"
    assert got.layout() == layout and got.numpy().dtype == x.dtype
    if name == "nn":
        assert_nearest(got.numpy(), x, exact, what)
    else:
        assert_rounds_to(got.numpy(), exact, x, what, ERROR_OF_BYTES if x.dtype == "uint8" and d == 2 else 0.0)


def warped_bytes(x, m, fill):
    """warp_affine of uint8 by integers alone, as docs/decisions/0027 defines it, but for where runs of 64 outputs begin."""

    def fixed(v):
        return np.rint(v * 2.0**32).astype(np.int64)

    def tap(column, row):
        inside = (column >= 0) & (column < x.shape[1]) & (row >= 0) & (row < x.shape[0])
        edge = x[np.clip(row, 0, x.shape[0] - 1), np.clip(column, 0, x.shape[1] - 1)].astype(np.int64)
        return edge if fill is None else np.where(inside[..., None], edge, fill)

    rows, columns = np.indices(x.shape[:2])
    begin = columns // 64 * 64
    at = [
        fixed(a[0] * (begin + 0.5) + (a[1] * (rows + 0.5) + a[2]) - 0.5) + columns % 64 * fixed(a[0]) + 2**15 for a in m
    ]
    fx, fy = (p >> 16 & 0xFFFF for p in at)
    lower = fx * fy + 2**15 >> 16
    weights = [2**16 - fx - fy + lower, fx - lower, fy - lower, lower]
    taps = [tap((at[0] >> 32) + k % 2, (at[1] >> 32) + k // 2) for k in range(4)]
    return (sum(w[..., None] * t for w, t in zip(weights, taps)) + 2**15 >> 16).astype(np.uint8)


@given(seeds)
def test_bytes_are_blended_in_integers(seed):
    pick = random.Random(seed)
    x = random_sample(pick, "HWC", "uint8", extents=[1, 2, 16, 70, 131])
    m = random_matrix(pick, 2).astype(np.float64)
    if pick.random() < 0.3:
        m = np.float64([[1, 0, pick.choice([0, 0.5, 0.25, -3])], [0, 1, pick.choice([0, 0.5])]])  # halves go up
    fill = pick.choice([None, 0, 99])
    got = fn.warp_affine(
        x, matrix=[float(v) for v in m.ravel()], **({} if fill is None else {"fill_value": float(fill)})
    )
    np.testing.assert_array_equal(got, warped_bytes(x, m, fill))


@given(seeds)
def test_warps_are_dali(oracle, seed):
    pick = random.Random(seed)
    layout, x, d, a = random_case(pick, ["HWC", "FHWC", "DHWC"], ["uint8", "int16", "float32"])
    if 1 in x.shape[:-1] or ("size" in a and max(a["size"]) > 40):
        return
    nearest = pick.random() < 0.4
    if pick.random() < 0.5:
        name = "warp_affine"
        a |= {"matrix": [float(v) for v in random_matrix(pick, d).ravel()], "inverse_map": pick.random() < 0.5}
    else:
        name = "rotate"
        a["angle"] = float(np.float32(pick.uniform(-400, 400)))
        if d == 3:
            a["axis"] = [float(np.float32(pick.gauss(0, 1))) for _ in range(3)]
        if "size" not in a and pick.random() < 0.5:
            a["keep_size"] = True
    expected = oracle.call(
        name, [x], layout=layout, interp_type="INTERP_NN" if nearest else "INTERP_LINEAR", dtype=np.float32, **a
    )[0]
    got = getattr(fn, name)(laid_out(x, layout), interp_type=int(not nearest), dtype=types.FLOAT, **a).numpy()
    assert got.shape == expected.shape
    scale = max(1.0, np.abs(x.astype(float)).max())
    off = np.abs(got - expected) > scale * (0 if nearest else 2e-3)  # DALI steps along rows in float32
    assert off.mean() <= (0.1 if nearest else 0.01), f"{name} {layout} {x.shape} {a} {off.mean()}"


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_warp_affine_is_opencv(dtype, channels):
    pick = random.Random(channels)
    x = random_sample(pick, "HWC", dtype, channels=[channels], extents=[97, 131])
    for seed in range(8):
        m = random_matrix(random.Random(seed), 2).astype(np.float64)
        # OpenCV's pixel centers are integers, ours are halves; its coordinates are multiples of 1/32 pixel.
        shift = np.array([0.5, 0.5])
        theirs = np.column_stack([m[:, :2], m[:, :2] @ shift + m[:, 2] - shift])
        size = (150, 120)
        expected = cv2.warpAffine(
            x,
            theirs,
            size,
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(7, 7, 7, 7),
        )
        got = fn.warp_affine(x, matrix=[float(v) for v in m.ravel()], size=size[::-1], fill_value=7)
        steps = np.abs(got.reshape(expected.shape).astype(float) - expected.astype(float))
        largest = max(float(x.max()) - float(x.min()), 7 - float(x.min()))
        limit = largest * 2 * 1.1 / 64 + (dtype == "uint8")  # 1/64 pixel on both axes
        assert steps.max() <= limit, (seed, steps.max())


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("kind", [types.INTERP_NN, types.INTERP_LINEAR])
def test_right_angles_are_exact(dtype, kind):
    for shape in ((6, 9, 3), (7, 4, 1), (5, 5, 4), (40, 300, 2)):
        x = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 120, shape).astype(dtype)
        for turns in range(-5, 6):
            np.testing.assert_array_equal(fn.rotate(x, angle=90.0 * turns, interp_type=kind), np.rot90(x, turns))


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_nearest_keeps_every_bit(dtype):
    x = np.random.default_rng(1).integers(0, 256, (31, 17, 3 * np.dtype(dtype).itemsize), np.uint8).view(dtype)
    if dtype == "bool":
        x = np.random.default_rng(1).integers(0, 2, (31, 17, 3)).astype(bool)
    if dtype == "float16":
        x = np.nan_to_num(x)  # a NaN stays a NaN, but not every bit of it
    y = fn.warp_affine(x, matrix=[-1, 0, 17, 0, 1, 0], interp_type=types.INTERP_NN)
    assert y.tobytes() == x[:, ::-1].tobytes()


def test_the_edge_and_the_fill():
    x = np.arange(1, 7, dtype=np.float32).reshape(2, 3, 1)
    far = [1, 0, 1000, 0, 1, 0]
    np.testing.assert_array_equal(fn.warp_affine(x, matrix=far)[..., 0], [[3, 3, 3], [6, 6, 6]])
    np.testing.assert_array_equal(fn.warp_affine(x, matrix=far, fill_value=42)[..., 0], np.full((2, 3), 42))
    half = fn.warp_affine(x, matrix=[1, 0, 0.5, 0, 1, 0], fill_value=0)[..., 0]  # edges blend with the fill
    np.testing.assert_array_equal(half, [[1.5, 2.5, 1.5], [4.5, 5.5, 3.0]])
    huge = fn.warp_affine(x, matrix=[1e30, 0, 0, 0, 1, 0], fill_value=0, interp_type=types.INTERP_NN)
    assert (huge == 0).all()
    empty = np.zeros((0, 4, 3), np.uint8)
    assert (fn.warp_affine(empty, matrix=[1, 0, 0, 0, 1, 0], size=[2, 2], fill_value=9) == 9).all()
    with pytest.raises(ValueError, match="empty"):
        fn.warp_affine(empty, matrix=[1, 0, 0, 0, 1, 0], size=[2, 2])


@pytest.mark.parametrize("fill", [300.0, -50.0, 3.5])
def test_the_fill_is_a_sample_of_the_input(oracle, fill):
    x, half = np.full((4, 4, 1), 10, np.uint8), [1.0, 0, 0.5, 0, 1, 0]
    got = fn.warp_affine(x, matrix=half, fill_value=fill, dtype=types.FLOAT)
    np.testing.assert_array_equal(
        got, oracle.call("warp_affine", [x], layout="HWC", matrix=half, fill_value=fill, dtype=np.float32)[0]
    )
    wide = fn.warp_affine(x.astype(np.int64), matrix=[1, 0, 9, 0, 1, 0], fill_value=-1e30, interp_type=0)
    assert (wide == np.iinfo(np.int64).min).all()


def test_one_matrix_for_each_sample_and_frame():
    x = random_sample(random.Random(1), "FHWC", "uint8", channels=[3], extents=[30], frames=[3])
    ms = np.stack([random_matrix(random.Random(s), 2) for s in range(3)])
    got = fn.warp_affine(penstock.batch([x], layout="FHWC"), fn.per_frame(penstock.batch([ms])), fill_value=0).at(0)
    alone = [fn.warp_affine(f, matrix=[float(v) for v in m.ravel()], fill_value=0) for f, m in zip(x, ms)]
    np.testing.assert_array_equal(np.asarray(got), np.stack(alone))
    angles = np.float32([10, 25, 90])
    got = fn.rotate(
        penstock.batch([x], layout="FHWC"), angle=fn.per_frame(penstock.per_sample([angles])), keep_size=True
    ).at(0)
    alone = [fn.rotate(f, angle=float(a), keep_size=True) for f, a in zip(x, angles)]
    np.testing.assert_array_equal(np.asarray(got), np.stack(alone))
    got = fn.warp_affine(penstock.batch(list(x), layout="HWC"), list(ms))
    for i in range(3):
        one = fn.warp_affine(x[i], matrix=[float(v) for v in ms[i].ravel()])
        np.testing.assert_array_equal(np.asarray(got.at(i)), one)
    with pytest.raises(ValueError, match="frames"):
        fn.rotate(penstock.batch([x], layout="FHWC"), angle=fn.per_frame(penstock.per_sample([np.float32([1, 2])])))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fn.warp_affine(x),
        lambda x: fn.warp_affine(x, matrix=[1, 0, 0]),
        lambda x: fn.warp_affine(x, matrix=[0] * 6, inverse_map=False),
        lambda x: fn.warp_affine(x, matrix=[float("nan")] * 6),
        lambda x: fn.warp_affine(x, matrix=[1, 0, 0, 0, 1, 0], size=[1, 2, 3]),
        lambda x: fn.rotate(x),
        lambda x: fn.rotate(x, angle=float("nan")),
        lambda x: fn.rotate(x, angle=1, interp_type=types.INTERP_LANCZOS3),
        lambda x: fn.rotate(penstock.tensor(x[None], layout="DHWC"), angle=1),
        lambda x: fn.rotate(penstock.tensor(x[None], layout="DHWC"), angle=1, axis=[0, 0, 0]),
    ],
)
def test_warps_that_cannot_be(call):
    with pytest.raises(ValueError, match=r"\[(warp_affine|rotate)\]"):
        call(np.zeros((5, 6, 3), np.uint8))


def digest_of_warps():
    digest, pick = hashlib.sha256(), random.Random(7)
    for _ in range(60):
        layout, x, d, a = random_case(pick, ["HWC", "HWC", "CHW", "HW", "FHWC", "DHWC"], DTYPES)
        m = [float(v) for v in random_matrix(pick, d).ravel()]
        for kind in KINDS.values():
            digest.update(fn.warp_affine(laid_out(x, layout), matrix=m, interp_type=kind, **a).numpy().tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("target", ["scalar", "avx2"])
def test_every_target_gives_the_same_bytes(target):
    code = "import test_warp; print(test_warp.digest_of_warps())"
    paths = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    env = {**os.environ, "PENSTOCK_TARGET": target, "PYTHONPATH": paths}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert out.split()[-1] == digest_of_warps()
