# SPDX-License-Identifier: Apache-2.0
"""Frames of luma and chroma as the source of a stage: the bytes of conversion and the rest one after the other."""

import os

import numpy as np
import pytest
from frame_chains import CHAINS, FRAMES, TARGETS, frames_of, is_source, one_by_one, outputs, program

import penstock
from penstock import fn

CASES = int(os.environ.get("PENSTOCK_TEST_COUNT", "3"))  # of each chain


def assert_equal(got, want):
    assert len(got) == len(want)
    for i, (a, b) in enumerate(zip(got, want)):
        np.testing.assert_array_equal(a, b, err_msg=f"sample {i}")


def cases():
    random = np.random.default_rng(5)
    for chain in CHAINS:
        for k in range(CASES):
            yield chain, str(random.choice(FRAMES)), str(random.choice(TARGETS)), k


@pytest.mark.parametrize("chain, frame, target, seed", list(cases()))
def test_a_stage_gives_the_bytes_of_calls(chain, frame, target, seed):
    data = frames_of(frame, seed)
    pipe = program(data, frame, target, chain)
    assert is_source(pipe), pipe.plan()
    assert_equal(outputs(pipe), one_by_one(data, frame, target, chain))


@pytest.mark.parametrize("frame", FRAMES)
def test_every_format_is_a_source(frame):
    data = frames_of(frame, 7)
    arguments = {"color_spec": "BT.709", "range": "full"}
    got = outputs(program(data, frame, "RGB", "small", **arguments))
    assert_equal(got, one_by_one(data, frame, "RGB", "small", **arguments))


@pytest.mark.parametrize("chain", ["small", "antialiased", "window", "bytes", "blurred", "warped"])
def test_sequences_of_frames(chain):
    data = frames_of("NV12", 8, sizes=[(34, 18), (70, 130)], sequence=3)
    got = outputs(program(data, "NV12", "RGB", chain, layout="FHWC"))
    assert_equal(got, one_by_one(data, "NV12", "RGB", chain, layout="FHWC"))


def test_frames_without_a_channel_and_rows_with_a_pitch():
    wide = [x.repeat(2, axis=1)[:, :18] for x in frames_of("I420", 9, sizes=[(34, 18)] * 2)]
    wide = [x[..., 0] for x in wide]
    assert not wide[0].flags["C_CONTIGUOUS"]
    got = outputs(program(wide, "I420", "BGR", "small", layout="HW"))
    assert_equal(got, one_by_one([np.ascontiguousarray(x) for x in wide], "I420", "BGR", "small", layout="HW"))


@pytest.mark.parametrize("chain", ["pixels", "large", "warped"])
def test_nothing_is_read_of_an_empty_frame(chain):
    data = [np.zeros((0, 4, 1), np.uint8)]
    try:
        want = one_by_one(data, "NV12", "RGB", chain)
    except ValueError:
        with pytest.raises(ValueError):
            outputs(program(data, "NV12", "RGB", chain))
    else:
        assert_equal(outputs(program(data, "NV12", "RGB", chain)), want)


@pytest.mark.parametrize("shape, words", [((7, 4, 1), "rows"), ((6, 3, 1), "even"), ((6, 4, 2), "1 channel, got 2")])
def test_a_message_names_the_conversion(shape, words):
    pipe = program([np.zeros(shape, np.uint8)], "NV12", "RGB", "small")
    with pytest.raises(ValueError, match=words) as refused:
        outputs(pipe)
    assert "color_space_conversion" in str(refused.value) and "resize" not in str(refused.value)
    assert "@" not in str(refused.value)


def test_arguments_of_each_frame_and_each_sample():
    data = frames_of("NV12", 10, sizes=[(34, 18), (70, 130)], sequence=3)
    angles = [np.float32([0, 10, 40]), np.float32([5, 90, 180])]

    def turned(x, angle):
        return fn.rotate(x, angle=angle, keep_size=True, fill_value=7.0)

    with penstock.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        x = fn.external_source(lambda: data, layout="FHWC")
        angle = fn.per_frame(fn.external_source(lambda: angles))
        rgb = fn.color_space_conversion(x, image_type="NV12", output_type="RGB")
        pipe.set_outputs(turned(rgb, angle))
    (got,) = pipe.run()
    for i, sample in enumerate(data):
        for f, frame in enumerate(sample):
            rgb = fn.color_space_conversion(frame, image_type="NV12", output_type="RGB")
            np.testing.assert_array_equal(np.array(got[i])[f], turned(rgb, float(angles[i][f])))


def test_colors_that_something_else_reads_stay_in_memory():
    data = frames_of("NV12", 11)
    with penstock.Pipeline(batch_size=len(data), num_threads=1, device_id=None) as pipe:
        x = fn.external_source(lambda: data, layout="HWC")
        rgb = fn.color_space_conversion(x, image_type="NV12", output_type="RGB")
        pipe.set_outputs(fn.resize(rgb, size=[8, 8]), rgb)
    small, rgb = pipe.run()
    for i, x in enumerate(data):
        want = fn.color_space_conversion(x, image_type="NV12", output_type="RGB")
        np.testing.assert_array_equal(np.array(rgb[i]), want)
        np.testing.assert_array_equal(np.array(small[i]), fn.resize(want, size=[8, 8]))


def test_two_frames_meet_in_arithmetic():
    data = frames_of("NV12", 12)
    with penstock.Pipeline(batch_size=len(data), num_threads=1, device_id=None) as pipe:
        a = fn.external_source(lambda: data, layout="HWC")
        b = fn.external_source(lambda: data[::1], layout="HWC")
        rgb = [fn.color_space_conversion(x, image_type="NV12", output_type="RGB") for x in (a, b)]
        pipe.set_outputs(fn.brightness(rgb[0], brightness=0.5) + rgb[1] // 2)
    (got,) = pipe.run()
    for i, x in enumerate(data):
        want = fn.color_space_conversion(x, image_type="NV12", output_type="RGB")
        np.testing.assert_array_equal(np.array(got[i]), fn.brightness(want, brightness=0.5) + want // 2)
