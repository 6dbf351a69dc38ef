# SPDX-License-Identifier: Apache-2.0
"""Random programs of all operators: as calls and as pipelines, with debug=True, fused and step by step, resumed from a checkpoint,
on the CPU and on a GPU. All give the same bytes or the same error."""

import os

import pytest
from device_programs import Writer
from device_runs import difference, runs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from penstock import _core

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

LONG = "PENSTOCK_TEST_COUNT" in os.environ
COUNT = int(os.environ.get("PENSTOCK_TEST_PROGRAMS", "3000" if LONG else "30"))
SEED = os.environ.get("PENSTOCK_TEST_SEED")  # other programs, so that several processes share the work


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_random_programs(monkeypatch):
    monkeypatch.setenv("PENSTOCK_KERNELS", "generic")  # a kernel of its own for each stage takes a second to compile

    @seeded(int(SEED or 0))
    @settings(
        max_examples=COUNT,
        deadline=None,
        derandomize=SEED is None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data(), st.integers(0, 41))
    def check(data, number):
        program = Writer(data.draw, runs).written()
        found = program and difference(program, number)
        assert not found, f"{found}\n{program.size} samples\n{program.text()}"

    check()
