# SPDX-License-Identifier: Apache-2.0
"""The distributions of the operators that add noise; the extremes of the arguments are in operators/pictures.py."""

import math

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


def test_speckle_is_noise_in_proportion():
    x = np.linspace(-30, 200, N).astype(np.float32).reshape(1, N, 1)
    noise = drawn(fn.noise.gaussian(flat(0), mean=0.25, stddev=0.5, seed=5))
    got = drawn(fn.noise.speckle(penstock.batch([x], layout="HWC"), mean=0.25, stddev=0.5, seed=5))
    exact = x.ravel().astype(np.float64)
    np.testing.assert_allclose(got, exact + exact * noise, rtol=3e-7, atol=3e-5)
    saturated = drawn(fn.noise.speckle(flat(200, "uint8"), stddev=0.5, seed=5))
    assert saturated.max() == 255 and abs((saturated == 255).mean() - 0.2893) < 0.005  # above 254.5


def test_normal_numbers_have_the_tails_of_the_normal_distribution():
    got = drawn(fn.noise.gaussian(flat(0, shape=(10, N, 1)), seed=8))
    below = [0.5 * math.erfc(-z / math.sqrt(2)) for z in np.sort(got)[::50]]
    assert np.abs(below - np.arange(0, len(got), 50) / len(got)).max() < 1.63 / math.sqrt(
        len(got)
    )  # Kolmogorov, Smirnov
    for z in (3, 4, 5):
        expected = math.erfc(z / math.sqrt(2)) * len(got)
        assert abs((np.abs(got) > z).sum() - expected) <= 4 * math.sqrt(expected) + 1


def test_noise_of_an_element_depends_on_its_sample_and_place_alone():
    rng = np.random.default_rng(2)
    xs = [rng.integers(0, 256, (17, 300 + k, 3)).astype(np.uint8) for k in range(5)]
    for call in (
        lambda b: fn.noise.gaussian(b, stddev=9.0, seed=4),
        lambda b: fn.noise.shot(b, factor=9.0, seed=4),
        lambda b: fn.noise.salt_and_pepper(b, prob=0.3, seed=4),
        lambda b: fn.noise.speckle(b, seed=4),
    ):
        whole = [np.array(t.numpy()) for t in call(penstock.batch(xs, layout="HWC"))]
        fewer = [np.array(t.numpy()) for t in call(penstock.batch(xs[:2], layout="HWC"))]
        upper = [np.array(t.numpy()) for t in call(penstock.batch([x[:9] for x in xs], layout="HWC"))]
        for a, b in zip(whole, fewer):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(whole, upper):
            np.testing.assert_array_equal(a[:9], b)


def test_noise_of_elements_and_samples_is_independent():
    zeros = penstock.batch([np.zeros((1, N, 1), np.float32)] * 2, layout="HWC")
    a, b = (np.array(t.numpy()).ravel() for t in fn.noise.gaussian(zeros, seed=9))
    for what in [(a, b), (a**2, b**2), *((a[:-k], a[k:]) for k in (1, 2, 16, 32, 64)), (a[:-16] ** 2, a[16:] ** 2)]:
        assert abs(np.corrcoef(*what)[0, 1]) < 5 / math.sqrt(N)


@pytest.mark.parametrize("mean", [0.3, 4.0, 9.5, 10.5, 15.5, 16.5, 100.0, 5000.0])
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


@pytest.mark.parametrize("name", ["gaussian", "shot", "salt_and_pepper", "speckle"])
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
