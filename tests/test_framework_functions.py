# SPDX-License-Identifier: Apache-2.0
"""torch_python_function and jax_function. Jax itself is large; where it is not installed, a stand-in that speaks DLPack takes
its place."""

import importlib.util
import sys
import types as python_types

import numpy as np
import pytest
import torch

import penstock
from penstock import fn, pipeline_def, types

IMAGES = [np.random.default_rng(i).integers(0, 256, (8 + i, 12, 3), dtype=np.uint8) for i in range(4)]
ALIKE = [np.random.default_rng(i).integers(0, 256, (8, 12, 3), dtype=np.uint8) for i in range(4)]


def run(body, data, **options):
    @pipeline_def(batch_size=4, num_threads=2, **options)
    def made():
        return body(fn.external_source(lambda: data, layout="HWC", dtype=types.UINT8))

    return made().run()


def equal(batch, wanted):
    return all(
        t.numpy().dtype == w.dtype and t.numpy().shape == w.shape and (t.numpy() == w).all()
        for t, w in zip(batch, wanted)
    )


def test_torch_samples_and_batches():
    from penstock.plugin.pytorch.fn import torch_python_function

    def halves(x):
        assert isinstance(x, torch.Tensor)
        return x.float() / 2, x.flip(1)

    a, b = run(
        lambda x: torch_python_function(x, function=halves, num_outputs=2, output_layouts=["HWC", "HWC"]), IMAGES
    )
    assert (
        equal(a, [x.astype(np.float32) / 2 for x in IMAGES])
        and equal(b, [x[:, ::-1] for x in IMAGES])
        and b.layout() == "HWC"
    )
    (c,) = run(
        lambda x: torch_python_function(x, function=lambda xs: list(torch.stack(xs) + 1), batch_processing=True), ALIKE
    )
    assert equal(c, [x + 1 for x in ALIKE])
    with pytest.raises(penstock.FunctionError, match=r"\[torch_python_function\] '<lambda>' raised RuntimeError"):
        run(lambda x: torch_python_function(x, function=lambda v: v.reshape(7)), IMAGES)


@pytest.fixture
def jax(monkeypatch):
    if importlib.util.find_spec("jax") is not None:
        import jax

        return jax
    stand_in = python_types.ModuleType("jax")
    stand_in.dlpack = python_types.SimpleNamespace(from_dlpack=np.from_dlpack)
    stand_in.numpy = np
    monkeypatch.setitem(sys.modules, "jax", stand_in)
    return stand_in


def test_jax_batches(jax):
    from penstock.plugin.jax.fn import jax_function

    @jax_function
    def turned(images):
        assert images.shape == (4, 8, 12, 3)
        return images[:, :, ::-1] + 0

    @jax_function(num_outputs=2, output_layouts=("", "HW"))
    def sums(images):
        return jax.numpy.sum(images, axis=(1, 2, 3), dtype="int32"), images[..., 0] + 0

    out, total, first = run(lambda x: (turned(x), *sums(x)), ALIKE)
    assert equal(out, [x[:, ::-1] for x in ALIKE]) and out.layout() == "HWC"
    assert equal(total, [x.sum(dtype=np.int32) for x in ALIKE])
    assert equal(first, [x[..., 0] for x in ALIKE]) and first.layout() == "HW"


def test_jax_errors(jax):
    from penstock.plugin.jax.fn import jax_function

    cases = [
        (lambda x: x, IMAGES, ValueError, "the samples of input 0 differ in shape"),
        (
            lambda x: x[:2],
            ALIKE,
            ValueError,
            r"returned shape \(2, 8, 12, 3\) for output 0: its first axis must count the 4 samples",
        ),
        (lambda x: {}["no"], ALIKE, penstock.FunctionError, r"\[jax_function\] '<lambda>' raised KeyError: 'no'"),
    ]
    for function, data, kind, message in cases:
        with pytest.raises(kind, match=message):
            run(jax_function(function), data)
