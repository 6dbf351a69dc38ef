# SPDX-License-Identifier: Apache-2.0
"""A call of each function of penstock.augment on images, for tests on both devices."""

import numpy as np

from penstock import augment, fn, pipeline_def

CALLS = {
    "rand_augment": lambda x: augment.rand_augment(x),
    "rand_augment filled": lambda x: augment.rand_augment(x, num_ops=1, interpolation="bilinear", fill=[1, 200, 3]),
    "trivial_augment_wide": lambda x: augment.trivial_augment_wide(x),
    "auto_augment imagenet": lambda x: augment.auto_augment(x),
    "auto_augment cifar10": lambda x: augment.auto_augment(x, "cifar10"),
    "auto_augment svhn": lambda x: augment.auto_augment(x, "svhn"),
    "aug_mix": lambda x: augment.aug_mix(x),
    "aug_mix deep": lambda x: augment.aug_mix(x, chain_depth=2, mixture_width=1, all_ops=False),
    "color_jitter": lambda x: augment.color_jitter(x, 0.4, 0.4, 0.4, 0.1),
    "color_jitter one": lambda x: augment.color_jitter(x, hue=(0.1, 0.3)),
    "gaussian_blur": lambda x: augment.gaussian_blur(x, (5, 3)),
    "random_grayscale": lambda x: augment.random_grayscale(x, 0.5),
    "random_invert": lambda x: augment.random_invert(x),
    "random_posterize": lambda x: augment.random_posterize(x, 3),
    "random_solarize": lambda x: augment.random_solarize(x, 100),
    "random_adjust_sharpness": lambda x: augment.random_adjust_sharpness(x, 2.0),
    "random_autocontrast": lambda x: augment.random_autocontrast(x),
    "random_equalize": lambda x: augment.random_equalize(x),
    "random_horizontal_flip": lambda x: augment.random_horizontal_flip(x),
    "random_vertical_flip": lambda x: augment.random_vertical_flip(x),
    "random_rotation": lambda x: augment.random_rotation(x, 30, fill=7),
    "random_rotation filled": lambda x: augment.random_rotation(x, 30, fill=[1, 200, 3]),
    "random_affine": lambda x: augment.random_affine(x, 10, (0.1, 0.1), (0.9, 1.1), 5, "bilinear"),
    "random_perspective": lambda x: augment.random_perspective(x),
    "random_erasing": lambda x: augment.random_erasing(x, value=[1, 200, 3]),
    "coarse_dropout": lambda x: augment.coarse_dropout(x, num_holes=(1, 4)),
    "maybe": lambda x: augment.maybe(x, fn.invert, p=0.5),
    "one_of": lambda x: augment.one_of(x, [fn.flip, fn.invert, augment.random_grayscale]),
    "one_of weighted": lambda x: augment.one_of(x, [fn.flip, fn.invert], weights=[3, 1]),
    "some_of": lambda x: augment.some_of(x, [fn.flip, fn.invert, augment.random_grayscale], n=(1, 2)),
    "repeat": lambda x: augment.repeat(x, lambda y: augment.coarse_dropout(y, p=1.0), times=(0, 3)),
}
RNG = np.random.default_rng(3)
IMAGES = [RNG.integers(0, 256, (24 + 3 * k, 40 - 2 * k, 3), np.uint8) for k in range(6)]
SQUARES = [RNG.integers(0, 256, (20, 30, 3), np.uint8) for k in range(6)]


def augmented(function, images=IMAGES, threads=1, seed=7, runs=1, gpu=False, layout="HWC"):
    """The results of a pipeline, as arrays: all samples of all runs."""

    @pipeline_def(batch_size=len(images), num_threads=threads, seed=seed)
    def pipeline():
        x = fn.external_source(lambda: images, batch=True, layout=layout, dtype=str(images[0].dtype))
        return function(x.gpu() if gpu else x)

    pipe = pipeline()
    return [np.array(sample) for _ in range(runs) for sample in pipe.run()[0].cpu()]
