# SPDX-License-Identifier: Apache-2.0
"""One call of an operator as data: run it at once, compare its result with the exact one."""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np
from operators.exact import to_dtype

import penstock
from penstock import _core


@dataclass
class Case:
    """One call: inputs[k][i] is sample i of input k; `expected(i)` its exact result, before rounding."""

    inputs: list
    layouts: list
    constants: dict = field(default_factory=dict)
    per_sample: dict = field(default_factory=dict)
    expected: Callable = None
    dtype: str = ""  # of the result
    error: float = 1e-5  # allowed, as a part of the largest value that takes part
    largest: float = 0.0  # such a value beyond the inputs and the result
    alone: dict = field(default_factory=dict)  # arguments with which a sample by itself gives the same as in the batch
    size: int = 0  # of the batch, for operators without inputs

    def __post_init__(self):
        self.size = self.size or len(self.inputs[0])


def values(dtype, shape, seed):
    """Random values: the whole range of integers of 8 and 16 bits, mostly moderate ones of the others."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype == bool:
        return rng.random(shape) < 0.5
    if dtype.kind == "f":
        return (rng.uniform(-1, 1, shape) * rng.choice([1, 255, 3000])).astype(dtype)
    info = np.iinfo(dtype)
    if dtype.itemsize > 2 and rng.random() < 0.8:
        return rng.integers(max(info.min, -100000), 100000, shape).astype(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def per_sample(items, info):
    """One value a sample as a Batch of the type that the argument wants."""
    kind = np.float32 if "float" in info["type"] else np.int32
    return penstock.batch([np.asarray(v, kind) for v in items])


def call(name, case, samples=None, seed=None, moved=lambda batch: batch, **more):
    """The immediate call on all samples, or on the listed ones, with inputs that were moved; a list of arrays."""
    samples = range(case.size) if samples is None else samples
    function = _core.operator_function(name)
    info = {a["name"]: a for a in _core.operator_schema(name)["args"]}
    inputs = [
        moved(penstock.batch([x[i] for i in samples], layout=layout)) for x, layout in zip(case.inputs, case.layouts)
    ]
    keywords = dict(case.constants, **more)
    keywords.update({k: per_sample([v[i] for i in samples], info[k]) for k, v in case.per_sample.items()})
    if not inputs and not case.per_sample:
        keywords["batch_size"] = len(samples)
    if seed is not None:
        keywords["seed"] = seed
    out = function(*inputs, **keywords)
    out = out[0] if isinstance(out, tuple) else out
    return [np.array(t.numpy()) for t in out.cpu()]


def compare(got, exact, case, i):
    """Fails if the result is not the exact one, rounded, within the case's error."""
    exact = np.asarray(exact)
    assert (got.dtype, got.shape) == (np.dtype(case.dtype), exact.shape)
    if not got.size:
        return
    if exact.dtype.kind in "iub" or exact.dtype == got.dtype and case.error == 0:
        np.testing.assert_array_equal(got, exact if exact.dtype == got.dtype else to_dtype(exact, got.dtype))
        return
    # A result that only moves elements is exact, whatever its type is.
    if got.dtype == exact.dtype and np.array_equal(got, exact, equal_nan=got.dtype.kind == "f"):
        return
    inputs = [x[i].astype(np.float64) for x in case.inputs if x[i].size]
    finite = [np.abs(x[np.isfinite(x)]) for x in inputs]
    largest = max([case.largest, 1.0] + [float(x.max()) for x in finite if x.size])
    allowed = case.error * largest
    if got.dtype == bool:  # a sum of weights that float32 rounds to 0
        wrong = got != to_dtype(exact, bool)
        assert (np.abs(exact[wrong].astype(np.float64)) < allowed).all()
        return
    with np.errstate(over="ignore", invalid="ignore"):
        exact = exact.astype(np.float64)
        if got.dtype.kind == "f":
            limit = float(np.finfo(got.dtype).max)
            same = (got.astype(np.float64) == exact) | (np.isnan(got) & np.isnan(exact))
            same |= (np.abs(exact) > limit * 0.999) & (np.abs(got.astype(np.float64)) > limit * 0.99)
            allowed = allowed + np.where(np.isfinite(exact), np.abs(exact), 0) * float(np.finfo(got.dtype).eps)
            difference = np.where(same, 0, np.abs(got.astype(np.float64) - exact))
        else:
            info = np.iinfo(got.dtype)
            exact = np.clip(np.nan_to_num(exact, nan=0.0), float(info.min), float(info.max))
            rounded = to_dtype(exact, got.dtype)
            near_half = np.abs(np.abs(exact - np.floor(exact)) - 0.5) < max(1e-3, allowed)
            difference = np.where(
                near_half,
                np.abs(got.astype(np.float64) - exact) - 0.5,
                np.abs(got.astype(np.float64) - rounded.astype(np.float64)),
            )
            if allowed < 0.4:
                allowed = np.where(near_half, max(1e-3, allowed), 0.0)
    worst = np.unravel_index(np.argmax(np.nan_to_num(difference - allowed, nan=np.inf)), got.shape)
    assert (difference <= allowed).all(), (
        f"sample {i}, element {worst}: {got[worst]} where {exact[worst]} is exact "
        f"(difference {difference[worst]}, largest value {largest})"
    )
