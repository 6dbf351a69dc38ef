# SPDX-License-Identifier: Apache-2.0
"""Frames of luma and chroma as the source of a stage's kernel: one kernel, and the CPU's bytes."""

import sys
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

sys.path.append(str(Path(__file__).parents[1]))
from frame_chains import CHAINS, FRAMES, TARGETS, frames_of, is_source, one_by_one, outputs, program  # noqa: E402


APART = ["blurred", "warped", "turned"]  # kernels that read bytes in memory are faster


def assert_same(data, frame, target, chain, **arguments):
    pipe = program(data, frame, target, chain, device="gpu", **arguments)
    assert is_source(pipe) == (chain not in APART), pipe.plan()
    got = outputs(pipe, "gpu")
    for i, (a, b) in enumerate(zip(got, one_by_one(data, frame, target, chain, **arguments))):
        np.testing.assert_array_equal(a, b, err_msg=f"sample {i}")


@pytest.mark.parametrize("chain", CHAINS)
def test_a_kernel_reads_nv12(chain):
    assert_same(frames_of("NV12", 3), "NV12", "RGB", chain)


@pytest.mark.parametrize("number", range(len(FRAMES)))
def test_a_kernel_reads_every_format(number):
    chain = list(CHAINS)[number % len(CHAINS)]
    target = TARGETS[number % len(TARGETS)]
    assert_same(frames_of(FRAMES[number], 4), FRAMES[number], target, chain, color_spec="BT.2020")


@pytest.mark.parametrize("chain", ["small", "antialiased", "window", "warped"])
def test_sequences_of_frames(chain):
    assert_same(frames_of("NV12", 8, sizes=[(34, 18), (70, 130)], sequence=3), "NV12", "BGR", chain, layout="FHWC")


def test_alike_frames():
    assert_same(frames_of("NV12", 5, sizes=[(38, 50)] * 4), "NV12", "RGB", "small")


@pipeline_def(batch_size=4, num_threads=1, device_id=0)
def network_input():
    x = fn.external_source(name="frames", device="gpu", layout="HWC", dtype=types.UINT8)
    x = fn.color_space_conversion(x, image_type="NV12", output_type="RGB")
    return CHAINS["small"](x, 3, "")


def test_nv12_to_a_networks_input_is_one_kernel(order):
    function = network_input().compile()
    data = frames_of("NV12", 6, sizes=[(38, 50)] * 4)
    there = penstock.batch(data, layout="HWC").gpu()
    function(there)
    before = len(order())
    (out,) = function(there)
    assert len([line for line in order()[before:] if "launch" in line]) == 1
    for got, want in zip(out.cpu(), one_by_one(data, "NV12", "RGB", "small")):
        np.testing.assert_array_equal(np.array(got), want)


def test_frames_with_gaps_go_through_memory():
    frame = frames_of("NV12", 7, sizes=[(38, 50)])[0]
    wide = penstock.batch([np.concatenate([frame, frame], axis=1)], layout="HWC").gpu()
    function = network_input().compile()
    (out,) = function(fn.slice(wide, 0, 50, axes=[1]))
    np.testing.assert_array_equal(np.array(out.cpu()[0]), one_by_one([frame], "NV12", "RGB", "small")[0])
