# SPDX-License-Identifier: Apache-2.0
"""Matrices of affine maps against DALI, and warp_affine and coord_transform with them."""

import dali_oracle
import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def

M = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
SOLID = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
CALLS = [
    ("translation", [], dict(offset=[2, 3])),
    ("translation", [], dict(offset=4)),
    ("translation", [M], dict(offset=[10, 20])),
    ("translation", [M], dict(offset=[10, 20], reverse_order=True)),
    ("scale", [], dict(scale=[2, 3])),
    ("scale", [], dict(scale=2)),
    ("scale", [], dict(scale=2, ndim=3)),
    ("scale", [], dict(scale=[2, 3], center=[1, 1])),
    ("scale", [], dict(scale=[2, 3], center=[1])),
    ("scale", [M], dict(scale=2)),
    ("scale", [M], dict(scale=[2, 3], center=[1, 1], reverse_order=True)),
    ("rotation", [], dict(angle=90.0)),
    ("rotation", [], dict(angle=-700.5)),
    ("rotation", [], dict(angle=30.0, center=[1, 2])),
    ("rotation", [], dict(angle=30.0, axis=[0, 0, 2])),
    ("rotation", [], dict(angle=75.0, axis=[1, 2, 3], center=[1, 2, 3])),
    ("rotation", [M], dict(angle=30.0)),
    ("rotation", [SOLID], dict(angle=30.0, axis=[1, 0, 2])),
    ("shear", [], dict(shear=[0.5, 0.25])),
    ("shear", [], dict(angles=[30, 45])),
    ("shear", [], dict(shear=[1, 2, 3, 4, 5, 6])),
    ("shear", [], dict(shear=[0.5, 0.25], center=[1, 2])),
    ("shear", [], dict(angles=[10, 20, 30, 40, 50, 60], center=[1, 2, 3])),
    ("crop", [], dict(from_start=[1, 2], from_end=[5, 8], to_start=[0, 0], to_end=[10, 10])),
    ("crop", [], {}),
    ("crop", [], dict(from_start=0.125, from_end=[1, 2], to_end=5.0)),
    ("crop", [M], dict(to_end=[2, 2])),
    ("crop", [], dict(from_start=[5, 1], from_end=[1, 2], absolute=True)),
    ("crop", [], dict(from_start=[1, 1], from_end=[1, 2])),
    ("combine", [M, M], {}),
    ("combine", [M, 2 * M], dict(reverse_order=True)),
    ("combine", [M, 2 * M, M - 1], {}),
]
WRONG = [
    ("translation", [M], dict(offset=[10]), "2 dimensions"),
    ("translation", [np.eye(3, dtype=np.float32)], dict(offset=[1, 2]), "n rows"),
    ("translation", [M.astype(np.float64)], dict(offset=[1, 2]), "float32"),
    ("rotation", [M], dict(angle=3.0, axis=[1, 0, 0]), "3"),
    ("rotation", [], dict(angle=3.0, axis=[1, 0]), "axis"),
    ("rotation", [], dict(angle=3.0, center=[1, 2, 3]), "center"),
    ("shear", [], dict(shear=[0.5]), "2 or 6"),
    ("shear", [], dict(shear=[0.5, 1], angles=[1, 2]), "either shear or angles"),
    ("shear", [], {}, "either shear or angles"),
    ("shear", [], dict(angles=[100, 0]), "-90"),
    ("crop", [], dict(from_start=[1, 2], to_end=[1, 2, 3]), "from_start"),
    ("combine", [M, SOLID], {}, "2 and 3"),
]


def run(name, inputs, arguments):
    out = getattr(fn.transforms, name)(
        *[penstock.batch([x]) for x in inputs], **({} if inputs else {"batch_size": 1}), **arguments
    )
    return np.array(out[0].numpy())


@pytest.mark.parametrize("call", CALLS, ids=lambda c: f"{c[0]}-{len(c[1])}-{'-'.join(c[2])}")
def test_equals_dali(oracle, call):
    name, inputs, arguments = call
    (want,) = oracle.call(f"transforms.{name}", [[x] for x in inputs], **arguments)
    got = run(name, inputs, arguments)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-5)


@pytest.mark.parametrize("call", WRONG, ids=lambda c: f"{c[0]}-{'-'.join(c[2])}")
def test_is_refused_as_in_dali(oracle, call):
    name, inputs, arguments, says = call
    with pytest.raises((ValueError, TypeError), match=says):
        run(name, inputs, arguments)
    with pytest.raises(dali_oracle.DaliError):
        oracle.call(f"transforms.{name}", [[x] for x in inputs], **arguments)


def test_an_axis_without_length_is_refused():
    with pytest.raises(ValueError, match="length"):
        run("rotation", [], dict(angle=30.0, axis=[0, 0, 0]))


@pytest.mark.parametrize("angle", range(-360, 450, 90))
def test_multiples_of_90_degrees_are_exact(angle):
    turns = [[[1, 0], [0, 1]], [[0, -1], [1, 0]], [[-1, 0], [0, -1]], [[0, 1], [-1, 0]]]
    np.testing.assert_array_equal(run("rotation", [], dict(angle=float(angle)))[:, :2], turns[angle // 90 % 4])


def test_matrices_of_frames_equal_dalis(oracle):
    offsets, angles = [np.array([[1, 2], [3, 4]], np.float32)], [np.array([10, 20, 30], np.float32)]
    for name, inputs, layouts, arguments in (
        ("translation", [], [], {"offset": offsets}),
        ("rotation", [], [], {"angle": angles}),
        ("translation", [[M]], [None], {"offset": offsets}),
        ("translation", [[np.stack([M, M + 1])]], ["F**"], {"offset": offsets}),
    ):
        (want,) = oracle.call(
            f"transforms.{name}", inputs, inputs_layouts=layouts, **{k: {"per_frame": v} for k, v in arguments.items()}
        )
        out = getattr(fn.transforms, name)(
            *[penstock.batch(x, layout=w or "") for x, w in zip(inputs, layouts)],
            **{k: fn.per_frame(penstock.batch(v)) for k, v in arguments.items()},
        )
        assert out.layout() == "F**" == oracle.layouts[0]
        np.testing.assert_allclose(np.array(out[0].numpy()), want, rtol=1e-6, atol=1e-6)
    (want,) = oracle.call("transforms.combine", [[np.stack([M, 2 * M])], [M]], inputs_layouts=["F**", None])
    got = fn.transforms.combine(penstock.batch([np.stack([M, 2 * M])], layout="F**"), penstock.batch([M]))
    np.testing.assert_allclose(np.array(got[0].numpy()), want, rtol=1e-6)
    with pytest.raises(ValueError, match="frames"):
        fn.transforms.rotation(angle=fn.per_frame(penstock.batch(angles)), center=fn.per_frame(penstock.batch(offsets)))


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_warps_images_and_points_in_a_pipeline(device):
    """As in the user guides of augmentation: one matrix for the picture and its points."""
    images = [np.random.default_rng(k).integers(0, 256, (20, 30, 3), np.uint8) for k in range(3)]
    points = [np.random.default_rng(k).random((5, 2), np.float32) * 20 for k in range(3)]

    @pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=4)
    def pipe():
        x = fn.external_source(lambda: images, layout="HWC")
        p = fn.external_source(lambda: points)
        m = fn.transforms.scale(scale=[2, 2], center=fn.random.uniform(range=[5, 10], shape=2))
        m = fn.transforms.rotation(m, angle=fn.random.uniform(range=[-30, 30]), center=[15, 10])
        m = fn.transforms.translation(m, offset=[1.5, -2])
        warped = fn.warp_affine(x.gpu() if device == "gpu" else x, matrix=m, inverse_map=False, fill_value=0)
        return warped, fn.coord_transform(p, MT=m), m, fn.warp_affine(x, m, inverse_map=False, fill_value=0)

    warped, moved, matrices, second = [[np.array(t.numpy()) for t in b.cpu()] for b in pipe().run()]
    for k in range(3):
        m = matrices[k].astype(np.float64)
        np.testing.assert_allclose(moved[k], points[k] @ m[:, :2].T + m[:, 2], rtol=1e-5, atol=1e-4)
        want = np.array(
            fn.warp_affine(
                penstock.batch([images[k]], layout="HWC"), matrix=m.ravel().tolist(), inverse_map=False, fill_value=0
            )[0].numpy()
        )
        np.testing.assert_array_equal(warped[k], want)
        np.testing.assert_array_equal(second[k], want)
