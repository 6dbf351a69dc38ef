# SPDX-License-Identifier: Apache-2.0
"""numba_function: outputs, shapes, batches, errors; against NumPy."""

import numpy as np
import pytest

from penstock import fn, pipeline_def, types

numba = pytest.importorskip("numba")
from penstock.plugin.numba.fn.experimental import numba_function  # noqa: E402

IMAGES = [np.random.default_rng(i).integers(0, 100, (10 + i, 12, 3), dtype=np.uint8) for i in range(6)]
IMAGE = dict(out_types=types.UINT8, in_types=types.UINT8, outs_ndim=3, ins_ndim=3)


def run(body, **options):
    @pipeline_def(batch_size=6, num_threads=2, **options)
    def made():
        return body(fn.external_source(lambda: IMAGES, layout="HWC", dtype=types.UINT8))

    return made().run()


def equal(batch, wanted):
    return all(
        (t.numpy() == w).all() and t.numpy().shape == w.shape and t.numpy().dtype == w.dtype
        for t, w in zip(batch, wanted)
    )


def turn(out, image):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = image[j, image.shape[1] - i - 1]


def turned_shapes(outs, ins):
    for s in range(len(outs[0])):
        outs[0][s][0], outs[0][s][1], outs[0][s][2] = ins[0][s][1], ins[0][s][0], ins[0][s][2]


def invert(out, image):
    out[:] = 255 - image


def invert_all(out, image):
    for k in range(len(out)):
        out[k][:] = 255 - image[k]


def sum_and_first(total, first, a, b):
    total[0] = a.sum() + b.sum()
    first[:] = a[0, 0]


def two_shapes(outs, ins):
    for s in range(len(outs[0])):
        outs[0][s][0] = 1
        outs[1][s][0] = 3


def test_samples_and_shapes():
    (out,) = run(lambda x: fn.numba_function(x, run_fn=turn, setup_fn=turned_shapes, **IMAGE))
    assert equal(out, [np.rot90(x) for x in IMAGES])
    (out,) = run(lambda x: numba_function(x, run_fn=invert, **IMAGE))
    assert equal(out, [255 - x for x in IMAGES]) and out.layout() == "HWC"


def test_batches():
    (out,) = run(lambda x: fn.numba_function(x, run_fn=invert_all, batch_processing=True, **IMAGE))
    assert equal(out, [255 - x for x in IMAGES])


def test_several_inputs_and_outputs():
    total, first = run(
        lambda x: fn.numba_function(
            x,
            fn.flip(x),
            run_fn=sum_and_first,
            setup_fn=two_shapes,
            out_types=[types.INT64, types.UINT8],
            in_types=[types.UINT8] * 2,
            outs_ndim=[1, 1],
            ins_ndim=[3, 3],
        )
    )
    assert equal(total, [np.int64([2 * x.sum(dtype=np.int64)]) for x in IMAGES]) and equal(
        first, [x[0, 0] for x in IMAGES]
    )


def test_inside_a_condition():
    def body(x):
        if fn.reductions.mean(x) > 50:
            x = fn.numba_function(x, run_fn=invert, **IMAGE)
        return x

    assert equal(run(body)[0], [255 - x if x.mean() > 50 else x for x in IMAGES])


def test_errors():
    def no_thirteen(out, image):
        if image.shape[0] == 13:
            raise ValueError("thirteen")
        out[:] = image

    def forgets(outs, ins):
        outs[0][0][0] = 1

    cases = [
        (
            dict(run_fn=no_thirteen, **IMAGE),
            ValueError,
            r"\[numba_function\] the compiled function raised an exception for sample 3 of the batch",
        ),
        (
            dict(run_fn=invert, setup_fn=forgets, **IMAGE),
            ValueError,
            "setup_fn did not set the extent of axis 1 of output 0 of sample 0",
        ),
        (
            dict(run_fn=invert, **{**IMAGE, "outs_ndim": 2}),
            ValueError,
            "output 0 has no input of 2 dimensions .* give setup_fn",
        ),
        (
            dict(run_fn=invert, of=lambda x: fn.cast(x, dtype=types.FLOAT), **IMAGE),
            TypeError,
            "input 0 is float32, in_types says uint8",
        ),
        (dict(run_fn=invert, of=lambda x: x[0], **IMAGE), TypeError, "input 0 has 2 dimensions, ins_ndim says 3"),
        (dict(run_fn=invert, **{**IMAGE, "in_types": types.FLOAT16}), TypeError, "cannot have arrays of FLOAT16"),
        (dict(run_fn=invert, **{**IMAGE, "ins_ndim": [3, 3]}), ValueError, "in_types names 1 types and ins_ndim 2"),
        (dict(run_fn=lambda out, image: open("x"), **IMAGE), TypeError, "Numba cannot compile '<lambda>'"),
        (dict(run_fn=3, **IMAGE), TypeError, "run_fn must be a function, got int"),
    ]
    for arguments, kind, message in cases:
        of = arguments.pop("of", lambda x: x)
        with pytest.raises(kind, match=message):
            run(lambda x: fn.numba_function(of(x), **arguments))


def test_cannot_be_saved():
    @pipeline_def(batch_size=6, num_threads=2)
    def made():
        return fn.numba_function(fn.external_source(lambda: IMAGES), run_fn=invert, **IMAGE)

    with pytest.raises(ValueError, match=r"\[numba_function\] the pipeline cannot be saved"):
        made().to_json()
