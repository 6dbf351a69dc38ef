# SPDX-License-Identifier: Apache-2.0
"""The random programs of test_control_programs.py over values on a GPU."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from test_control_programs import check_program, programs

from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

# Each expression may be a kernel of its own, which the emulated GPU takes a second to compile.
COUNT = int(os.environ.get("PENSTOCK_TEST_PROGRAMS", "60" if os.environ.get("PENSTOCK_TEST_GPU") == "real" else "3"))
SEED = os.environ.get(
    "PENSTOCK_TEST_SEED"
)  # other programs than each run's own, so that several processes share the work


@seeded(int(SEED or 0))
@settings(
    max_examples=COUNT,
    deadline=None,
    derandomize=SEED is None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(programs(), st.integers(0, 2**32 - 1))
def test_random_programs(text, seed):
    check_program(text, seed, "gpu")


COUNTS = [np.int32(v) for v in (0, 3, 1, 4)]
VALUES = [np.arange(4, dtype=np.float32) - i for i in range(4)]


def while_loop(n, x):
    """What the loop carries is on the GPU; the body's index list and its condition are read on the host, in each trip."""
    while n > 0:
        n = n - 1
        if n == 1:
            x[[0, 2]] = 7.0
        x = x + 1.0
    return n, x


def for_loop(n, x):
    for k in range(n):
        x[x > 1.0] = 0.5
        x = x * 2.0
    return n, x


def set_for_some(n, x):
    """A value that is returned early is set only for some samples, and copied to where the others' is."""
    if n > 2:
        y = x
        y[[1]] = 3.0
        return n, y
    return n + 1, x - 1.0


@pytest.mark.parametrize("program", [while_loop, for_loop, set_for_some])
def test_loops_carry_values_of_a_gpu(program):
    def given(device):
        @pipeline_def(batch_size=4, num_threads=2, prefetch_queue_depth=1, device_id=0)
        def pipe():
            values = [
                fn.external_source(lambda: COUNTS, dtype=types.INT32, ndim=0),
                fn.external_source(lambda: VALUES, dtype=types.FLOAT, ndim=1),
            ]
            return program(*(v.gpu() if device == "gpu" else v for v in values))

        return [[np.array(t.numpy()) for t in b.as_cpu()] for b in pipe().run()]

    for on_cpu, on_gpu in zip(given("cpu"), given("gpu"), strict=True):
        for a, b in zip(on_cpu, on_gpu, strict=True):
            np.testing.assert_array_equal(b, a)
