# SPDX-License-Identifier: Apache-2.0
"""The distributions of the operators that add noise; the extremes of the arguments are in operators/pictures.py."""

import numpy as np
import pytest

import penstock
from penstock import fn

N = 200_000


def flat(value, dtype="float32", shape=(1, N, 1)):
    return penstock.batch([np.full(shape, value, dtype)], layout="HWC")


def drawn(batch):
    return np.array(batch[0].numpy()).astype(np.float64).ravel()


def test_gaussian_noise_is_normal():
    got = drawn(fn.noise.gaussian(flat(10), mean=3.0, stddev=2.0, seed=5))
    assert abs(got.mean() - 13) < 0.03 and abs(got.std() - 2) < 0.02
    share = [(got < 13 + 2 * z).mean() for z in (-2, -1, 0, 1, 2)]  # of the normal distribution below z deviations
    np.testing.assert_allclose(share, [0.02275, 0.15866, 0.5, 0.84134, 0.97725], atol=0.005)
    assert abs(np.corrcoef(got[:-1], got[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("mean", [0.3, 4.0, 9.5, 10.5, 100.0, 5000.0])
def test_shot_noise_is_poissons(mean):
    factor = 4.0
    got = drawn(fn.noise.shot(flat(mean * factor), factor=factor, seed=6)) / factor
    np.testing.assert_array_equal(got, np.rint(got))
    error = np.sqrt(mean / N)
    assert abs(got.mean() - mean) < 5 * error
    assert abs(got.var() / mean - 1) < 5 * np.sqrt((2 + 1 / mean) / N)
    k, logs = np.arange(int(mean + 12 * np.sqrt(mean) + 20)), 0.0
    logs = np.cumsum(np.concatenate([[-mean], np.log(mean / np.arange(1, len(k)))]))
    expected = np.exp(logs) * N
    counts = np.bincount(got.astype(int), minlength=len(k))[: len(k)]
    often = expected > 50
    chi = ((counts - expected)[often] ** 2 / expected[often]).sum() / often.sum()
    assert chi < 1 + 8 / np.sqrt(often.sum())


def test_shot_noise_of_what_has_no_photons():
    got = drawn(
        fn.noise.shot(penstock.batch([np.array([[[0.0], [-5.0], [np.nan], [1e30]]], np.float32)], layout="HWC"), seed=1)
    )
    np.testing.assert_allclose(got, [0, 0, 0, 1e30], rtol=1e-6)


def test_salt_and_pepper_replace_whole_pixels():
    x = np.full((400, 500, 3), 100, np.uint8)
    got = np.array(
        fn.noise.salt_and_pepper(penstock.batch([x], layout="HWC"), prob=0.2, salt_vs_pepper=0.75, seed=3)[0].numpy()
    )
    assert (got == got[..., :1]).all()
    salt, pepper = (got[..., 0] == 255).mean(), (got[..., 0] == 0).mean()
    assert abs(salt - 0.15) < 0.005 and abs(pepper - 0.05) < 0.005
    first = np.array(
        fn.noise.salt_and_pepper(
            penstock.batch([x.transpose(2, 0, 1).copy()], layout="CHW"), prob=0.2, salt_vs_pepper=0.75, seed=3
        )[0].numpy()
    )
    np.testing.assert_array_equal(first.transpose(1, 2, 0), got)
    apart = np.array(
        fn.noise.salt_and_pepper(penstock.batch([x], layout="HWC"), prob=0.2, per_channel=True, seed=3)[0].numpy()
    )
    assert abs((apart != 100).mean() - 0.2) < 0.005 and abs((apart != 100).all(-1).mean() - 0.008) < 0.002


@pytest.mark.parametrize("name", ["gaussian", "shot", "salt_and_pepper"])
def test_noise_follows_the_seed(name):
    xs = penstock.batch([np.full((9, 7, 3), 90, np.uint8)] * 3, layout="HWC")
    noisy = lambda seed: [np.array(t.numpy()).tobytes() for t in getattr(fn.noise, name)(xs, seed=seed)]
    assert noisy(1) == noisy(1) and noisy(1) != noisy(2) and len(set(noisy(1))) == 3


def test_noise_in_float32_is_that_in_float64():
    gaussian = [drawn(fn.noise.gaussian(flat(10, dtype), stddev=4.0, seed=5)) for dtype in ("float32", "float64")]
    np.testing.assert_allclose(*gaussian, rtol=0, atol=1e-5)
    for mean in (2.0, 30.0, 5000.0):
        counts = [drawn(fn.noise.shot(flat(mean, dtype), factor=1.0, seed=6)) for dtype in ("float32", "float64")]
        assert (counts[0] != counts[1]).mean() < 1e-5 + mean * 2.0**-23  # float32 rounds draws between two counts
    salted = [drawn(fn.noise.salt_and_pepper(flat(10, dtype), prob=0.2, seed=7)) for dtype in ("float32", "float64")]
    np.testing.assert_array_equal(*salted)
