# SPDX-License-Identifier: Apache-2.0
"""What holds for every operator of the registry, whatever it does: random calls from tests/operators."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import operator_calls
import operators
import pytest
import readers
import strategies
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import penstock
from penstock import Pipeline, _core, fn

REGISTERED = _core.operators(True)
READERS = {kind.name for kind in readers.kinds().values()}
DRAWN = [name for name in REGISTERED if name in strategies.CASES]
COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "20"))
short = settings(
    max_examples=COUNT,
    deadline=None,
    derandomize="PENSTOCK_TEST_COUNT" not in os.environ,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)


def same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert x.dtype == y.dtype and x.shape == y.shape, (x.dtype, y.dtype, x.shape, y.shape)
        assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("name", REGISTERED)
def test_operator_has_random_calls_and_a_reference(name):
    if name in strategies.NO_ARRAYS or name in READERS:
        return
    assert not name.startswith("readers."), f"no file in tests/readers writes and reads files of {name}"
    if name in strategies.RANDOM:
        assert _core.operator_schema(name)["random"]
        return
    assert name in strategies.CASES, f"no file in tests/operators draws calls of {name}"
    family, referred = operators.reference_of(name)
    assert referred == "numpy" or hasattr(family, referred), f"{family.__file__} has no {referred}()"
    assert _core.operator_schema(name)["oracle"], f"{name} names no oracle"


@pytest.mark.parametrize("name", DRAWN)
def test_equals_the_reference(name):
    @short
    @given(strategies.case_of(name))
    def check(case):
        for i, got in enumerate(operator_calls.call(name, case)):
            operator_calls.compare(got, case.expected(i), case, i)

    check()


# Where each element of the result comes from one of the inputs, so that the others do not matter to it.
ELEMENT_BY_ELEMENT = [
    n
    for n in DRAWN
    if n
    in {
        "brightness_contrast",
        "brightness",
        "contrast",
        "cast",
        "copy",
        "flip",
        "transpose",
        "crop",
        "slice",
        "pad",
        "erase",
        "cat",
        "stack",
        "reshape",
        "squeeze",
        "expand_dims",
        "_subscript",
        "_add",
        "_sub",
        "_mul",
        "_neg",
        "_pos",
        "_lt",
        "_ge",
        "_eq",
        "_ne",
    }
]


@pytest.mark.parametrize("name", ELEMENT_BY_ELEMENT)
def test_nan_and_infinity(name):
    """They stay what they are where the result is a float; an integer is 0 for NaN and the nearest end for infinity."""

    @short
    @given(strategies.case_of(name), st.integers(0, 2**32 - 1))
    def check(case, seed):
        rng = np.random.default_rng(seed)
        for samples in case.inputs:
            for x in samples:
                if x.dtype.kind == "f" and x.size:
                    x[rng.random(x.shape) < 0.3] = rng.choice([np.nan, np.inf, -np.inf])
        with np.errstate(all="ignore"):
            for i, got in enumerate(operator_calls.call(name, case)):
                operator_calls.compare(got, case.expected(i), case, i)

    check()


@pytest.mark.parametrize("name", DRAWN)
def test_a_batch_is_its_samples(name):
    """Bit for bit; nothing depends on the neighbors, and no input is written to."""

    @short
    @given(strategies.case_of(name))
    def check(case):
        before = [[x.tobytes() for x in samples] for samples in case.inputs]
        together = operator_calls.call(name, case)
        for i in range(case.size):
            same(operator_calls.call(name, case, [i], **case.alone), together[i : i + 1])
        assert before == [[x.tobytes() for x in samples] for samples in case.inputs]

    check()


def piped(name, case):
    """The operator in a pipeline: inputs and per-sample arguments come from external sources. A function gives the same."""
    info = {a["name"]: a for a in _core.operator_schema(name)["args"]}
    pipe = Pipeline(batch_size=case.size, num_threads=2, seed=1, prefetch_queue_depth=1)
    batches = []

    def source(batch, layout=None):
        batches.append(batch)
        return fn.external_source(lambda: batch, layout=layout or None)

    with pipe:
        inputs = [source(penstock.batch(x, layout=layout), layout) for x, layout in zip(case.inputs, case.layouts)]
        keywords = {k: source(operator_calls.per_sample(v, info[k])) for k, v in case.per_sample.items()}
        out = _core.operator_function(name)(*inputs, **case.constants, **keywords)
        pipe.set_outputs(out[0] if isinstance(out, list) else out)
    result = [np.array(t.numpy()) for t in pipe.run()[0]]
    same([np.array(t.numpy()) for t in pipe.compile()(*batches, batch_size=case.size)[0]], result)
    pipe.close()
    return result


@pytest.mark.parametrize("name", DRAWN)
def test_a_pipeline_gives_what_a_call_gives(name):
    @settings(short, max_examples=max(5, COUNT // 3))
    @given(strategies.case_of(name))
    def check(case):
        same(piped(name, case), operator_calls.call(name, case))

    check()


def strided(x, seed):
    """The same values in memory that is not contiguous."""
    if not x.ndim:
        return x
    rng = np.random.default_rng(seed)
    wide = np.zeros([2 * n for n in x.shape], x.dtype)
    steps = rng.choice([-2, 1, 2], x.ndim)
    view = wide[tuple(np.s_[::2] if s == 2 else np.s_[:n] if s == 1 else np.s_[::-2] for s, n in zip(steps, x.shape))]
    view[...] = x
    if x.ndim > 1 and rng.random() < 0.5:
        return np.moveaxis(np.moveaxis(view, 0, -1).copy(), -1, 0)
    return view


@pytest.mark.parametrize("name", [n for n in DRAWN if _core.operator_schema(n)["max_inputs"]])
def test_memory_that_is_not_contiguous(name):
    @settings(short, max_examples=max(5, COUNT // 3))
    @given(strategies.case_of(name), st.integers(0, 99))
    def check(case, seed):
        expected = operator_calls.call(name, case)
        case.inputs = [[strided(x, seed + i) for i, x in enumerate(samples)] for samples in case.inputs]
        same(operator_calls.call(name, case), expected)

    check()


@pytest.mark.parametrize("name", [n for n in REGISTERED if n in strategies.RANDOM])
def test_random_numbers_follow_the_seed(name):
    function, keywords = _core.operator_function(name), strategies.RANDOM[name]
    draw = lambda seed, n=4: [np.array(t.numpy()) for t in function(batch_size=n, shape=[1000], seed=seed, **keywords)]
    same(draw(5), draw(5))
    same(draw(5)[:2], draw(5, 2))
    assert draw(5)[0].tobytes() != draw(6)[0].tobytes() and draw(5)[0].tobytes() != draw(5)[1].tobytes()


def test_random_windows_follow_the_seed():
    xs = [operator_calls.values("uint8", (40, 50, 3), k) for k in range(3)]
    crop = lambda seed, n=3: [
        np.array(t.numpy())
        for t in fn.random_resized_crop(penstock.batch(xs[:n], layout="HWC"), size=[9, 9], seed=seed)
    ]
    same(crop(3), crop(3))
    same(crop(3)[:1], crop(3, 1))
    assert crop(3)[0].tobytes() != crop(4)[0].tobytes()


# ------------------------------------------------------------------------------------------------- the CPU's targets
def digests(count):
    """operator -> digests of a fixed set of results, for the target that PENSTOCK_TARGET names."""
    found = {}
    for name in DRAWN:
        results = found[name] = []

        @settings(
            max_examples=count,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(strategies.case_of(name))
        def record(case):
            digest = hashlib.sha256()
            for array in operator_calls.call(name, case):
                digest.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
            results.append(digest.hexdigest())

        record()
    return found


def cpu_flags():
    with open("/proc/cpuinfo") as file:
        return next((line.split() for line in file if line.startswith("flags")), [])


def digests_on(target):
    text = subprocess.run(
        [sys.executable, os.path.abspath(__file__), str(COUNT)],
        env=dict(os.environ, PENSTOCK_TARGET=target),
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    ).stdout
    return json.loads(text)


def test_targets_agree():
    needs = {"avx2": ["avx2", "fma"], "avx512": ["avx512f", "avx512bw", "avx512dq", "avx512vl"]}
    present = [target for target, flags in needs.items() if set(flags) <= set(cpu_flags())]
    if not present:
        pytest.skip("machine: the CPU lacks avx2")
    scalar = digests_on("scalar")
    for target in present:
        found = digests_on(target)
        assert [n for n in DRAWN if scalar[n] != found[n]] == [], target


if __name__ == "__main__":
    json.dump(digests(int(sys.argv[1])), sys.stdout)
