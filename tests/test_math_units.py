# SPDX-License-Identifier: Apache-2.0
"""The functions of `penstock.math` in float32 beside float64: every float in `make test-long`, samples of all else."""

import os

import numpy as np
import pytest

from penstock import _core, types

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


SPECIAL = np.float32([0, -0.0, -1.5, np.inf, -np.inf, np.nan, 1e-40, 3e38, 1e6])
RUN_OF_LOOP = 256  # src/operator/pixel_loop.inc.h


def one_by_one(ours, *operands):
    return np.concatenate([np.asarray(ours(*(o[i : i + 1] for o in operands))) for i in range(len(operands[0]))])


@pytest.mark.parametrize("name", ["log", "log2", "log10", "sin", "cos", "tan"])
@pytest.mark.parametrize("count", [1, 255, 257, 3 * RUN_OF_LOOP + 5])
def test_special_values_leave_their_neighbors(name, count):
    """A run of numbers without special cases takes a loop of its own: the bytes are those of each number alone."""
    random = np.random.default_rng(count)
    ours = _core.operator_function(f"_math.{name}")
    x = random.uniform(0.1, 5, count).astype(np.float32)
    x[random.integers(0, count, 3)] = random.choice(SPECIAL, 3)
    assert np.asarray(ours(x)).tobytes() == one_by_one(ours, x).tobytes()


@pytest.mark.parametrize("count", [1, 255, 257, 3 * RUN_OF_LOOP + 5])
def test_special_powers_leave_their_neighbors(count):
    random = np.random.default_rng(count)
    ours = _core.operator_function("_math.pow")
    x, y = random.uniform(0.1, 5, (2, count)).astype(np.float32)
    for operand in (x, y):
        operand[random.integers(0, count, 2)] = random.choice(SPECIAL, 2)
    assert np.asarray(ours(x, y)).tobytes() == one_by_one(ours, x, y).tobytes()
    for constant in (-0.5, 2.0, 0.0, 1e30):
        beside = np.full(count, constant, np.float32)
        for ends, operands in (({"right": constant}, (x, beside)), ({"left": constant}, (beside, x))):
            side = next(iter(ends))
            got = np.asarray(ours(x, **ends, **{f"{side}_type": types.FLOAT}))
            assert got.tobytes() == one_by_one(ours, *operands).tobytes(), (side, constant)


# x, and y up to most / |log2(x)|: all results, also subnormal ones, with the largest logarithms of each kind.
POWERS = [(10, 15), (0.5, 300), (0.2, 800), (0.15, 1100), (0.1, 1600), (0.01, 15000), (126, 1.4)]


@pytest.mark.parametrize(("base", "exponent"), POWERS)
def test_powers(base, exponent):
    random = np.random.default_rng(7)
    ours = _core.operator_function("_math.pow")
    for _ in range(60 if STEP == 1 else 1):
        x = np.exp2(random.uniform(-base, base, 1 << 18)).astype(np.float32)
        y = random.uniform(-exponent, exponent, 1 << 18).astype(np.float32)
        with np.errstate(all="ignore"):
            assert units(np.asarray(ours(x, y)), np.power(x.astype(np.float64), y.astype(np.float64))) <= 1.5
