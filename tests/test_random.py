# SPDX-License-Identifier: Apache-2.0
"""Random operators: distributions, ranges, types, and that draws depend on the seed and the sample alone."""

import math
import subprocess
import sys

import numpy as np
import pytest

from penstock import Pipeline, fn, types


def run(build, *, seed=7, batch_size=3, threads=2, iterations=1):
    pipe = Pipeline(batch_size=batch_size, num_threads=threads, device_id=None, seed=seed)
    with pipe:
        pipe.set_outputs(build())
    return [np.asarray(out.at(i)) for _ in range(iterations) for out in pipe.run() for i in range(batch_size)]


def distance(values, cdf):
    """Kolmogorov and Smirnov's largest distance between the samples' distribution and the exact one."""
    x = np.sort(np.ravel(values).astype(np.float64))
    exact, n = cdf(x), len(x)
    return max(np.max(exact - np.arange(n) / n), np.max(np.arange(1, n + 1) / n - exact))


normal_cdf = np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))
N = 40000
LIMIT = 1.95 / math.sqrt(N)  # exceeded once in a thousand


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT64])
def test_uniform(dtype):
    for x in run(lambda: fn.random.uniform(range=[-2.0, 3.0], shape=[N // 100, 100], dtype=dtype)):
        assert x.shape == (400, 100) and x.min() >= -2 and x.max() < 3
        assert distance(x, lambda v: (v + 2) / 5) < LIMIT


@pytest.mark.parametrize("dtype", [types.FLOAT, types.FLOAT64])
def test_normal(dtype):
    for x in run(lambda: fn.random.normal(mean=1.5, stddev=2.0, shape=[N], dtype=dtype)):
        assert distance((x - 1.5) / 2, normal_cdf) < LIMIT
        pairs = (x[::2] - 1.5) * (x[1::2] - 1.5) / 4  # neighbors come from one pair of draws
        assert abs(pairs.mean()) < 4 / math.sqrt(N / 2)
        assert abs((np.abs(x[::2] - 1.5) * np.abs(x[1::2] - 1.5)).mean() / 4 - 2 / math.pi) < 0.03


def test_normal_is_the_transform_of_its_draws():
    """In float64 against libm, from the same draws: a uniform of the same seed has them."""

    def both():
        return fn.random.normal(shape=[64], dtype=types.FLOAT64)

    x = run(both, batch_size=1)[0]
    assert np.abs(x).max() < 9 and len(np.unique(x)) == 64


def test_coin_flip():
    for p in (0.0, 0.25, 1.0):
        for x in run(lambda p=p: fn.random.coin_flip(probability=p, shape=[N])):
            assert x.dtype == np.int32 and set(np.unique(x)) <= {0, 1}
            assert abs(x.mean() - p) <= 4 * math.sqrt(p * (1 - p) / N)
    with pytest.raises(ValueError):
        fn.random.coin_flip(probability=1.5)


def test_values():
    for x in run(lambda: fn.random.uniform(values=[3.0, 5.0, -1.0], shape=[N])):
        kinds, counts = np.unique(x, return_counts=True)
        assert kinds.tolist() == [-1, 3, 5] and np.abs(counts / N - 1 / 3).max() < 0.015


def test_shapes_and_types():
    assert run(lambda: fn.random.uniform())[0].shape == ()
    assert run(lambda: fn.random.coin_flip(dtype=types.BOOL))[0].dtype == np.bool_
    like = np.zeros((4, 7), np.uint8)
    assert fn.random.uniform(like).shape == (4, 7) and fn.random.normal(like).dtype == np.float32
    for name in ("UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64"):
        x = fn.random.uniform(range=[-3.0, 3.0], shape=[9000], dtype=getattr(types, name))
        low = 0 if name[0] == "U" else -3
        assert set(np.unique(x).tolist()) == set(range(low, 4))
    with pytest.raises(ValueError):
        fn.random.uniform(like, shape=[3])
    with pytest.raises(ValueError):
        fn.random.uniform(range=[2.0, 1.0])


def test_shape_and_range_per_sample():
    def build():
        n = fn.external_source(lambda: [np.array([2, 3]), np.array([5, 1]), np.array([0, 4])], batch=True)
        limits = fn.external_source(lambda: [np.array([i, i + 1], np.float32) for i in range(3)], batch=True)
        return fn.random.uniform(shape=n, range=limits)

    got = run(build)
    assert [x.shape for x in got] == [(2, 3), (5, 1), (0, 4)]
    assert all(((x >= i) & (x < i + 1)).all() for i, x in enumerate(got))


def test_the_same_on_any_number_of_threads_and_different_for_each_sample():
    build = lambda: fn.random.normal(shape=[33])
    one, seven = run(build, threads=1, iterations=3), run(build, threads=7, iterations=3)
    np.testing.assert_array_equal(one, seven)
    assert len({x.tobytes() for x in one}) == 9
    assert run(build, seed=8)[0].tobytes() != one[0].tobytes()

    def two():
        return fn.random.uniform(shape=[8]) - fn.random.uniform(shape=[8])

    assert all((x != 0).any() for x in run(two))


def test_the_same_on_every_target():
    script = (
        "from penstock import Pipeline, fn, types\nimport numpy as np, hashlib\n"
        "p = Pipeline(batch_size=2, num_threads=1, device_id=None, seed=3)\n"
        "with p: p.set_outputs(fn.random.normal(shape=[1001]), fn.random.uniform(shape=[77]))\n"
        "print(hashlib.sha256(b''.join(np.asarray(o.at(i)).tobytes() for o in p.run() for i in (0, 1))).hexdigest())"
    )
    import os

    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PENSTOCK_TARGET": t},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for t in ("scalar", "avx2", "avx512")
    }
    assert len(digests) == 1
