# SPDX-License-Identifier: Apache-2.0
"""Every line of docs/reference/torchaudio.md runs in a pipeline, and is what torchaudio gives."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torchaudio_oracle import F, T

from penstock import augment, fn, math, pipeline_def

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import torchaudio_calls as calls  # noqa: E402

RNG = np.random.default_rng(4)
TIME = np.arange(8000) / 16000
INPUTS = {
    "x": RNG.normal(0, 0.1, 8000),
    "noise": RNG.normal(0, 0.1, 8000),
    "room": RNG.normal(0, 1, 1000) * np.exp(-np.arange(1000) / 200),
    "smooth": np.hanning(8000) * sum(np.sin(2 * np.pi * f * TIME + f) for f in (200, 900, 2900)) / 3,
    "power": RNG.uniform(0, 1, (201, 30)),
    "mel": RNG.uniform(0, 1, (128, 300)) ** 8,
}
INPUTS = {name: value.astype(np.float32) for name, value in INPUTS.items()} | {"codes": np.arange(256, dtype=np.uint8)}
HANN = [float(v) for v in 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)]
HERTZ = np.linspace(0, 8000, 201, dtype=np.float32)[:, None]


def floor(db, top):
    return math.max(db, fn.reductions.max(db) - top)


def given_by(name):
    return fn.external_source(lambda: [INPUTS[name]])


def here(call):
    @pipeline_def(batch_size=1, num_threads=1, seed=2)
    def pipe():
        given = {name: given_by(name) for name in INPUTS if name in call}
        return eval(
            call, {"fn": fn, "math": math, "augment": augment, "floor": floor, "HANN": HANN, "HERTZ": HERTZ, **given}
        )

    return np.array(pipe().run()[0][0])


def there(call):
    given = {name: torch.from_numpy(v) for name, v in INPUTS.items()}
    numbers = {"snr": torch.tensor(10.0), "A": torch.tensor([1.0, -0.5]), "B": torch.tensor([0.25, 0.5])}
    return eval(call, {"T": T, "F": F, "torch": torch, **given, **numbers}).numpy()


@pytest.mark.parametrize("name, other, call, bound", calls.SAME, ids=[row[0] for row in calls.SAME])
def test_is_the_same(name, other, call, bound):
    got, want = here(call).astype(np.float64), there(other).astype(np.float64)
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= bound * np.abs(want).max()


@pytest.mark.parametrize("name, call, note", calls.CALLED, ids=[row[0] for row in calls.CALLED])
def test_runs(name, call, note):
    assert here(call).dtype in (np.float32, np.int32)


def test_every_transform_is_listed():
    listed = {row[0] for row in calls.SAME + calls.CALLED} | set(calls.MISSING)
    assert [name for name in T.__all__ if name not in listed] == []
