# SPDX-License-Identifier: Apache-2.0
"""inpaint fills holes about as OpenCV's INPAINT_TELEA does, and as near to what was there."""

import cv2
import numpy as np
import pytest

import penstock
from penstock import fn


def smooth(shape, seed, dtype=np.uint8):
    noise = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    image = cv2.GaussianBlur(noise, (0, 0), 6).reshape(shape)
    image = (image - image.min()) / (image.max() - image.min()) * 255
    return image.astype(dtype)


def scratches(height, width, seed, thickness):
    rng, mask = np.random.default_rng(seed), np.zeros((height, width), np.uint8)
    for _ in range(6):
        ends = [tuple(map(int, rng.integers(0, [width, height]))) for _ in range(2)]
        cv2.line(mask, *ends, 255, thickness)
    return mask


@pytest.mark.parametrize("thickness, radius", [(1, 1), (2, 3), (3, 3), (5, 5), (8, 3)])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_it_is_near_opencvs_and_as_near_to_the_truth(thickness, radius, channels):
    for seed in range(3):
        image, mask = smooth((90, 130, *channels), seed), scratches(90, 130, seed, thickness)
        damaged = image.copy()
        damaged[mask > 0] = 255
        got = np.float64(fn.inpaint(damaged, mask, radius=radius))
        want = np.float64(cv2.inpaint(damaged, mask, radius, cv2.INPAINT_TELEA))
        holes = mask > 0
        assert (got[~holes] == image[~holes]).all()
        assert np.abs(got - want)[holes].mean() < (5 if radius > 1 else 8)
        errors = [np.abs(x - image)[holes].mean() for x in (got, want)]
        assert errors[0] < errors[1] * 1.15 + 0.5
        continued = np.float64(fn.inpaint(damaged, mask, radius=radius, slopes=True))
        assert thickness > 3 or np.abs(continued - image)[holes].mean() < 0.8 * errors[1]


def test_a_hole_of_one_pixel_is_opencvs():
    image = np.random.default_rng(0).integers(0, 256, (15, 15)).astype(np.float32)
    mask = np.uint8(np.pad([[1]], 7))
    for radius in (1, 2, 3, 5):
        got = np.array(fn.inpaint(image, mask, radius=radius))
        # OpenCV adds (u + v) / |(u, v)| of a slope (u, v) to each value, whatever the range of the image is.
        np.testing.assert_allclose(got, cv2.inpaint(image, mask, radius, cv2.INPAINT_TELEA), atol=1.42)


def test_slopes_continue_a_ramp():
    image = np.float32(np.mgrid[:20, :30][0] * 3 + np.mgrid[:20, :30][1] * 2)
    mask = np.zeros((20, 30), np.uint8)
    mask[7:10, 4:25] = 1
    damaged = np.where(mask > 0, np.float32(0), image)
    np.testing.assert_allclose(fn.inpaint(damaged, mask, slopes=True), image, atol=1e-3)


def test_small_numbers_stay_small():
    image = np.random.default_rng(1).random((20, 30)).astype(np.float32)
    mask = np.uint8(np.random.default_rng(2).random((20, 30)) < 0.3)
    got = np.array(fn.inpaint(image, mask))
    assert got.min() >= 0 and got.max() <= 1


def test_images_at_the_edges_of_sizes():
    for shape in ((0, 0), (0, 5), (1, 1), (1, 9), (9, 1), (2, 2)):
        image = np.full(shape, 7, np.uint8)
        mask = np.zeros(shape, np.uint8)
        mask[..., :1] = 1
        assert (np.array(fn.inpaint(image, mask)) == 7).all()
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    np.testing.assert_array_equal(fn.inpaint(image, np.ones((3, 4), np.uint8)), image)  # nothing is known
    np.testing.assert_array_equal(fn.inpaint(image, np.zeros((3, 4), bool)), image)


def test_holes_at_corners_and_views():
    image, mask = smooth((31, 33, 3), 1), np.zeros((31, 33), np.uint8)
    mask[:4, :6] = mask[-3:, -9:] = 255
    got = np.float64(fn.inpaint(image, mask))
    assert np.isfinite(got).all() and np.abs(got - image)[mask > 0].mean() < 40
    wide = smooth((62, 66, 3), 2)
    np.testing.assert_array_equal(fn.inpaint(wide[::2, ::2], mask), fn.inpaint(wide[::2, ::2].copy(), mask[:].copy()))


def test_a_batch_is_its_images():
    images, masks = [smooth((20 + k, 30, 3), k) for k in range(3)], [scratches(20 + k, 30, k, 2) for k in range(3)]
    for image, mask, got in zip(images, masks, fn.inpaint(images, masks)):
        np.testing.assert_array_equal(got.numpy(), fn.inpaint(image, mask))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x, m: fn.inpaint(x, m[:4]), ValueError, "mask of the shape .* does not fit an image"),
        (lambda x, m: fn.inpaint(x, m.astype(np.float32)), TypeError, "a mask must be uint8 or bool, got float32"),
        (lambda x, m: fn.inpaint(x.astype(np.int32), m), TypeError, "type that float32 holds.*got int32"),
        (lambda x, m: fn.inpaint(x, m, radius=0), ValueError, "radius"),
        (lambda x, m: fn.inpaint(penstock.tensor(x, layout="CHW"), m), TypeError, "layout HW or HWC, got 'CHW'"),
    ],
)
def test_what_does_not_fit(call, error, words):
    with pytest.raises(error, match=words):
        call(np.zeros((5, 6, 3), np.uint8), np.zeros((5, 6), np.uint8))
