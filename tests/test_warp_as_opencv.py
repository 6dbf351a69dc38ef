# SPDX-License-Identifier: Apache-2.0
"""warp_affine with OpenCV's origin, its borders and cubic interpolation beside cv2.warpAffine; rotate's borders."""

import cv2
import numpy as np
import pytest

import penstock
from penstock import fn

BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
    "wrap": cv2.BORDER_WRAP,
}
KINDS = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC}


def places_of_32(rng, kind):
    """A matrix whose positions OpenCV finds exactly: multiples of 1/32, and for the nearest sample none in the middle."""
    m = rng.integers(-48, 49, (2, 3)) / 32.0 + np.float64([[1, 0, 0], [0, 1, 0]])
    m[:, 2] += rng.integers(-20, 20, 2)
    if kind == "nearest":
        m[:, :2] = np.round(m[:, :2])
        m[:, 2] = np.round(m[:, 2]) + rng.choice([-0.25, 0.125, 0.375], 2)
    return m


def reads_inside(m, size, extents):
    """Which outputs have all 4 x 4 samples inside."""
    y, x = np.indices(tuple(size))
    at = [np.floor(row[0] * x + row[1] * y + row[2]) for row in (m[1], m[0])]
    return np.all([(a >= 1) & (a < n - 2) for a, n in zip(at, extents)], 0)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_warp_affine_is_opencv(border, kind, dtype):
    rng = np.random.default_rng(list(BORDERS).index(border))
    for _ in range(40):
        h, w = rng.integers(2, 40, 2)
        x = rng.integers(0, 256, (h, w, int(rng.choice([1, 3, 4])))).astype(dtype)
        m, size = places_of_32(rng, kind), rng.integers(1, 60, 2)
        inverse = bool(rng.integers(2)) or kind == "nearest" or abs(np.linalg.det(m[:, :2])) < 0.1
        flags = KINDS[kind] | cv2.WARP_INVERSE_MAP
        exact = cv2.warpAffine(x, m, size[::-1].tolist(), flags=flags, borderMode=BORDERS[border], borderValue=[9] * 4)
        full = np.vstack([m, [0, 0, 1]])
        matrix = m if inverse else np.linalg.inv(full)[:2]
        y = fn.warp_affine(
            x,
            matrix=matrix.ravel().tolist(),
            size=size.astype(np.float32),
            inverse_map=inverse,
            interp_type=kind,
            border_mode=border,
            pixel_origin="center",
            **({"fill_value": 9} if border == "constant" else {}),
        )
        apart = np.abs(y.astype(np.float64) - exact.reshape(y.shape))
        if kind == "cubic" and border in ("reflect", "reflect_101", "wrap"):
            apart[~reads_inside(m, size, (h, w))] = 0  # where OpenCV takes one sample at some places
        # An inverse is rounded, and the positions with it.
        limit = 0 if kind == "nearest" else 1 if dtype == "uint8" else 2e-3 if inverse else 0.1
        assert apart.max(initial=0) <= limit, (x.shape, m, size, inverse)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("border", BORDERS)
def test_rotate_is_a_warp(kind, border):
    x = np.random.default_rng(1).integers(0, 256, (31, 45, 3), np.uint8)
    c, s = np.cos(np.radians(30)), np.sin(np.radians(30))
    m = np.array([[c, -s, 0], [s, c, 0]])
    m[:, 2] = np.array([22.5, 15.5]) - m[:, :2] @ [22.5, 15.5]
    how = {"interp_type": kind, "border_mode": border}
    y = fn.rotate(x, angle=30.0, keep_size=True, **how)
    apart = np.abs(y.astype(int) - fn.warp_affine(x, matrix=m.ravel().tolist(), **how))
    assert apart.max() <= 1 and (apart > 0).mean() < 1e-3


def test_frames_have_matrices_of_their_own():
    x = np.random.default_rng(2).integers(0, 256, (3, 20, 30, 3), np.uint8)
    matrices = np.float32([[1, 0, k, 0, 1, -k] for k in range(3)])
    matrices = fn.per_frame(penstock.batch([matrices]))
    y = fn.warp_affine(penstock.batch([x], layout="FHWC"), matrix=matrices, border_mode="wrap")[0].numpy()
    for k in range(3):
        np.testing.assert_array_equal(y[k], np.roll(x[k], (k, -k), (0, 1)))


def test_a_border_and_a_center_fuse_where_they_can():
    @penstock.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline(**how):
        x = fn.external_source([np.zeros((8, 8, 3), np.uint8)], layout="HWC")
        return fn.flip(fn.warp_affine(x, matrix=[1, 0, 0, 0, 1, 0], **how))

    fused, apart = (pipeline(**how) for how in ({"pixel_origin": "center"}, {"interp_type": "cubic"}))
    for p in (fused, apart):
        p.build()
    assert len(fused.plan()) < len(apart.plan()), (fused.plan(), apart.plan())


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"border_mode": "mirror"}, "border_mode must be"),
        ({"border_mode": "wrap", "fill_value": 1}, "border_mode='wrap' reads no fill_value: leave one of them out"),
        ({"border_mode": "replicate", "fill_value": 1}, "border_mode='replicate' reads no fill_value"),
        ({"pixel_origin": "middle"}, 'pixel_origin must be "corner" or "center", got "middle"'),
        ({"interp_type": 3}, r"interp_type must be INTERP_NN \(0\), INTERP_LINEAR \(1\) or INTERP_CUBIC \(2\), got 3"),
        ({"interp_type": "cubic", "dtype": "float32"}, "keep the type: cast the result instead of dtype"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=rf"\[warp_affine\].*{message}"):
        fn.warp_affine(np.zeros((4, 4, 3), np.uint8), matrix=[1, 0, 0, 0, 1, 0], **arguments)


def test_a_volume_has_no_cubic():
    with pytest.raises((TypeError, ValueError), match="are for images, got the layout 'DHWC'"):
        fn.warp_affine(
            penstock.tensor(np.zeros((4, 4, 4, 1), np.uint8), layout="DHWC"),
            matrix=[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0],
            interp_type="cubic",
        )
