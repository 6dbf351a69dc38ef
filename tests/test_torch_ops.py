# SPDX-License-Identifier: Apache-2.0
"""Operators inside torch.compile: the whole graph, the values of the immediate call, torch's own checks of a custom operator."""

import numpy as np
import penstock
import pytest
import torch
from penstock import _core, fn
from penstock.torch import ops

# The arguments of a call of each operator that requires some; the others work without.
GIVEN = {
    "adjust_gamma": {"gamma": 2.0},
    "adjust_hue": {"hue_factor": 0.1},
    "adjust_saturation": {"saturation_factor": 0.5},
    "cast": {"dtype": torch.float32},
    "crop": {"crop": [5.0, 4.0]},
    "crop_mirror_normalize": {"crop": [5.0, 4.0], "mean": [1.0, 2.0, 3.0], "std": [2.0, 3.0, 4.0]},
    "gaussian_blur": {"sigma": [1.5]},
    "hsv": {"hue": 20.0},
    "letterbox": {"size": [12, 16]},
    "resize": {"size": [5.0, 7.0], "interp_type": "cubic"},
    "rotate": {"angle": 30.0},
    "slice": {"start": [1, 1], "end": [4, 5], "axes": [0, 1]},
    "warp_affine": {"matrix": [1.0, 0.2, 0.0, 0.1, 1.0, 0.0]},
}
NAMES = sorted(set(ops.__all__) - {"g711_decode", "g711_encode", "mu_law_decode", "mu_law_encode"})  # of sounds
IMAGE = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (9, 11, 3), np.uint8))


def direct(name, x, given):
    """The immediate call, as an array."""
    numbers = {k: str(v).removeprefix("torch.") if isinstance(v, torch.dtype) else v for k, v in given.items()}
    return np.asarray(getattr(fn, name)(penstock.tensor(x.numpy(), layout="HWC"), **numbers))


def call_of(name, x):
    """The arguments of a call, or None if the operator requires one that GIVEN does not have."""
    given = GIVEN.get(name, {})
    try:
        direct(name, x, given)
    except (TypeError, ValueError):
        return None
    return given


def test_there_are_those_that_a_program_needs():
    assert {"resize", "crop", "flip", "crop_mirror_normalize", "warp_affine", "gaussian_blur", "color_twist"} <= {
        *NAMES
    }
    assert sum(call_of(name, IMAGE) is not None for name in NAMES) > 20


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_immediate_call(name):
    given = call_of(name, IMAGE)
    if given is None:
        return
    torch._dynamo.reset()  # it counts compilations of one line
    operator = getattr(ops, name)
    want = direct(name, IMAGE, given)
    compiled = torch.compile(lambda x: operator(x, layout="HWC", **given), fullgraph=True, backend="aot_eager")
    for got in (operator(IMAGE, layout="HWC", **given), compiled(IMAGE)):
        assert got.dtype == torch.from_numpy(want).dtype
        np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("name", ["resize", "flip", "warp_affine", "cast", "copy"])
def test_opcheck(name):
    given = {"layout": "HWC", **call_of(name, IMAGE)}
    for x in (IMAGE, IMAGE[::2, 1:], IMAGE.permute(1, 0, 2)):
        torch.library.opcheck(getattr(torch.ops.penstock, name).default, (x,), given)


def test_other_shapes_compile_again():
    compiled = torch.compile(lambda x: ops.flip(x, layout="HWC", horizontal=1) + 1, fullgraph=True, backend="aot_eager")
    for shape in ((4, 5, 3), (1, 7, 3), (6, 2, 1), (3, 3, 3)):
        x = torch.arange(np.prod(shape), dtype=torch.uint8).reshape(shape)
        assert torch.equal(compiled(x), x.flip(1) + 1)


def test_errors_are_those_of_the_operator():
    with pytest.raises(ValueError, match="interp_type must be one of 'nearest'"):
        ops.resize(IMAGE, size=[3.0, 3.0], interp_type="smooth", layout="HWC")
    assert _core.operator_schema("resize")["family"] == "stage"
