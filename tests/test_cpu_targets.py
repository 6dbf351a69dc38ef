# SPDX-License-Identifier: Apache-2.0
"""Every set of CPU instructions gives the same bytes. A set that the machine lacks falls back to the next lower one."""

import hashlib
import os
import subprocess
import sys

import numpy as np

import penstock
from penstock import fn


def digest():
    """The bytes of calls that pass through all the vector code: conversions, filters, convolutions, colors."""
    random, found = np.random.default_rng(0), hashlib.sha256()
    for shape in ((37, 53, 3), (5, 16, 3), (3, 15, 3), (64, 100, 4), (33, 47, 1), (9, 70, 5)):
        x = random.integers(0, 256, shape).astype(np.uint8)
        results = [
            fn.brightness_contrast(x, brightness=1.7, contrast=0.3, dtype="float32"),
            fn.resize(x, size=[41, 77]),
            fn.resize(x, size=[9, 11], interp_type=2),
            fn.resize(x.astype(np.float16), size=[50, 9]),
            fn.resize(x, size=[shape[0] // 2, shape[1] // 2], interp_type="area"),
            *(fn.resize(x, size=[31, 58], interp_type=kind, compat="opencv") for kind in (1, 2, 3, 9)),
            fn.gaussian_blur(penstock.tensor(x, layout="HWC"), sigma=2.0).numpy(),
            fn.crop_mirror_normalize(x, mirror=1, std=[3.0]),
            fn.crop_mirror_normalize(x, dtype="float16", std=[7.0]),
            fn.crop_mirror_normalize(x, mirror=1, dtype="uint8", output_layout="HWC", mean=[20.5], std=[0.5]),
        ]
        if shape[2] == 3:
            results.append(fn.color_twist(x, hue=20.0, brightness=1.5))
            results.append(fn.color_twist(x.astype(np.float32), hue=20.0, contrast=0.7))
            results.append(fn.color_space_conversion(x, image_type=0, output_type=3))
            results.extend(
                fn.color_space_conversion(x, image_type=luma, output_type=to) for luma in (14, 15) for to in (0, 1)
            )
            results.extend(fn.color_space_conversion(x, image_type=rgb, output_type=11) for rgb in (0, 1))
            results.extend(function(penstock.tensor(x, layout="HWC")).numpy() for function in (fn.sphere, fn.water))
            results.append(fn.warp_affine(x.astype(np.float32), matrix=[0.9, 0.2, 1, -0.1, 1.1, 2], interp_type=0))
        for y in results:
            found.update(np.ascontiguousarray(y).tobytes())
    x = (random.random((20, 40, 3)) * 600 - 200).astype(np.float32)
    x[0, 0] = np.nan, np.inf, -np.inf
    for dtype in ("uint8", "int8", "uint16", "int32", "float16"):
        found.update(np.ascontiguousarray(fn.cast(x, dtype=dtype)).tobytes())
        found.update(np.ascontiguousarray(fn.crop_mirror_normalize(x, dtype=dtype, output_layout="HWC")).tobytes())
    for y in found_things(random):
        found.update(np.ascontiguousarray(y).tobytes())
    return found.hexdigest()


def found_things(random):
    """Keypoints, matches, edges and lines of a soft image."""
    noise = penstock.tensor(random.random((90, 110, 1)).astype(np.float32), layout="HWC")
    soft = fn.gaussian_blur(noise, sigma=2.0).numpy()
    image = np.uint8((soft - soft.min()) / np.ptp(soft) * 255)
    points, descriptors = fn.sift(image)
    assert len(points) > 20
    edges = fn.canny(image)
    yield from (points, descriptors, edges, *fn.hough_lines(edges, threshold=20), fn.hough_lines_p(edges, threshold=10))
    yield from fn.hough_circles(image, threshold=15, max_radius=40)
    for given in ({}, {"norm": "l1", "count": 3}, {"norm": "hamming", "cross_check": True}):
        yield from fn.match(descriptors, np.array(descriptors)[::-2], **given)
    yield from fn.match(points, np.array(points)[::3], count=2)


def test_targets_give_the_same_bytes():
    answers = {}
    for target in ("scalar", "avx2", "avx512"):
        run = subprocess.run(
            [sys.executable, __file__],
            env={**os.environ, "PENSTOCK_TARGET": target},
            text=True,
            capture_output=True,
            check=True,
        )
        answers[target] = run.stdout.strip()
    assert len(set(answers.values())) == 1, answers


if __name__ == "__main__":
    print(digest())
