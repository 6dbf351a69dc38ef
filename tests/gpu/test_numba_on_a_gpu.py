# SPDX-License-Identifier: Apache-2.0
"""numba_function as kernels of numba.cuda: against NumPy. Needs a real GPU and the package numba-cuda."""

import numpy as np
import pytest
from test_decoding import EMULATED

from penstock import fn, pipeline_def, types

IMAGES = [np.random.default_rng(i).integers(0, 100, (10 + i, 12, 3), dtype=np.uint8) for i in range(6)]
IMAGE = dict(out_types=types.UINT8, in_types=types.UINT8, outs_ndim=3, ins_ndim=3)
GRID = dict(blocks=[2, 2, 1], threads_per_block=[8, 4, 3])


@pytest.fixture(scope="module", autouse=True)
def cuda():
    if EMULATED:
        pytest.skip("machine: numba.cuda needs a real GPU")
    pytest.importorskip("numba_cuda", reason="machine: no numba-cuda")
    from numba import cuda

    try:
        import numba.np.arrayobj  # noqa: F401  (what a kernel's compilation imports)
    except AttributeError as error:
        pytest.skip(f"machine: numba is older than NumPy ({error})")
    globals()["cuda"] = cuda


def run(body):
    @pipeline_def(batch_size=6, num_threads=2, device_id=0)
    def made():
        return body(fn.external_source(lambda: IMAGES, layout="HWC", dtype=types.UINT8, device="gpu"))

    pipe = made()
    for _ in range(3):
        out = pipe.run()
    assert all(o.device_type == "gpu" for o in out)
    return [[t.numpy() for t in o.cpu()] for o in out]


def equal(got, wanted):
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted):
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g, w)


def invert(out, image):
    i, j, c = cuda.grid(3)  # noqa: F821
    di, dj, dc = cuda.gridsize(3)  # noqa: F821
    for y in range(i, out.shape[0], di):
        for x in range(j, out.shape[1], dj):
            for k in range(c, out.shape[2], dc):
                out[y, x, k] = 255 - image[y, x, k]


def turn(out, image):
    i, j, c = cuda.grid(3)  # noqa: F821
    di, dj, dc = cuda.gridsize(3)  # noqa: F821
    for y in range(i, out.shape[0], di):
        for x in range(j, out.shape[1], dj):
            for k in range(c, out.shape[2], dc):
                out[y, x, k] = image[x, image.shape[1] - y - 1, k]


def turned_shapes(outs, ins):
    for s in range(len(outs[0])):
        outs[0][s][0], outs[0][s][1], outs[0][s][2] = ins[0][s][1], ins[0][s][0], ins[0][s][2]


def two(sum_, difference, a, b):
    i, j, c = cuda.grid(3)  # noqa: F821
    di, dj, dc = cuda.gridsize(3)  # noqa: F821
    for y in range(i, a.shape[0], di):
        for x in range(j, a.shape[1], dj):
            for k in range(c, a.shape[2], dc):
                sum_[y, x, k] = a[y, x, k] + b[y, x, k]
                difference[y, x, k] = float(a[y, x, k]) - float(b[y, x, k])


def test_samples_and_shapes():
    (out,) = run(lambda x: fn.numba_function(x, run_fn=invert, device="gpu", **IMAGE, **GRID))
    equal(out, [255 - x for x in IMAGES])
    (out,) = run(lambda x: fn.numba_function(x, run_fn=turn, setup_fn=turned_shapes, **IMAGE, **GRID))
    equal(out, [np.rot90(x) for x in IMAGES])


def test_two_outputs_between_other_operators():
    def body(x):
        s, d = fn.numba_function(
            x,
            fn.flip(x),
            run_fn=two,
            out_types=[types.UINT8, types.FLOAT],
            in_types=[types.UINT8] * 2,
            outs_ndim=[3, 3],
            ins_ndim=[3, 3],
            **GRID,
        )
        return s + 1, d * 0.5

    got = run(body)
    flipped = [x[:, ::-1] for x in IMAGES]
    equal(got[0], [(a + b).astype(np.int32) + 1 for a, b in zip(IMAGES, flipped)])
    equal(got[1], [np.float32(0.5) * (a.astype(np.float32) - b) for a, b in zip(IMAGES, flipped)])
