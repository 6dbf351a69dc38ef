# SPDX-License-Identifier: Apache-2.0
"""One of each kind of GPU work on small ragged batches, equal to the CPU's: what compute-sanitizer runs (run.sh sanitize)."""

import numpy as np
import pytest

from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

SIZES = [(17, 33), (40, 25), (64, 64), (1, 1), (31, 70), (55, 8)]
TURN = [0.9, -0.2, 3.0, 0.25, 1.1, -2.0]


def twist(x):
    return fn.color_twist(x, brightness=1.2, contrast=0.9, saturation=1.3, hue=20.0)


def chain(x):
    for i in range(3):
        x = fn.brightness_contrast(x, brightness=1.0 + 0.1 * i, contrast=0.9)
    return fn.flip(x, horizontal=1)


def resized(x, **options):
    return fn.resize(x, size=[24, 30], **options)


def normalized(x, **options):
    return fn.crop_mirror_normalize(x, output_layout="CHW", mean=[120.0] * 3, std=[60.0] * 3, mirror=1, **options)


def crop(x):
    return fn.random_resized_crop(x, size=[20, 28], seed=3)


CASES = {  # what is done, and by how much integers may differ
    "pixel chain": (chain, 0),
    "color twist": (twist, 0),
    "cast": (lambda x: fn.cast(x, dtype=types.FLOAT), 0),
    "flip": (lambda x: fn.flip(x, horizontal=1, vertical=1), 0),
    "transpose": (lambda x: fn.transpose(x, perm=[2, 0, 1]), 0),
    "resize linear": (lambda x: resized(x, interp_type=types.INTERP_LINEAR, antialias=False), 0),
    "resize antialiased": (lambda x: resized(x, interp_type=types.INTERP_LINEAR, antialias=True), 0),
    "resize cubic": (lambda x: resized(x, interp_type=types.INTERP_CUBIC), 0),
    "resize nearest": (lambda x: resized(x, interp_type=types.INTERP_NN), 0),
    "crop, normalize": (lambda x: normalized(crop(x), dtype=types.FLOAT16), 0),
    "normalize padded": (lambda x: normalized(x, dtype=types.FLOAT, crop=(30, 30), out_of_bounds_policy="pad"), 0),
    "warp": (lambda x: fn.warp_affine(x, matrix=TURN, fill_value=7), 1),
    "rotate": (lambda x: fn.rotate(x, angle=15.0, fill_value=0), 1),
    "blur 5": (lambda x: fn.gaussian_blur(x, window_size=5, sigma=1.2), 1),
    "blur 31": (lambda x: fn.gaussian_blur(x, window_size=31, sigma=5.0), 1),
    "erase": (lambda x: fn.erase(x, anchor=[0.0, 0.0], shape=[3.0, 4.0], fill_value=9.0), 0),
}


def images():
    rng = np.random.default_rng(2)
    return [rng.integers(0, 256, (*size, 3), np.uint8) for size in SIZES]


def run(body, gpu):
    @pipeline_def(batch_size=len(SIZES), num_threads=1, device_id=0, seed=5)
    def pipe():
        x = fn.external_source(source=images, layout="HWC", batch=True)
        return body(x.gpu() if gpu else x)

    made = pipe()
    for _ in range(2):  # the second run uses what the first kept
        (out,) = made.run()
    return [np.array(image) for image in (out.as_cpu() if gpu else out)]


@pytest.mark.parametrize("case", CASES)
def test_equal_to_the_cpu(case):
    body, most = CASES[case]
    for got, want in zip(run(body, True), run(body, False)):
        assert got.shape == want.shape and got.dtype == want.dtype
        if most == 0:
            np.testing.assert_array_equal(got, want)
        else:
            assert np.abs(got.astype(int) - want.astype(int)).max() <= most
