# SPDX-License-Identifier: Apache-2.0
"""Operators that find positions in float32 differ from float64 by no more than the rounding of sums in float32."""

import numpy as np
import pytest
from conftest import EXAMPLES
from operators import pictures

import penstock
from penstock import fn

SHAPES = [(1, 1), (1, 7), (5, 1), (2, 3), (33, 70), (3, 4099), (4099, 3), (257, 300)]


def random_matrix(random):
    matrix = np.eye(3).ravel() + random.uniform(-0.2, 0.2, 9) * [1, 1, 50, 1, 1, 50, 1e-3, 1e-3, 0]
    return {"matrix": [float(v) for v in matrix], "pixel_origin": random.choice(["corner", "center"])}


def random_waves(random):
    names = ("ampl_x", "ampl_y", "freq_x", "freq_y", "phase_x", "phase_y")
    most = (20, 20, random.choice([0.1, 10.0]), 0.5, 100, 1000)
    return {name: float(random.uniform(-v, v)) for name, v in zip(names, most)}


ARGUMENTS = {"warp_perspective": random_matrix, "sphere": lambda random: {}, "water": random_waves}


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_positions_are_as_exact_as_in_float64(name, dtype):
    random = np.random.default_rng(7)
    for i in range(max(EXAMPLES, len(SHAPES))):
        shape = SHAPES[i % len(SHAPES)]
        x = (random.random((*shape, 1 + i % 4)) * 255).astype(dtype)
        arguments = {**ARGUMENTS[name](random), "interp_type": 1}
        if name == "warp_perspective" and i % 2:
            arguments |= {"interp_type": 2, "border_mode": "replicate"}
        got = np.array(getattr(fn, name)(penstock.batch([x], layout="HWC"), **arguments)[0].numpy())
        exact = getattr(pictures, name)(x, **arguments)
        if dtype == "float32":
            # In pixels a position may be wrong by 2^-21 (amplitude 20, of a sine), a sum by some units.
            np.testing.assert_allclose(got, exact, rtol=0, atol=255 * 2.0**-19, err_msg=str((shape, arguments)))
        else:
            off = np.abs(got - np.clip(exact, 0, 255))
            assert off.max() <= 0.5 + 255 * 2.0**-19, (shape, arguments, off.max())


def exact_positions(name, shape, arguments):
    """Where outputs read, in float64: rows and columns of pixels, whose centers are whole numbers."""
    grid = np.zeros((*shape, 1), np.float32)
    seen = []
    kept, pictures.sampled = pictures.sampled, lambda x, ys, xs, *rest: seen.append((ys, xs))
    try:
        getattr(pictures, name)(grid, **arguments)
    finally:
        pictures.sampled = kept
    return np.broadcast_arrays(*seen[0])


@pytest.mark.parametrize("name", ["sphere", "water"])
def test_the_nearest_pixel_is_that_of_float64(name):
    random = np.random.default_rng(8)
    for shape in SHAPES:
        arguments = ARGUMENTS[name](random)
        numbered = np.stack(np.mgrid[: shape[0], : shape[1]], -1).astype(np.float32)
        got = np.array(
            getattr(fn, name)(penstock.batch([numbered], layout="HWC"), fill_value=-9.0, **arguments)[0].numpy()
        )
        outside = np.zeros(shape, bool)
        near_outside = np.zeros(shape, bool)
        for axis, at in enumerate(exact_positions(name, shape, arguments)):
            inside = got[..., axis] >= 0
            assert np.all(np.abs(got[..., axis] - at)[inside] <= 0.5 + 2.0**-15), (shape, arguments)
            outside |= (at < -0.5 - 2.0**-15) | (at > shape[axis] - 0.5 + 2.0**-15)
            near_outside |= (at < -0.5 + 2.0**-15) | (at > shape[axis] - 0.5 - 2.0**-15)
        assert np.all(got[outside] == -9) and np.all(near_outside[got[..., 0] < 0]), (shape, arguments)
