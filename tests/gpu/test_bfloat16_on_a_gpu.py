# SPDX-License-Identifier: Apache-2.0
"""bfloat16 on a GPU: stages load and store it, whole operators move it, and every byte is the CPU's."""

import ml_dtypes
import numpy as np
import pytest
import torch

import penstock
from penstock import _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

# What has no form for a GPU would run on the CPU with a warning.
pytestmark = pytest.mark.filterwarnings("error::penstock.DeviceWarning")

RNG = np.random.default_rng(5)
BYTES = [RNG.integers(0, 256, (h, w, 3), np.uint8) for h, w in ((24, 37), (31, 22))]
NARROW = [(x / np.float32(7) - 12).astype(ml_dtypes.bfloat16) for x in BYTES]
# Every value, and what lies beside the middle of two of them.
ALL = (np.arange(65536, dtype=np.uint32)[:, None] << 16 | np.uint32([0, 0x7FFF, 0x8000, 0x8001])).view(np.float32)
FACTORS = np.float32([0.3, 1.7]).astype(ml_dtypes.bfloat16)

CALLS = {
    "crop_mirror_normalize": (
        [BYTES],
        dict(crop=[16, 16], mean=[120.0, 110, 99], std=[50.0, 60, 70], dtype="bfloat16"),
    ),
    "resize": ([NARROW], dict(size=[11, 13], dtype="bfloat16")),
    "brightness": ([NARROW], dict(dtype="uint8")),
    "normalize": ([NARROW], dict(axes=[0, 1], dtype="bfloat16")),
    "reductions.max": ([NARROW], dict(axes=[0])),
    "erase": ([NARROW], dict(shape=[5, 9], fill_value=[1.01, 2.02, 300.3])),
    "transpose": ([NARROW], dict(perm=[2, 0, 1])),
    "cast": ([[ALL]], dict(dtype="bfloat16")),
    "cast_like": ([BYTES, NARROW], {}),
}


def same(name, inputs, arguments):
    call = _core.operator_function(name)
    on_cpu = [penstock.batch(samples, layout="HWC" if samples[0].ndim == 3 else "") for samples in inputs]
    given = {k: v.cpu() if isinstance(v, penstock.Batch) else v for k, v in arguments.items()}
    want = call(*on_cpu, **given)
    got = call(*(b.gpu() for b in on_cpu), **arguments)
    assert got.device_type == "gpu" and got.dtype == want.dtype and got.shape() == want.shape()
    for a, b in zip(got.cpu(), want):
        a, b = a.numpy(), b.numpy()
        if a.dtype == ml_dtypes.bfloat16:  # the payload of a NaN is open
            a, b = a.astype(np.float32), b.astype(np.float32)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_equals_the_cpus(name):
    same(name, *CALLS[name])


@pytest.mark.parametrize("name", ["crop_mirror_normalize", "resize", "brightness", "cast"])
def test_the_generic_kernel_has_the_type(name, monkeypatch):
    monkeypatch.setenv("PENSTOCK_KERNELS", "generic")
    same(name, *CALLS[name])


@pytest.mark.parametrize("name, argument", [("brightness", "brightness"), ("erase", "fill_value")])
def test_an_argument_on_the_gpu_may_be_bfloat16(name, argument):
    values = penstock.batch(FACTORS).gpu()
    arguments = dict(brightness=values) if name == "brightness" else dict(shape=[5, 9], fill_value=values)
    assert argument in arguments
    same(name, [NARROW], arguments)


def test_tensors_of_torch_go_in():
    x = torch.randn(2, 8, 9, 3).to(torch.bfloat16)
    made = fn.flip(penstock.batch(x, layout="HWC").gpu(), horizontal=1)
    assert made.dtype == types.BFLOAT16
    assert torch.equal(torch.from_dlpack(made.cpu().as_tensor()), x.flip(2))
