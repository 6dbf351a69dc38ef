# SPDX-License-Identifier: Apache-2.0
"""match finds what OpenCV's brute-force matcher finds."""

import cv2
import numpy as np
import pytest
from operators import descriptors as ref

import penstock
from penstock import fn

F = np.float32
NORMS = {"l1": cv2.NORM_L1, "l2": cv2.NORM_L2, "hamming": cv2.NORM_HAMMING}


def opencvs(source, target, norm, count=1, cross_check=False):
    matcher = cv2.BFMatcher(NORMS[norm], crossCheck=cross_check)
    found = [m for row in matcher.knnMatch(source, target, count) for m in row]
    pairs = np.array([(m.queryIdx, m.trainIdx) for m in found]).reshape(-1, 2)
    return pairs, F([m.distance for m in found])


@pytest.mark.parametrize("norm, dtype", [("l1", "f4"), ("l1", "u1"), ("l2", "f4"), ("l2", "u1"), ("hamming", "u1")])
@pytest.mark.parametrize("given", [{}, {"count": 3}, {"cross_check": True}])
def test_matches_are_opencvs(norm, dtype, given):
    rng = np.random.default_rng(1)
    for n, m, numbers in ((1, 1, 1), (5, 3, 7), (64, 33, 128), (90, 17, 32), (20, 20, 300), (8, 130, 600)):
        source, target = ((rng.random((k, numbers)) * 255).astype(dtype) for k in (n, m))
        pairs, distances = fn.match(source, target, norm=norm, **given)
        want, apart = opencvs(source, target, norm, **given)
        # OpenCV adds in another order: rows whose distances differ by less are exchanged.
        assert np.array(pairs).shape == want.shape
        assert (np.array(pairs) == want).mean() > 0.99
        np.testing.assert_allclose(distances, apart, rtol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_equal_distances_count_by_their_place(seed):
    rng = np.random.default_rng(seed)
    source, target = (rng.integers(0, 3, (n, 4)).astype(F) for n in (40, 35))
    for given in ({"count": 1}, {"count": 7}, {"cross_check": True}, {"norm": "l1", "count": 35}):
        pairs, distances = fn.match(source, target, **given)
        want, apart = ref.match(source, target, **given)
        np.testing.assert_array_equal(pairs, want)
        np.testing.assert_allclose(distances, apart, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4"])
def test_bits_of_wide_integers(dtype):
    rng = np.random.default_rng(3)
    for numbers in (1, 3, 8, 9):
        source, target = (
            rng.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), (n, numbers)).astype(dtype) for n in (9, 21)
        )
        pairs, distances = fn.match(source, target, norm="hamming")
        want, apart = ref.match(source, target, norm="hamming")
        np.testing.assert_array_equal(pairs, want)
        np.testing.assert_array_equal(distances, F(apart))


def test_many_bytes_have_exact_distances():
    source, target = np.full((1, 8192), 255, np.uint8), np.zeros((2, 8192), np.uint8)
    target[1] = 1
    assert fn.match(source, target, norm="l1")[1].tolist() == [8192 * 254]
    assert fn.match(source, target)[1].tolist() == [F(np.sqrt(F(8192 * 254**2)))]


def test_what_is_no_number_is_infinitely_far():
    source, target = F([[np.nan, 0], [1, 1]]), F([[0, np.inf], [1, 2], [np.nan, 3]])
    pairs, distances = fn.match(source, target, count=3)
    assert pairs.tolist() == [[0, 0], [0, 1], [0, 2], [1, 1], [1, 0], [1, 2]]
    assert distances.tolist() == [np.inf, np.inf, np.inf, 1, np.inf, np.inf]


def test_batches_of_few_rows_and_of_none():
    rng = np.random.default_rng(0)
    sources, targets = ([rng.random((n, 6)).astype(F) for n in each] for each in ([3, 0, 5, 0], [4, 2, 0, 0]))
    for given in ({"count": 2}, {"cross_check": True}):
        pairs, distances = fn.match(sources, targets, **given)
        for s, t, p, d in zip(sources, targets, pairs, distances):
            want, apart = ref.match(s, t, **given)
            np.testing.assert_array_equal(p.numpy(), want)
            np.testing.assert_allclose(d.numpy(), apart, rtol=1e-5)
    view = rng.random((9, 12)).astype(F)[::2, ::3]
    np.testing.assert_array_equal(fn.match(view, view[::-1])[0], fn.match(view.copy(), view[::-1].copy())[0])


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: fn.match(x, x, norm="l3"), ValueError, "norm must be l1, l2 or hamming, got 'l3'"),
        (lambda x: fn.match(x, x, count=0), ValueError, "count"),
        (lambda x: fn.match(x, x, count=2, cross_check=True), ValueError, "cross_check needs count=1, got 2"),
        (lambda x: fn.match(x, x[:, :2]), ValueError, "of the source have 3 numbers, those of the target 2"),
        (lambda x: fn.match(x, x.astype(np.uint8)), TypeError, "of the source are float32, those of the target uint8"),
        (
            lambda x: fn.match(x, x, norm="hamming"),
            TypeError,
            'uint8, uint16 or uint32 for norm="hamming", got float32',
        ),
        (lambda x: fn.match(x.astype("f8"), x.astype("f8")), TypeError, "uint8 or float32"),
        (lambda x: fn.match(x[0], x[0]), TypeError, "must have the shape \\(N, D\\), got 1 dimensions"),
        (
            lambda x: fn.match(np.zeros((1, 9000), F), np.zeros((1, 9000), F)),
            ValueError,
            "at most 8192 numbers, got 9000",
        ),
    ],
)
def test_what_does_not_fit(call, error, words):
    with pytest.raises(error, match=words):
        call(np.ones((2, 3), F))


def test_a_pipeline_keeps_good_matches():
    @penstock.pipeline_def(batch_size=1, num_threads=1)
    def pipe(source, target):
        a, b = fn.external_source(lambda: [source], ndim=2), fn.external_source(lambda: [target], ndim=2)
        return fn.match(a, b, cross_check=True)

    rng = np.random.default_rng(4)
    target = rng.random((30, 16)).astype(F)
    order = rng.permutation(30)[:12]
    pairs, distances = pipe(target[order] + F(0.01) * rng.random((12, 16)).astype(F), target).run()
    np.testing.assert_array_equal(pairs[0].numpy()[:, 1], order)
    assert distances[0].numpy().max() < 0.1
