# SPDX-License-Identifier: Apache-2.0
"""Operators on signals on a GPU: the CPU's bytes, from kernels."""
import warnings

import numpy as np
import pytest

import penstock
from penstock import _core, fn, pipeline_def

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

RANDOM = np.random.default_rng(5)
SPECTRA = [RANDOM.uniform(0, 1, (64, n)).astype(np.float32) for n in (1, 40, 333)]


def piped(call, arrays, device):
    @pipeline_def(batch_size=len(arrays), num_threads=2, device_id=0, seed=11)
    def pipe():
        x = fn.external_source(lambda: arrays)
        return call(x.gpu() if device == "gpu" else x)
    with warnings.catch_warnings():
        warnings.simplefilter("error", penstock.DeviceWarning)
        p = pipe()
        out = [np.array(t.cpu() if device == "gpu" else t) for _ in range(2) for t in p.run()[0]]
    p.close()
    return out


def check(call, arrays):
    for got, want in zip(piped(call, arrays, "gpu"), piped(call, arrays, "cpu"), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("call", [
    lambda x: fn.spec_augment(x, freq_masks=3, freq_width=20, time_masks=4, time_width=60, fill_value=-1),
    lambda x: fn.frame_splicing(x, stack=3), lambda x: fn.frame_splicing(x, stack=2, subsample=4, fill_value=5)])
def test_features(call):
    check(call, SPECTRA)
