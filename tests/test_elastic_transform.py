# SPDX-License-Identifier: Apache-2.0
"""The displacements of elastic_transform, as images of coordinates show them, and what it makes of pixels."""

import cv2
import numpy as np
import pytest

import penstock
from penstock import fn


def gaussian(sigma):
    at = np.arange(-np.ceil(4 * sigma), np.ceil(4 * sigma) + 1)
    weights = np.exp(-(at**2) / (2 * sigma**2))
    return weights / weights.sum()


def displacements(height, width, **arguments):
    """(dx, dy), in float64; NaN where the position is outside the image."""
    y, x = np.mgrid[:height, :width].astype(np.float64)
    moved = np.asarray(fn.elastic_transform(np.dstack([x, y]), fill_value=float("nan"), **arguments))
    return moved[..., 0] - x, moved[..., 1] - y


@pytest.mark.parametrize("alpha, sigma", [(30.0, 2.0), (120.0, 5.0), (2.0, 0.0), (900.0, 12.0)])
def test_displacements_have_the_deviation_that_alpha_and_sigma_predict(alpha, sigma):
    margin = 60  # the window reflects noise nearer to the border
    found = [d[margin:-margin, margin:-margin] for d in displacements(500, 700, alpha=alpha, sigma=sigma, seed=5)]
    weights = gaussian(sigma) if sigma else np.ones(1)
    predicted = alpha / np.sqrt(3) * np.sum(weights**2)
    independent = found[0].size / max(1.0, 4 * np.pi * sigma**2)  # about so many numbers
    for d in found:
        assert not np.isnan(d).any()
        assert abs(d.std() / predicted - 1) < 4 / np.sqrt(2 * independent)
        assert abs(d.mean()) < 4 * predicted / np.sqrt(independent)
    assert abs(np.corrcoef(found[0].ravel(), found[1].ravel())[0, 1]) < 4 / np.sqrt(independent)


def test_noise_without_sigma_is_uniform():
    dx, dy = (d[8:-8, 8:-8] for d in displacements(300, 400, alpha=4.0, sigma=0.0, seed=1))
    for d in (dx, dy):
        assert -4 <= d.min() < -3.99 and 3.99 < d.max() < 4
        counts, _ = np.histogram(d, bins=16, range=(-4, 4))
        assert np.all(np.abs(counts - d.size / 16) < 5 * np.sqrt(d.size / 16))


@pytest.mark.parametrize("interp, flag", [(0, cv2.INTER_NEAREST), (1, cv2.INTER_LINEAR), (2, cv2.INTER_CUBIC)])
def test_pixels_are_those_of_a_remap_by_the_displacements(interp, flag):
    height, width = 90, 130
    arguments = {"alpha": 40.0, "sigma": 4.0, "seed": 7}
    dx, dy = displacements(height, width, **arguments)
    image = np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(np.uint8)
    got = np.asarray(fn.elastic_transform(image, interp_type=interp, border_mode="reflect_101", **arguments))
    inside = ~(np.isnan(dx) | np.isnan(dy))
    y, x = np.mgrid[:height, :width].astype(np.float32)
    maps = [np.where(inside, a + d, 0).astype(np.float32) for a, d in ((x, dx), (y, dy))]
    expected = cv2.remap(image, *maps, flag, borderMode=cv2.BORDER_REFLECT_101)
    apart = np.abs(got.astype(int) - expected)[inside]
    assert inside.mean() > 0.9
    if interp == 0:
        assert np.mean(apart != 0) < 1e-3  # halfway between two pixels
    else:
        assert apart.max() <= 1


def test_a_field_depends_on_the_seed_and_the_sample_alone():
    image = np.random.default_rng(1).integers(0, 256, (64, 80, 3)).astype(np.uint8)
    same = [image, image, image]
    first = [np.asarray(x) for x in fn.elastic_transform(penstock.batch(same, layout="HWC"), seed=3)]
    again = [np.asarray(x) for x in fn.elastic_transform(penstock.batch(same, layout="HWC"), seed=3)]
    other = [np.asarray(x) for x in fn.elastic_transform(penstock.batch(same, layout="HWC"), seed=4)]
    for a, b, c in zip(first, again, other):
        assert np.array_equal(a, b) and not np.array_equal(a, c)
    assert not np.array_equal(first[0], first[1])
    planes = np.ascontiguousarray(image.transpose(2, 0, 1))
    turned = np.asarray(fn.elastic_transform(penstock.tensor(planes, "CHW"), seed=3))
    assert np.array_equal(turned.transpose(1, 2, 0), np.asarray(fn.elastic_transform(image, seed=3)))
    video = np.asarray(fn.elastic_transform(penstock.tensor(np.stack([image, 255 - image]), "FHWC"), alpha=9.0, seed=3))
    assert np.array_equal(video[0], np.asarray(fn.elastic_transform(image, alpha=9.0, seed=3)))


def test_each_sample_has_its_alpha_and_sigma():
    y, x = np.mgrid[:120, :160].astype(np.float32)
    batch = penstock.batch([x, x, x], layout="HW")
    alpha, sigma = (penstock.batch([np.float32(v) for v in values]) for values in ([0, 50, 50], [3, 3, 9]))
    moved = fn.elastic_transform(batch, alpha=alpha, sigma=sigma, border_mode="replicate", seed=2)
    deviations = [float(np.std(np.asarray(m) - x)) for m in moved]
    assert deviations[0] == 0 and deviations[1] > 2 * deviations[2] > 0


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": [2000.0]}, "sigma must be at"),
        ({"alpha": float("inf")}, "alpha must be finite"),
        ({"border_mode": "mirror"}, "border_mode"),
        ({"interp_type": 5}, "interp_type"),
    ],
)
def test_errors_say_what_is_wrong(arguments, text):
    batch = penstock.batch([np.zeros((8, 8, 3), np.uint8)], layout="HWC")
    with pytest.raises(Exception, match=text):
        fn.elastic_transform(batch, **arguments)


def test_an_empty_image_stays_empty():
    assert np.asarray(fn.elastic_transform(np.zeros((0, 5, 3), np.uint8))).shape == (0, 5, 3)
