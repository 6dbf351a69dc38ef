# SPDX-License-Identifier: Apache-2.0
"""penstock.augment in pipelines and at once: forms, threads, errors, and what maybe(), one_of() and others do."""

import cv2
import numpy as np
import pytest
import torch
from augment_calls import CALLS, IMAGES, SQUARES, augmented

import penstock
from penstock import augment, fn, pipeline_def


@pytest.mark.parametrize("name", CALLS)
def test_threads_and_forms(name):
    call = CALLS[name]
    one = augmented(call, threads=1, runs=2)
    several = augmented(call, threads=3, runs=2)
    for a, b, image in zip(one, several, IMAGES * 2):
        assert a.shape == image.shape and a.dtype == np.uint8
        np.testing.assert_array_equal(a, b)
    penstock.seed(1)
    assert call(IMAGES[0]).shape == IMAGES[0].shape
    made = call(penstock.batch(IMAGES, layout="HWC"))
    assert [tuple(s.shape()) for s in made] == [i.shape for i in IMAGES] and made.layout() == "HWC"


@pytest.mark.parametrize("name", ["rand_augment", "color_jitter", "random_erasing", "random_affine", "maybe", "repeat"])
def test_other_forms(name):
    call = CALLS[name]
    tensor = torch.from_numpy(IMAGES[0].transpose(2, 0, 1).copy())
    for x in (tensor, torch.stack([tensor, tensor])):
        made = call(x)
        assert isinstance(made, torch.Tensor) and made.shape == x.shape and made.dtype == x.dtype
    assert len(call(IMAGES)) == len(IMAGES)
    backward = IMAGES[0][::-1, ::-1]
    penstock.seed(5)
    made = call(backward)
    penstock.seed(5)
    np.testing.assert_array_equal(made, call(np.ascontiguousarray(backward)))


@pytest.mark.parametrize("name", ["rand_augment", "random_affine", "random_rotation filled", "random_erasing"])
def test_channels_first_are_the_same(name):
    first = augmented(CALLS[name], [i.transpose(2, 0, 1).copy() for i in IMAGES], layout="CHW")
    for a, b in zip(augmented(CALLS[name]), first):
        np.testing.assert_array_equal(a, b.transpose(1, 2, 0))


FLOATS = ["color_jitter", "random_grayscale", "random_invert", "random_adjust_sharpness", "random_autocontrast"]
FLOATS += [
    "random_erasing",
    "coarse_dropout",
    "random_rotation",
    "random_affine",
    "random_perspective",
    "random_posterize",
]


@pytest.mark.parametrize("name", FLOATS)
def test_float32(name):
    images = [i.astype(np.float32) / 255 for i in IMAGES]
    for made, image in zip(augmented(CALLS[name], images), images):
        assert made.dtype == np.float32 and made.shape == image.shape and np.isfinite(made).all()


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 7, 3), (2, 2, 3), (600, 1, 3)])
@pytest.mark.parametrize("name", CALLS)
def test_small_images(name, shape):
    images = [np.full(shape, 10 * k, np.uint8) for k in range(4)]
    assert all(made.shape == shape for made in augmented(CALLS[name], images))


def test_seeds():
    call = CALLS["rand_augment"]
    same = [np.array_equal(a, b) for a, b in zip(augmented(call, SQUARES), augmented(call, SQUARES))]
    other = [np.array_equal(a, b) for a, b in zip(augmented(call, SQUARES), augmented(call, SQUARES, seed=8))]
    assert all(same) and not all(other)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    paths = [str(tmp_path_factory.mktemp("pictures") / f"{k}.png") for k in range(len(IMAGES))]
    assert all(cv2.imwrite(path, image) for path, image in zip(paths, IMAGES))
    return paths


def read(files, call, **options):
    @pipeline_def(batch_size=len(files), num_threads=2, seed=3, **options)
    def pipeline():
        encoded, _ = fn.readers.file(files=files, name="reader")
        return call(fn.decoders.image(encoded))

    return pipeline()


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(map(np.array, a), map(np.array, b), strict=True))


def test_a_checkpoint_resumes_the_draws(files):
    call = CALLS["rand_augment"]
    pipe = read(files, call, enable_checkpointing=True)
    pipe.run(), pipe.run()
    state = pipe.checkpoint()
    assert same(pipe.run()[0], read(files, call, enable_checkpointing=True, checkpoint=state).run()[0])


@pytest.mark.parametrize("name", ["rand_augment", "auto_augment imagenet", "random_erasing", "some_of", "repeat"])
def test_operator_by_operator(files, name):
    assert same(read(files, CALLS[name]).run()[0], read(files, CALLS[name], debug=True).run()[0])


def test_probabilities_0_and_1():
    never, always = (augmented(lambda x, p=p: augment.maybe(x, fn.invert, p=p), SQUARES) for p in (0.0, 1.0))
    assert same(never, SQUARES) and same(always, [255 - image for image in SQUARES])


def parts(call, count=2000):
    """How often each result occurs for images of one element, 10."""
    images = [np.full((1, 1, 3), 10, np.uint8)] * count
    made = [int(m[0, 0, 0]) for m in augmented(call, images)]
    return {value: made.count(value) / count for value in set(made)}


def added(n):
    return lambda x: fn.cast_like(x + n, x)


def near(found, expected, count=2000):
    """All shares within five deviations."""
    assert set(found) == set(expected)
    for value, share in expected.items():
        assert abs(found[value] - share) < 5 * (share * (1 - share) / count) ** 0.5 + 1e-9, (value, found[value], share)


def test_shares_of_branches():
    near(parts(lambda x: augment.maybe(x, added(1), p=0.3)), {10: 0.7, 11: 0.3})
    near(parts(lambda x: augment.one_of(x, [added(k) for k in range(5)])), {10 + k: 0.2 for k in range(5)})
    near(parts(lambda x: augment.one_of(x, [added(1), added(2), added(3)], weights=[1, 0, 3])), {11: 0.25, 13: 0.75})
    near(parts(lambda x: augment.repeat(x, added(1), times=(1, 4))), {11: 0.25, 12: 0.25, 13: 0.25, 14: 0.25})
    near(parts(lambda x: augment.repeat(x, added(1), times=3)), {13: 1.0})
    three = [added(1), added(2), added(4)]
    near(parts(lambda x: augment.some_of(x, three, n=2)), {13: 1 / 3, 15: 1 / 3, 16: 1 / 3})
    near(parts(lambda x: augment.some_of(x, three, n=3)), {17: 1.0})
    several = {10: 1 / 3, **{10 + k: 1 / 9 for k in (1, 2, 4)}, **{10 + k: 1 / 9 for k in (3, 5, 6)}}
    near(parts(lambda x: augment.some_of(x, three, n=(0, 2))), several)


def test_some_of_keeps_the_order():
    twice = lambda x: fn.cast_like(x * 2, x)  # noqa: E731
    assert set(parts(lambda x: augment.some_of(x, [added(1), twice], n=2), 20)) == {22}


def test_functions_with_control_flow_of_their_own():
    def brighter(x):
        if fn.reductions.mean(x) < 50:
            x = fn.brightness(x, brightness=2.0)
        return x

    near(parts(lambda x: augment.maybe(x, brighter, p=1.0), 20), {20: 1.0})


def mixed(function, labels, **arguments):
    images = [np.full((20, 30, 3), 20 * k, np.uint8) for k in range(8)]

    @pipeline_def(batch_size=8, num_threads=2, seed=11)
    def pipeline():
        x = fn.external_source(lambda: images, batch=True, layout="HWC", dtype="uint8")
        y = fn.external_source(lambda: labels, batch=True)
        return function(x, y, **arguments)

    pipe = pipeline()
    for _ in range(40):
        yield [[np.array(s) for s in out] for out in pipe.run()]
    penstock.seed(4)
    for _ in range(5):
        out = function(penstock.batch(images, layout="HWC"), penstock.batch(labels), **arguments)
        yield [[np.array(s) for s in o] for o in out]


CLASSES = [np.int32(k) for k in range(8)]


def shares_of(labels):
    """(share, partner) of each sample, from vectors of labels; partner -1 where all is the sample's own."""
    for own, vector in enumerate(labels):
        assert vector.dtype == np.float32 and vector.shape == (8,) and abs(vector.sum() - 1) < 1e-5
        others = [k for k in np.flatnonzero(vector) if k != own]
        assert len(others) <= 1
        yield float(vector[own]), int(others[0]) if others else -1


@pytest.mark.parametrize(
    "labels", [CLASSES, [np.eye(8, dtype=np.float32)[k] for k in range(8)]], ids=["numbers", "vectors"]
)
def test_mixup(labels):
    drawn = []
    for images, mixed_labels in mixed(augment.mixup, labels, num_classes=8 if labels is CLASSES else None, alpha=0.4):
        found = list(shares_of(mixed_labels))
        assert len({round(share, 5) for share, _ in found}) == 1  # one share for each batch, as torchvision's
        drawn.append(found[0][0])
        for own, ((share, partner), image) in enumerate(zip(found, images)):
            assert image.dtype == np.uint8 and (image == image[0, 0, 0]).all()
            if partner >= 0:
                assert abs(image[0, 0, 0] - 20 * (own * share + partner * (1 - share))) <= 0.51
    # Beta(0.4, 0.4): mean 1/2, deviation 0.37, much of it near the ends.
    assert 0.3 < np.mean(drawn) < 0.7 and 0.28 < np.std(drawn) < 0.45


def test_cutmix():
    areas = []
    for images, labels in mixed(augment.cutmix, CLASSES, num_classes=8):
        windows = set()
        for own, ((share, partner), image) in enumerate(zip(shares_of(labels), images)):
            replaced = image[..., 0] != 20 * own
            assert abs(replaced.mean() - (1 - share)) < 1e-5
            if replaced.any():
                assert set(np.unique(image[replaced])) == {20 * partner}
                rows, columns = np.flatnonzero(replaced.any(1)), np.flatnonzero(replaced.any(0))
                assert replaced[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all()
                windows.add((rows[0], rows[-1], columns[0], columns[-1]))
        assert len(windows) <= 1  # one rectangle for each batch
        areas.append(1 - share)
    assert 0.2 < np.mean(areas) < 0.5  # below 1/2: rectangles are cut at the border


WRONG = [
    (lambda x: augment.rand_augment(x, magnitude=31), ValueError, "magnitude must be from 0 to 30, got 31"),
    (lambda x: augment.rand_augment(x, num_ops=-1), ValueError, "num_ops must not be negative"),
    (lambda x: augment.rand_augment(x, interpolation="cubic"), ValueError, 'must be "nearest" or "bilinear"'),
    (lambda x: augment.rand_augment(x.astype(np.float32)), TypeError, "take images of uint8"),
    (lambda x: augment.trivial_augment_wide(x, num_magnitude_bins=1), ValueError, "must be at least 2"),
    (lambda x: augment.auto_augment(x, "mnist"), ValueError, "policy must be one of 'imagenet', 'cifar10', 'svhn'"),
    (lambda x: augment.aug_mix(x, severity=0), ValueError, "severity must be from 1 to 10"),
    (lambda x: augment.color_jitter(x, brightness=-1), ValueError, "brightness must not be negative"),
    (lambda x: augment.color_jitter(x, hue=0.6), ValueError, "hue must be within -0.5 and 0.5"),
    (lambda x: augment.random_erasing(x, scale=(0.5, 1.5)), ValueError, "scale must be within 0 and 1"),
    (lambda x: augment.random_erasing(x, value="random"), ValueError, "value must be a number"),
    (lambda x: augment.random_affine(x, 10, scale=(0.0, 1.0)), ValueError, "scale must be positive"),
    (lambda x: augment.random_affine(x, 10, translate=(2, 0)), ValueError, "translate must be two numbers"),
    (lambda x: augment.random_perspective(x, 2.0), ValueError, "distortion_scale must be from 0 to 1"),
    (lambda x: augment.random_invert(x, p=1.5), ValueError, "p must be from 0 to 1"),
    (lambda x: augment.gaussian_blur(x, 4), ValueError, "kernel_size must be one or two odd numbers"),
    (lambda x: augment.gaussian_blur(x, 3, (0.0, 1.0)), ValueError, "sigma must be positive"),
    (lambda x: augment.one_of(x, []), ValueError, "at least one function"),
    (lambda x: augment.one_of(x, [fn.flip], weights=[1, 2]), ValueError, "weights must be 1 numbers"),
    (lambda x: augment.some_of(x, [fn.flip], n=2), ValueError, "n must be at most 1"),
    (lambda x: augment.repeat(x, fn.flip, times=-1), ValueError, "times must be a number of calls"),
    (lambda x: augment.maybe(x, 3, p=0.5), TypeError, "maybe takes functions of the samples, got 3"),
    (lambda x: augment.maybe(x, lambda y: None, p=1.0), TypeError, "returned None"),
    (lambda x: augment.one_of(x, fn.flip), TypeError, "one_of takes a list of functions"),
    (lambda x: augment.some_of(x, [fn.flip, None], n=1), TypeError, "some_of takes functions of the samples, got None"),
    (lambda x: augment.repeat(x, "flip", times=1), TypeError, "repeat takes functions of the samples, got 'flip'"),
    (lambda x: augment.mixup(x, x), TypeError, "a batch is needed"),
]


@pytest.mark.parametrize("call, kind, message", WRONG, ids=[w[2] for w in WRONG])
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(IMAGES[0])
