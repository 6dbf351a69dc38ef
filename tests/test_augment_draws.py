# SPDX-License-Identifier: Apache-2.0
"""Statistics of the random numbers of penstock.augment against those of torchvision's classes, with fixed seeds."""

from collections import Counter

import numpy as np
import pytest
import torch
from augment_calls import augmented
from torchvision_oracle import F, chw, hwc, transforms, v2

import penstock
from penstock import augment, fn, types
from penstock.augment import color, draws, erasing, geometry, magnitudes, operations

COUNT = 2000
NAMES = [o.name for o in magnitudes.of_rand_augment(31)] + ["Invert"]


def alike(ours, theirs):
    """The test of Kolmogorov and Smirnov for two samples: false once in 1000 times where the distributions are equal."""
    ours, theirs = np.sort(np.float64(ours)), np.sort(np.float64(theirs))
    at = np.concatenate([ours, theirs])
    below = [np.searchsorted(v, at, side="right") / len(v) for v in (ours, theirs)]
    limit = 1.95 * (1 / len(ours) + 1 / len(theirs)) ** 0.5
    assert np.abs(below[0] - below[1]).max() < limit, (np.abs(below[0] - below[1]).max(), limit)


def near(found, share, count):
    assert abs(found / count - share) < 5 * (share * (1 - share) / count) ** 0.5 + 1e-9, (found / count, share)


@pytest.fixture
def coded(monkeypatch):
    """Operations write their number and magnitude into images of int32: code(samples) reads them."""

    def operated(images, name, magnitude, interpolation, fill):
        code = (magnitude + 500.0) * 100 + NAMES.index(name) * 100000
        return fn.cast(images * 0 + code, dtype=types.INT32)

    monkeypatch.setattr(operations, "operated", operated)
    monkeypatch.setattr(operations, "check_bytes", lambda images: None)
    images = [np.zeros((100, 50, 1), np.int32)] * COUNT

    def code(function):
        values = [int(image[0, 0, 0]) for image in augmented(function, images, threads=2)]
        return [(NAMES[v // 100000], round(v % 100000 / 100 - 500, 2)) for v in values]

    return code


def recorded(transform):
    """(name, magnitude) of torchvision's operations for as many images."""
    calls = []
    transform._apply_image_or_video_transform = lambda image, name, magnitude, **_: (
        calls.append((name, magnitude)) or image
    )
    torch.manual_seed(3)
    image = torch.zeros(1, 100, 50, dtype=torch.uint8)
    for _ in range(COUNT):
        transform(image)
    return [(name, float(int(m)) if name.startswith("Translate") else round(m, 2)) for name, m in calls]


@pytest.mark.parametrize(
    "function, transform",
    [
        (lambda x: augment.rand_augment(x, num_ops=1), v2.RandAugment(num_ops=1)),
        (lambda x: augment.rand_augment(x, 1, 3, 7), v2.RandAugment(1, 3, 7)),
        (lambda x: augment.trivial_augment_wide(x), v2.TrivialAugmentWide()),
    ],
    ids=["rand_augment", "rand_augment of 7", "trivial_augment_wide"],
)
def test_operations_and_magnitudes(function, transform, coded):
    ours, theirs = coded(function), recorded(transform)
    names = Counter(name for name, _ in ours)
    assert set(names) == {name for name, _ in theirs} == set(transform._AUGMENTATION_SPACE)
    for name, count in names.items():
        near(count, 1 / 14, COUNT)
        alike([m for n, m in ours if n == name], [m for n, m in theirs if n == name])
    if isinstance(transform, v2.RandAugment):  # float32 rounds numbers near a half
        assert {name for name, m in ours if m < 0} == {name for name, m in theirs if m < 0}
        for name in names:
            found, wanted = ({m for n, m in drawn if n == name} for drawn in (ours, theirs))
            assert np.allclose(sorted(found), sorted(wanted), atol=0.011), name


@pytest.mark.parametrize("policy", ["imagenet", "cifar10", "svhn"])
def test_auto_augment_draws_the_policies(policy, monkeypatch):
    """Both operations of a policy, each with its probability; the expected shares come from torchvision's lists."""

    def operated(images, name, magnitude, interpolation, fill):
        return fn.cast(images * 20 + (NAMES.index(name) + 1), dtype=types.INT32)

    monkeypatch.setattr(operations, "operated", operated)
    monkeypatch.setattr(operations, "check_bytes", lambda images: None)
    images = [np.zeros((1, 1, 1), np.int32)] * COUNT
    made = augmented(lambda x: augment.auto_augment(x, policy), images)
    found, expected = Counter(int(m[0, 0, 0]) for m in made), Counter()
    for (first, p, _), (second, q, _) in v2.AutoAugment(v2.AutoAugmentPolicy(policy))._policies:
        a, b = NAMES.index(first) + 1, NAMES.index(second) + 1
        for code, share in ((0, (1 - p) * (1 - q)), (a, p * (1 - q)), (b, (1 - p) * q), (20 * a + b, p * q)):
            expected[code] += share / 25
    assert set(found) <= {code for code, share in expected.items() if share > 0}
    for code, share in expected.items():
        near(found[code], share, COUNT)


def test_aug_mix(monkeypatch):
    images = [np.full((1, 1, 3), 100, np.uint8)] * COUNT
    monkeypatch.setattr(operations, "operated", lambda images, *_: images)
    assert all((m == 100).all() for m in augmented(augment.aug_mix, images[:50]))  # the shares add up to 1
    monkeypatch.setattr(operations, "operated", lambda images, *_: fn.cast_like(images + 1, images))
    monkeypatch.setattr(draws, "shares", lambda n, alpha: [0.0] * (n - 1) + [1.0])
    depths = Counter(int(m[0, 0, 0]) - 100 for m in augmented(augment.aug_mix, images))
    assert set(depths) == {1, 2, 3}
    for depth in depths:
        near(depths[depth], 1 / 3, COUNT)


@pytest.mark.parametrize("n, alpha", [(2, 1.0), (3, 1.0), (4, 0.3)])
def test_shares_are_dirichlets(n, alpha):
    penstock.seed(2)
    ours = np.array([draws.shares(n, alpha) for _ in range(COUNT)])
    torch.manual_seed(2)
    theirs = torch.distributions.Dirichlet(torch.full((n,), alpha)).sample((COUNT,)).numpy()
    np.testing.assert_allclose(ours.sum(1), 1, atol=1e-6)
    for k in range(n):
        alike(ours[:, k], theirs[:, k])
    alike(ours.max(1), theirs.max(1))


def test_color_jitter():
    """The order of two steps that do not commute, and the ranges of factors."""
    image = np.random.default_rng(2).integers(0, 256, (8, 10, 3), np.uint8)
    steps = [lambda x: F.adjust_brightness(x, 1.8), lambda x: F.adjust_saturation(x, 0.2)]
    results = [hwc(steps[1](steps[0](chw(image)))).astype(int), hwc(steps[0](steps[1](chw(image)))).astype(int)]
    made = augmented(lambda x: augment.color_jitter(x, brightness=(1.8, 1.8), saturation=(0.2, 0.2)), [image] * 500)
    found = Counter(tuple(int(np.abs(m.astype(int) - r).max()) <= 3 for r in results) for m in made)
    assert set(found) == {(True, False), (False, True)}
    near(found[True, False], 0.5, 500)
    theirs = v2.ColorJitter(0.4, 1.5, (0.2, 3.0), 0.1)
    assert color._factors("brightness", 0.4) == tuple(theirs.brightness)
    assert color._factors("contrast", 1.5) == tuple(theirs.contrast)
    assert color._factors("saturation", (0.2, 3.0)) == tuple(theirs.saturation)
    assert color._factors("hue", 0.1, 0.0, -0.5, 0.5) == tuple(theirs.hue)
    assert color._factors("brightness", 0) is None


@pytest.mark.parametrize("scale, ratio", [((0.02, 0.33), (0.3, 3.3)), ((0.3, 1.0), (0.2, 0.5))])
def test_random_erasing(scale, ratio):
    made = augmented(lambda x: augment.random_erasing(x, 1.0, scale, ratio), [np.ones((40, 60, 3), np.uint8)] * COUNT)
    theirs, torch_image = v2.RandomErasing(1.0, scale, ratio), torch.ones(3, 40, 60)
    torch.manual_seed(5)
    wanted = [theirs.make_params([torch_image]) for _ in range(COUNT)]
    wanted = [(d["i"], d["j"], d["h"], d["w"]) if d["v"] is not None else None for d in wanted]
    found = []
    for image in made:
        rows, columns = np.flatnonzero((image[..., 0] == 0).any(1)), np.flatnonzero((image[..., 0] == 0).any(0))
        if not len(rows):
            found.append(None)
            continue
        h, w = rows[-1] + 1 - rows[0], columns[-1] + 1 - columns[0]
        assert (image == 0).sum() == 3 * h * w
        found.append((rows[0], columns[0], h, w))
    alike([r is None for r in found], [r is None for r in wanted])
    for k in range(4):
        alike([r[k] for r in found if r], [r[k] for r in wanted if r])


def test_random_erasing_gives_up():
    """Rectangles that are never smaller than the image: it stays the same after 10 tries."""
    images = [np.ones((8, 40, 3), np.uint8)] * 20
    assert erasing._TRIES == 10
    assert all(
        (m == 1).all() for m in augmented(lambda x: augment.random_erasing(x, 1.0, (1.0, 1.0), (1.0, 1.0)), images)
    )


def test_random_affine(monkeypatch):
    drawn = []

    def record(angle, translate, scale, shear, center):
        drawn.append((angle, *translate, scale, *shear))
        return [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]

    monkeypatch.setattr(geometry, "affine_matrix", record)
    penstock.seed(6)
    image = np.zeros((40, 60, 3), np.uint8)
    for _ in range(COUNT):
        augment.random_affine(image, (-20, 40), (0.1, 0.3), (0.5, 1.5), (-5, 10, 3, 20))
    transform = v2.RandomAffine((-20, 40), (0.1, 0.3), (0.5, 1.5), (-5, 10, 3, 20))
    torch.manual_seed(6)
    wanted = [transform.make_params([torch.zeros(3, 40, 60)]) for _ in range(COUNT)]
    wanted = [(d["angle"], *d["translate"], d["scale"], *d["shear"]) for d in wanted]
    for ours, theirs in zip(zip(*drawn), zip(*wanted)):
        alike(ours, theirs)


def test_random_perspective(monkeypatch):
    drawn = []

    def record(corners, width, height):
        drawn.append([v for corner in corners for v in corner])
        return [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]

    monkeypatch.setattr(geometry, "perspective_matrix", record)
    penstock.seed(7)
    image = np.zeros((40, 61, 3), np.uint8)
    for _ in range(COUNT):
        augment.random_perspective(image, 0.6, p=1.0)
    torch.manual_seed(7)
    wanted = [transforms.RandomPerspective.get_params(61, 40, 0.6)[1] for _ in range(COUNT)]
    wanted = [[v for corner in corners for v in corner] for corners in wanted]
    for ours, theirs in zip(zip(*drawn), zip(*wanted)):
        assert set(ours) == set(theirs)
        alike(ours, theirs)


def test_coarse_dropout():
    images = [np.ones((100, 100, 3), np.uint8)] * 600
    made = augmented(lambda x: augment.coarse_dropout(x, (1, 1), (0.1, 0.3), (0.2, 0.2), p=1.0), images)
    heights = [(image[..., 0] == 0).any(1).sum() for image in made]
    widths = {int((image[..., 0] == 0).any(0).sum()) for image in made}
    assert widths <= {20, 21} and 10 <= min(heights) <= 11 and 29 <= max(heights) <= 31
    alike(heights, np.random.default_rng(1).uniform(10, 30, 6000).round())
    several = augmented(lambda x: augment.coarse_dropout(x, (2, 5), (0.02, 0.02), (0.02, 0.02), p=1.0), images)
    areas = Counter(int((image[..., 0] == 0).sum()) for image in several)
    assert max(areas) <= 5 * 9 and min(areas) >= 4
