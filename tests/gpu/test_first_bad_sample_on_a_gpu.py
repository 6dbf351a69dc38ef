# SPDX-License-Identifier: Apache-2.0
"""Several samples of a batch fail: a GPU names the one that the CPU names."""

import os

import bad_samples
import pytest

from penstock import _core

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "8"))
WAYS = {
    "pipeline": bad_samples.piped,
    "step by step": lambda *given: bad_samples.piped(*given, executor="simple"),
    "calls": bad_samples.called,
    "function": bad_samples.compiled,
}


@pytest.mark.parametrize("name", bad_samples.PROGRAMS)
def test_the_first_sample_of_the_first_operator_that_fails(name, monkeypatch):
    monkeypatch.setenv("PENSTOCK_KERNELS", "generic")
    for seed in range(COUNT):
        files = bad_samples.batch(seed)
        wanted = bad_samples.expected(name, files)
        for way, run in WAYS.items():
            assert run(name, files, True) == wanted, (way, seed, len(files))
