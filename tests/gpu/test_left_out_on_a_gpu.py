# SPDX-License-Identifier: Apache-2.0
"""Samples of the program that cannot be decoded: on a GPU the same are lost, and the same replace them."""

import io

import numpy as np
import pytest
from PIL import Image

from penstock import Pipeline, _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

BAD = ((2, 5), (), (0, 1, 3))


def picture(value):
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(value).integers(0, 256, (40, 50, 3), np.uint8)).save(file, "JPEG", quality=95)
    return np.frombuffer(file.getvalue(), np.uint8)


def batches(policy, device, make):
    encoded = [[picture(10 * b + k)[: 300 if k in bad else None] for k in range(7)] for b, bad in enumerate(BAD)]
    labels = [[np.array([10 * b + k], np.int32) for k in range(7)] for b in range(len(BAD))]
    pipe = Pipeline(batch_size=7, num_threads=2, seed=3, device_id=0, on_error=policy)
    with pipe:
        files, label = fn.external_source(encoded), fn.external_source(labels, device=device)
        pipe.set_outputs(make(fn.decoders.image(files, device="mixed" if device == "gpu" else "cpu")), label)
    for _ in BAD:
        pictures, label = pipe.run()
        values = [np.array(x).item() for x in (label.as_cpu() if device == "gpu" else label)]
        pictures = [np.array(x) for x in (pictures.as_cpu() if device == "gpu" else pictures)]
        yield pictures, values, [(x.batch, x.number, x.position) for x in pipe.left_out(last_batch=True)]


@pytest.mark.parametrize("policy", ["skip", "replace"])
@pytest.mark.parametrize(
    "make",
    [lambda x: x, lambda x: fn.resize(x, size=[9, 8]), lambda x: fn.flip(x, horizontal=fn.random.coin_flip())],
    ids=["decoded", "resized", "flipped"],
)
def test_as_on_the_cpu(policy, make):
    for batch, (here, there) in enumerate(zip(batches(policy, "cpu", make), batches(policy, "gpu", make), strict=True)):
        assert here[1:] == there[1:]
        assert here[2] == [(batch, k, 7 * batch + k) for k in BAD[batch]]
        for a, b in zip(here[0], there[0], strict=True):
            np.testing.assert_array_equal(a, b)
