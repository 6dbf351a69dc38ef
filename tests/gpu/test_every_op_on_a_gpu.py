# SPDX-License-Identifier: Apache-2.0
"""Every operator of the registry gives on a GPU what it gives on the CPU, for the random calls of tests/operators."""

import os

import numpy as np
import operator_calls
import pytest
import strategies
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_every_op import strided

import penstock
from penstock import _core

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

DRAWN = [name for name in _core.operators(True) if name in strategies.CASES]
# Each call has its own kernel: the emulated GPU takes a second to compile one.
COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "20" if os.environ.get("PENSTOCK_TEST_GPU") == "real" else "2"))
short = settings(
    max_examples=COUNT,
    deadline=None,
    derandomize="PENSTOCK_TEST_COUNT" not in os.environ,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)


@pytest.mark.parametrize("name", DRAWN)
def test_gpu_equals_cpu(name):
    @short
    @given(strategies.case_of(name), st.booleans())
    def check(case, inputs_on_gpu):
        want = operator_calls.call(name, case)
        if case.inputs and inputs_on_gpu:
            got = operator_calls.call(name, case, moved=penstock.Batch.gpu)
        else:
            got = operator_calls.call(name, case, device="gpu")
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a.view(np.uint8) if a.dtype.kind == "V" else a, b)
            assert bytes_of(a) == bytes_of(b)

    check()


@pytest.mark.parametrize(
    "name", [n for n in DRAWN if (s := _core.operator_schema(n))["family"] == "whole" and s["max_inputs"]]
)
def test_memory_that_is_not_contiguous(name, monkeypatch):
    """Some operators read inputs on the host: they get them without gaps there, too."""
    monkeypatch.setenv("PENSTOCK_KERNELS", "generic")

    @settings(short, max_examples=2 + COUNT // 3)
    @given(strategies.case_of(name), st.integers(0, 99))
    def check(case, seed):
        want = operator_calls.call(name, case)
        case.inputs = [[strided(x, seed + i) for i, x in enumerate(samples)] for samples in case.inputs]
        got = operator_calls.call(name, case, device="gpu")
        assert [bytes_of(a) for a in got] == [bytes_of(b) for b in want]

    check()


def bytes_of(values):
    """The sign and payload of a NaN that arithmetic makes are the hardware's: IEEE 754 leaves them open (6.3)."""
    return (
        (np.where(np.isnan(values), np.nan, values) if values.dtype.kind == "f" else values)
        .astype(values.dtype)
        .tobytes()
    )
