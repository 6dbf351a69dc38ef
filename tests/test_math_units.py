# SPDX-License-Identifier: Apache-2.0
"""The functions of `penstock.math` in float32 beside float64: every float in `make test-long`, samples of all else."""

import os

import numpy as np
import pytest

from penstock import _core

# Largest errors, in units in the last place: docs/decisions/0040-float32-functions.md.
UNITS = {
    "sinh": (np.sinh, 0.9),
    "cosh": (np.cosh, 0.9),
    "tanh": (np.tanh, 1.1),
    "asinh": (np.arcsinh, 1.3),
    "acosh": (np.arccosh, 1.5),
    "atanh": (np.arctanh, 1.0),
    "sin": (np.sin, 1.2),
    "cos": (np.cos, 1.2),
    "tan": (np.tan, 1.5),
    "asin": (np.arcsin, 1.1),
    "acos": (np.arccos, 1.1),
    "atan": (np.arctan, 1.4),
    "cbrt": (np.cbrt, 0.9),
    "exp": (np.exp, 1.0),
    "log": (np.log, 1.0),
    "log2": (np.log2, 1.4),
    "log10": (np.log10, 1.2),
}
STEP = 1 if int(os.environ.get("PENSTOCK_TEST_COUNT", "1")) >= 300 else 40009
RUN, END = 1 << 23, 0x7F800001  # the bits after the last: infinity


def units(got, exact):
    rounded = exact.astype(np.float32)
    finite = np.isfinite(rounded) & np.isfinite(got)
    assert np.array_equal(got[~finite], rounded[~finite], equal_nan=True)
    unit = np.spacing(np.abs(rounded[finite])).astype(np.float64)
    return (np.abs(got[finite] - exact[finite]) / unit).max(initial=0)


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("sign", [1, -1])
def test_every_float(name, sign):
    exact, most = UNITS[name]
    ours = _core.operator_function(f"_math.{name}")
    for begin in range(0, END, RUN if STEP == 1 else END):
        x = np.arange(begin, min(begin + RUN, END) if STEP == 1 else END, STEP, dtype=np.uint32).view(np.float32) * sign
        with np.errstate(all="ignore"):
            assert units(np.asarray(ours(x)), exact(x.astype(np.float64))) <= most, (name, begin, sign)
