# SPDX-License-Identifier: Apache-2.0
"""Connected regions: OpenCV's labels and statistics, in the order of their first pixels."""

import cv2
import numpy as np
import pytest
from operators import regions as ref

import penstock
from penstock import fn


def blobs(seed, height, width, share=0.5):
    rng = np.random.default_rng(seed)
    return (cv2.GaussianBlur(rng.random((height, width)), (0, 0), 1.5) > np.float64(share)).astype(np.uint8)


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("size", [(1, 1), (1, 40), (37, 1), (64, 65), (240, 321)])
def test_opencv_finds_the_same(connectivity, size):
    mask = blobs(connectivity, *size)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=connectivity)
    got, rows = (np.array(v) for v in fn.label(mask, connectivity=connectivity, statistics=True))
    assert got.max(initial=0) == count - 1 and rows.shape == (count - 1, 5)
    pairs = np.unique(np.stack([labels.ravel(), got.ravel()], 1), axis=0)
    assert len(pairs) == len(np.unique(labels))  # the same regions by other numbers
    order = dict(pairs.tolist())
    for k in range(1, count):
        assert rows[order[k] - 1].tolist() == stats[k].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_values_and_sizes(seed):
    rng = np.random.default_rng(seed)
    xs = [rng.integers(0, 3, (rng.integers(1, 40), rng.integers(1, 40))).astype(np.int16) for _ in range(3)]
    given = {"by_value": bool(seed % 2), "min_size": seed, "connectivity": 4 + 4 * (seed // 2), "background": 1}
    labels, rows = fn.label(xs, statistics=True, **given)
    for i, x in enumerate(xs):
        want = ref.regions(x, **given)
        np.testing.assert_array_equal(labels[i], want[0])
        np.testing.assert_array_equal(rows[i], want[1])
    alone = fn.label(xs, **given)
    assert all(np.array_equal(a, b) for a, b in zip(alone, labels))


def test_spirals_and_combs():
    spiral = np.zeros((41, 41), np.uint8)
    for k in range(0, 20, 2):
        cv2.rectangle(spiral, (k, k), (40 - k, 40 - k), 1)
        spiral[k + 2, k : k + 2] = 1
        spiral[k + 1, k] = 0
    comb = np.tile(np.uint8([[1, 0]]), (30, 20))
    comb[-1] = 1
    for x in (spiral, comb, comb[::-1].copy(), np.ones((30, 70), np.uint8), np.zeros((30, 70), np.uint8)):
        for connectivity in (4, 8):
            np.testing.assert_array_equal(
                fn.label(x, connectivity=connectivity), ref.regions(x, connectivity=connectivity)[0]
            )


def test_no_pixels():
    labels, rows = fn.label(np.zeros((0, 5), np.uint8), statistics=True)
    assert labels.shape == (0, 5) and rows.shape == (0, 5)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: fn.label(np.zeros((4, 5), np.float32)), "a mask must be bool or integers, got float32"),
        (lambda: fn.label(np.zeros((4, 4, 3), np.uint8)), "a mask has one channel and no frames"),
        (lambda: fn.label(np.zeros((4, 4), np.uint8), connectivity=6), "connectivity must be 4 or 8, got 6"),
        (lambda: fn.label(np.zeros((4, 4), np.uint8), min_size=-1), "min_size must be"),
        (lambda: fn.label(penstock.tensor(np.zeros((2, 4, 4), np.uint8), "FHW")), "a mask has one channel"),
    ],
)
def test_what_does_not_fit(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
