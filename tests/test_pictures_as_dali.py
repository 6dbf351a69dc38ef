# SPDX-License-Identifier: Apache-2.0
"""The operators on pictures against DALI's on the CPU, with the arguments that picture_strategies.py does not draw."""
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
    got = function(*[penstock.batch([x], layout=k or None) for x, k in zip(inputs, layouts)], **made)
    got = np.array((got[0] if isinstance(got, tuple) else got)[0].numpy())
    want = dali.call(name, [[x] for x in inputs], inputs_layouts=layouts, **arguments)
    return got, (want[0][0] if isinstance(want[0], list) else want[0])


def dali_value(v):
    from penstock import types
    return getattr(types, v) if isinstance(v, str) and v.startswith("INTERP_") else v


def test_equalize(dali):
    x = picture()
    np.testing.assert_array_equal(*both(dali, "equalize", [x], ["HWC"]))


@pytest.mark.parametrize("arguments", [{}, {"window_size": 5}, {"window_size": [3, 7], "smoothing_size": [5, 1]},
                                       {"window_size": 7, "normalized_kernel": True}, {"scale": [0.25, 0.5]},
                                       {"window_size": [5, 3], "smoothing_size": [3, 5], "normalized_kernel": True}])
def test_laplacian(dali, arguments):
    got, want = both(dali, "laplacian", [picture()], ["HWC"], dtype="float32", **arguments)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("quality", [1, 35, 60, 99])
def test_jpeg_compression_distortion(dali, quality):
    np.testing.assert_array_equal(*both(dali, "jpeg_compression_distortion", [picture((37, 51, 3))], ["HWC"], quality=quality))
