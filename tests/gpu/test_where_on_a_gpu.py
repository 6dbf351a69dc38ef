# SPDX-License-Identifier: Apache-2.0
"""fn.where of values on a GPU selects there, in the stage of its neighbors, and gives the CPU's bytes."""

import numpy as np
import pytest

from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

RNG = np.random.default_rng(3)
IMAGES = [RNG.integers(0, 256, (20 + k, 24, 3), np.uint8) for k in range(4)]
BACK = [RNG.integers(0, 256, (20 + k, 24, 3), np.uint8) for k in range(4)]
MASKS = [RNG.random((20 + k, 24, 1)) for k in range(4)]


def giver(values):
    return lambda: values


def run(body, device):
    @pipeline_def(batch_size=4, num_threads=2, seed=3, device_id=0)
    def pipe():
        values = [
            fn.external_source(giver(s), dtype=t, layout="HWC")
            for s, t in ((IMAGES, types.UINT8), (BACK, types.UINT8), (MASKS, types.FLOAT64))
        ]
        n = fn.external_source(lambda: [np.int64(2**40 * (k % 2)) for k in range(4)], dtype=types.INT64, ndim=0)
        if device == "gpu":
            values, n = [v.gpu() for v in values], n.gpu()
        return body(*values, n)

    p = pipe()
    return [[np.array(t.numpy()) for t in b.as_cpu()] for b in p.run()], p.text(planned=True)


@pytest.mark.parametrize(
    "body",
    [
        lambda x, y, m, n: fn.where(n, x, y),  # a number a sample
        lambda x, y, m, n: fn.where(m > 0.5, x, y),  # a mask
        lambda x, y, m, n: fn.where(m, fn.flip(x, horizontal=1), y - 7),  # not 0
        lambda x, y, m, n: fn.where(x > y, 0.5, x) + m,
        lambda x, y, m, n: fn.where(m > 0.5, n, x),  # int64
        lambda x, y, m, n: m * x + (1 - m) * y,
    ],
)
def test_the_bytes_of_the_cpu(body):
    host, _ = run(body, "cpu")
    there, text = run(body, "gpu")
    assert "to the host" not in text and "runs on the CPU" not in text, text
    assert not [line for line in text.splitlines() if line.startswith("transfer") and "@cpu" in line], text
    for a, b in zip(host, there, strict=True):
        for s, t in zip(a, b, strict=True):
            assert s.dtype == t.dtype and s.shape == t.shape and s.tobytes() == t.tobytes()


def test_a_choice_and_its_neighbors_are_one_launch(order):
    def body(x, y, m, n):
        return fn.cast(fn.where(m > 0.5, x * 2, y + 1), dtype=types.FLOAT)

    run(body, "gpu")  # compiled
    order()
    _, text = run(body, "gpu")
    assert len([line for line in text.splitlines() if line.startswith("stage")]) == 1, text
