# SPDX-License-Identifier: Apache-2.0
"""Where the pixels of fn.jitter come from: every distance as often, and the axes apart."""

import numpy as np
import pytest

from penstock import fn


def distances(side, degree, **more):
    """(dy, dx) of the pixels that no border can reach."""
    reach = degree // 2
    y, x = np.indices((side, side), dtype=np.float32)
    made = np.asarray(fn.jitter(np.stack([y, x], -1), nDegree=degree, seed=7, **more))
    by = (made - np.stack([y, x], -1))[reach : side - reach, reach : side - reach].astype(int)
    assert np.abs(by).max() == reach
    return by[..., 0], by[..., 1]


@pytest.mark.parametrize("degree", [2, 3, 6, 14, 16, 40])
def test_all_distances_are_as_frequent(degree):
    dy, dx = distances(512, degree)
    reach = degree // 2
    choices = 2 * reach + 1
    pairs = np.bincount(((dy + reach) * choices + dx + reach).ravel(), minlength=choices**2)
    expected = dy.size / choices**2
    assert len(pairs) == choices**2
    surplus = ((pairs - expected) ** 2 / expected).sum() - (choices**2 - 1)
    assert abs(surplus) < 5 * np.sqrt(2 * (choices**2 - 1))


@pytest.mark.parametrize("degree", [6, 20])
def test_neighbors_and_axes_are_apart(degree):
    dy, dx = distances(512, degree)
    for a, b in [
        (dy, dx),
        (dx[:, 1:], dx[:, :-1]),
        (dx[:, 1:], dy[:, :-1]),
        (dx[1:], dx[:-1]),
        (dx[:, 4:], dx[:, :-4]),
    ]:
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / np.sqrt(a.size)


def test_large_distances():
    image = np.arange(4096, dtype=np.int32)[None, :, None]
    made = np.asarray(fn.jitter(image, nDegree=2000, seed=1))
    by = (made - image)[0, 1000:-1000, 0]
    assert by.min() < -950 and by.max() > 950 and abs(by.mean()) < 5 * 577 / np.sqrt(by.size)
